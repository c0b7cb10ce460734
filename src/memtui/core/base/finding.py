"""What a check found, as a code and its facts. Which codes there are and how they read: core/health/findings.py."""

from collections.abc import Mapping
from typing import NamedTuple

OK, NOTE, PROBLEM = "ok", "note", "problem"


class Finding(NamedTuple):
    """`code` is AREA.WHAT, `level` is ok, note or problem. `subject`: `memory:` and a path, `note:` and an id, or
    `index:` and a scope, where it is about one; else empty. `data`: the facts that its sentence names."""

    code: str
    level: str
    subject: str
    data: Mapping[str, object]

    @property
    def area(self) -> str:
        """What was looked at."""
        return self.code.partition(".")[0]


def problem(code: str, subject: str = "", **data: object) -> Finding:
    """A finding that is to be fixed."""
    return Finding(code, PROBLEM, subject, data)


def note(code: str, subject: str = "", **data: object) -> Finding:
    """A finding that a person should know of."""
    return Finding(code, NOTE, subject, data)


def good(code: str, subject: str = "", **data: object) -> Finding:
    """A finding that is as it should be."""
    return Finding(code, OK, subject, data)
