"""The difference between two contents of a file."""

import difflib

from memtui.cli.output import Output, safe


def lines(before: bytes, after: bytes) -> list[str]:
    """The lines that differ, `-` and `+` before them, and a line around them."""
    was, now = [data.decode("utf-8", "replace").splitlines() for data in (before, after)]
    return list(difflib.unified_diff(was, now, n=1, lineterm=""))[2:]


def show(out: Output, before: bytes, after: bytes) -> None:
    """Print what differs."""
    for piece in lines(before, after):
        style = {"+": "green", "-": "red", "@": "dim"}.get(piece[0], "")
        out.print("  " + out.style(safe(piece), style))
