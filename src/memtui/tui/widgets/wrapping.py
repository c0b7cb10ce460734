"""Wrap text: between words, in paths after slashes, with continuation lines indented below list items and labels."""

import re

from rich.cells import cell_len, chop_cells
from rich.text import Text

# The beginning of a line that its continuation is indented by: blanks, then a list mark or a label.
INDENT = re.compile(r" *(?:(?:[•▏·○☐☑*+-]|\d{1,4}[.)]) +|[a-z]{1,10} {2,})?")
# A label has a style of its own and blanks after it. The most characters of one.
LONGEST_LABEL = 20
# Nothing is indented where fewer cells than this would be left.
LEAST_CELLS = 12
# An arrow stays with what it points to.
WORD, PART = re.compile(r"(?:[→←] )?\S+\s*|\s+"), re.compile(r"[^/]*/|[^/]+")


def wrapped(text: Text, width: int) -> tuple[list[Text], list[int]]:
    """Return the lines of a text wrapped to `width` cells, at least one, and where in the text each begins."""
    width = max(1, width)
    lines: list[Text] = []
    starts: list[int] = []
    at = 0
    for line in text.split("\n", allow_blank=True):
        length = len(line.plain)
        if cell_len(line.plain) <= width:
            lines.append(line)
            starts.append(at)
        else:
            cells = _indent(line)
            if width - cells < LEAST_CELLS:
                cells = 0
            broken = breaks(line.plain[cells:], width - cells)
            for number, part in enumerate((line[cells:] if cells else line).divide(broken)):
                part.rstrip()
                lines.append(Text.assemble(" " * cells if number else line[:cells], part) if cells else part)
                starts.append(at + (cells + broken[number - 1] if number else 0))
        at += length + 1
    return lines, starts


def _indent(line: Text) -> int:
    """Return how many characters the continuation of a line is indented by."""
    match = INDENT.match(line.plain)
    label = max((span.end for span in line.spans if span.start == 0 and span.end <= LONGEST_LABEL), default=0)
    return max(match.end() if match else 0, label if line.plain[label - 1 : label] == " " else 0)


def breaks(plain: str, width: int) -> list[int]:
    """Return the positions to break a line at: between words; a word that is too long after slashes, else anywhere."""
    pieces: list[str] = []
    for word in WORD.findall(plain):
        parts = PART.findall(word) if cell_len(word.rstrip()) > width else [word]
        for part in parts:
            pieces += [part] if cell_len(part.rstrip()) <= width else chop_cells(part, width)
    places = []
    at = used = 0
    for piece in pieces:
        if used and used + cell_len(piece.rstrip()) > width:
            places.append(at)
            used = 0
        used += cell_len(piece)
        at += len(piece)
    return places
