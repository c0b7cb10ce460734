"""Something that `memtui doctor` found, and how to mend it."""

import dataclasses

OK, NOTE, PROBLEM = "ok", "note", "problem"
NAMES_SHOWN = 5


@dataclasses.dataclass(frozen=True)
class Finding:
    """`area` is what was looked at, `level` is ok, note or problem, `remedy` what to do; empty where nothing is.
    `about`: `memory:` and a path, `note:` and an id, or `index:` and a scope, where it is about one."""

    area: str
    level: str
    message: str
    remedy: str = ""
    about: str = ""


def some(names: list[str]) -> str:
    """The first of some names, and how many more there are."""
    more = len(names) - NAMES_SHOWN
    return ", ".join(names[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")
