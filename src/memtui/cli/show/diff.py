"""Differences between two contents of a file, as several commands print them."""

import difflib
import re
from collections.abc import Iterable

from memtui.cli.output import Output, safe, slices

STYLES = {"+": "green", "-": "red", "@": "dim"}
# The beginning of a line that what follows is indented by: the sign, blanks, the mark of a list.
HANG = re.compile(r".? *(?:(?:[-*+]|\d{1,4}[.)]) +)?")


def lines(before: bytes, after: bytes) -> list[str]:
    """Return a unified diff without its head, with one line of context."""
    old, new = [data.decode("utf-8", "replace").splitlines() for data in (before, after)]
    return list(difflib.unified_diff(old, new, n=1, lineterm=""))[2:]


def show(out: Output, before: bytes, after: bytes) -> None:
    """Print the difference of two contents."""
    show_lines(out, lines(before, after), "  ")


def show_lines(out: Output, diff: Iterable[str], indent: str = "") -> None:
    """Print the lines of a diff in colour, on a terminal wrapped below the text of their line."""
    for line in map(safe, diff):
        pieces, hang = [(0, len(line))], 0
        if out.columns is not None:
            room = out.columns - len(indent)
            begin = HANG.match(line)
            hang = min(begin.end() if begin else 0, room // 3)
            pieces = slices(line, room, hang)
        for start, end in pieces:
            piece = line[start:end] if len(pieces) == 1 else line[start:end].rstrip(" ")
            out.exact(indent + " " * (hang if start else 0) + out.style(piece, STYLES.get(line[:1], "")))
