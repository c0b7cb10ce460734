"""Merge two changes of one text, line by line."""

from typing import NamedTuple


class Hunk(NamedTuple):
    """Lines `start` to `end` of the base that `lines` replace."""

    start: int
    end: int
    lines: tuple[str, ...]


def merged(base: str, older: str, newer: str) -> str | None:
    """Return the text with the changes from `base` to `older` and from `base` to `newer`; None if they overlap: if both
    change the same lines. A change that both made counts once. Where both add lines at the same place, those of `older`
    come first."""
    lines = _lines(base)
    hunks = sorted(dict.fromkeys([*_hunks(lines, older), *_hunks(lines, newer)]), key=lambda each: each[:2])
    found: list[str] = []
    at = 0
    for hunk in hunks:
        if hunk.start < at:
            return None
        found += [*lines[at : hunk.start], *hunk.lines]
        at = hunk.end
    return "\n".join([*found, *lines[at:]])


def _lines(text: str) -> list[str]:
    return text.split("\n") if text else []


def _hunks(base: list[str], text: str) -> list[Hunk]:
    from difflib import SequenceMatcher

    after = _lines(text)
    steps = SequenceMatcher(None, base, after, autojunk=False).get_opcodes()
    return [Hunk(start, end, tuple(after[begin:until])) for tag, start, end, begin, until in steps if tag != "equal"]
