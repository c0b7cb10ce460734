"""Differences between two contents of a file, as several commands print them."""

import difflib
from collections.abc import Iterable
from itertools import pairwise

from memtui.cli.output import Output, safe
from memtui.present import word_diff
from memtui.present.word_diff import Spans

STYLES = {"+": "green", "-": "red", "@": "dim"}


def lines(before: bytes, after: bytes) -> list[str]:
    """Return a unified diff without its head, with one line of context."""
    old, new = [data.decode("utf-8", "replace").splitlines() for data in (before, after)]
    return list(difflib.unified_diff(old, new, n=1, lineterm=""))[2:]


def show(out: Output, before: bytes, after: bytes) -> None:
    """Print what differs."""
    show_lines(out, lines(before, after), "  ")


def show_lines(out: Output, diff: Iterable[str], indent: str = "") -> None:
    """Print the lines of a diff in colour, with the words underlined by which a line differs from the one before it."""
    found = list(diff)
    marked: dict[int, Spans] = {}
    for at, (old, new) in enumerate(pairwise(found) if out.colour else ()):
        if old[:1] == "-" and new[:1] == "+":
            marked[at], marked[at + 1] = word_diff.differing(safe(old[1:]), safe(new[1:]))
    for at, each in enumerate(found):
        out.exact(indent + _styled(out, safe(each), marked.get(at, [])))


def _styled(out: Output, line: str, marked: Spans) -> str:
    style = STYLES.get(line[:1], "")
    pieces, at = [], 0
    for start, end in marked:  # counted without the sign
        pieces += [out.style(line[at : start + 1], style), out.style(line[start + 1 : end + 1], f"{style} marked")]
        at = end + 1
    return "".join([*pieces, out.style(line[at:], style)])
