"""Differences between two contents of a file, as several commands print them."""

import difflib
import re
from collections.abc import Iterable
from itertools import pairwise

from memtui.cli.output import Output, safe, slices
from memtui.present import word_diff
from memtui.present.word_diff import Spans

STYLES = {"+": "green", "-": "red", "@": "dim"}
# The beginning of a line that what follows is indented by: the sign, blanks, the mark of a list.
HANG = re.compile(r".? *(?:(?:[-*+]|\d{1,4}[.)]) +)?")


def lines(before: bytes, after: bytes) -> list[str]:
    """Return a unified diff without its head, with one line of context."""
    old, new = [data.decode("utf-8", "replace").splitlines() for data in (before, after)]
    return list(difflib.unified_diff(old, new, n=1, lineterm=""))[2:]


def show(out: Output, before: bytes, after: bytes) -> None:
    show_lines(out, lines(before, after), "  ")


def show_lines(out: Output, diff: Iterable[str], indent: str = "") -> None:
    """Print the lines of a diff in colour, wrapped on a terminal; the words by which a line differs from the one before
    it are underlined."""
    found = list(diff)
    marked: dict[int, Spans] = {}
    for at, (old, new) in enumerate(pairwise(found) if out.colour else ()):
        if old[:1] == "-" and new[:1] == "+":
            marked[at], marked[at + 1] = word_diff.differing(safe(old[1:]), safe(new[1:]))
    for at, each in enumerate(found):
        _show_line(out, safe(each), marked.get(at, []), indent)


def _show_line(out: Output, line: str, marked: Spans, indent: str) -> None:
    """Print a line of a diff, on a terminal wrapped between words: what follows stands below the line's text."""
    pieces, hang = [(0, len(line))], 0
    if out.columns is not None:
        room = out.columns - len(indent)
        found = HANG.match(line)
        hang = min(found.end() if found else 0, room // 3)
        pieces = slices(line, room, hang)
    style = STYLES.get(line[:1], "")
    for start, end in pieces:
        shown = _styled(out, line, marked, style, (start, end if len(pieces) == 1 else len(line[:end].rstrip(" "))))
        out.exact(indent + " " * (hang if start else 0) + shown)


def _styled(out: Output, line: str, marked: Spans, style: str, piece: tuple[int, int]) -> str:
    """Return a piece of a line in its style. `marked`: the words that differ, counted without the sign."""
    at, last = piece
    pieces = []
    for begin, stop in marked:
        start, end = max(at, begin + 1), min(last, stop + 1)
        if start < end:
            pieces += [out.style(line[at:start], style), out.style(line[start:end], f"{style} marked")]
            at = end
    return "".join([*pieces, out.style(line[at:last], style)])
