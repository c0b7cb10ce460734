"""Differences between two contents of a file, as several commands print them."""

import difflib
from collections.abc import Iterable

from memtui.cli.output import Output, safe

STYLES = {"+": "green", "-": "red", "@": "dim"}


def lines(before: bytes, after: bytes) -> list[str]:
    """Return a unified diff without its head, with one line of context."""
    old, new = [data.decode("utf-8", "replace").splitlines() for data in (before, after)]
    return list(difflib.unified_diff(old, new, n=1, lineterm=""))[2:]


def show(out: Output, before: bytes, after: bytes) -> None:
    """Print what differs."""
    show_lines(out, lines(before, after), "  ")


def show_lines(out: Output, diff: Iterable[str], indent: str = "") -> None:
    """Print the lines of a diff in colour."""
    for each in diff:
        out.exact(indent + out.style(safe(each), STYLES.get(each[:1], "")))
