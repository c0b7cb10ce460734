"""Findings: what a check found, as a code and facts. base/findings.txt lists the codes and their sentences."""

from collections.abc import Mapping
from typing import NamedTuple

OK, NOTE, PROBLEM = "ok", "note", "problem"


class Finding(NamedTuple):
    """One result of a check. `code` is AREA.WHAT; `level` is ok, note or problem. `subject`: `memory:` and a path,
    `note:` and an id, `index:` and a scope, or empty. `data`: the facts that the finding's sentence names."""

    code: str
    level: str
    subject: str
    data: Mapping[str, object]

    @property
    def area(self) -> str:
        """The area that was checked: the part of the code before the dot."""
        return self.code.partition(".")[0]


def problem(code: str, subject: str = "", /, **data: object) -> Finding:
    """Make a finding that should be fixed."""
    return Finding(code, PROBLEM, subject, data)


def note(code: str, subject: str = "", /, **data: object) -> Finding:
    """Make a finding that a person should know of, with nothing to fix."""
    return Finding(code, NOTE, subject, data)


def good(code: str, subject: str = "", /, **data: object) -> Finding:
    """Make a finding that says that all is well."""
    return Finding(code, OK, subject, data)
