"""Where lines are broken: between words, in paths after slashes, hanging right of labels and of the marks of lists."""

import re

from rich.cells import cell_len, chop_cells
from rich.text import Text

# What a line begins with that its continuation stands right of: blanks, and the mark of a list or a label.
HANG = re.compile(r" *(?:(?:[•▏·○☐☑*+-]|\d{1,4}[.)]) +|[a-z]{1,10} {2,})?")
# A label has a style of its own, and blanks after it; no longer one than this.
LABEL = 14
# A line with fewer cells than this left hangs nowhere.
LEAST = 12
WORD, PART = re.compile(r"\S+\s*|\s+"), re.compile(r"[^/]*/|[^/]+")


def wrapped(text: Text, width: int) -> tuple[list[Text], list[int]]:
    """The lines that a text makes in so many cells, at least one, and with which of its characters each begins."""
    width = max(1, width)
    made: list[Text] = []
    starts: list[int] = []
    at = 0
    for line in text.split("\n", allow_blank=True):
        length = len(line.plain)
        if cell_len(line.plain) <= width:
            made.append(line)
            starts.append(at)
        else:
            cells = _hang(line)
            if width - cells < LEAST:
                cells = 0
            broken = breaks(line.plain[cells:], width - cells)
            for number, part in enumerate((line[cells:] if cells else line).divide(broken)):
                part.rstrip()
                made.append(Text.assemble(" " * cells if number else line[:cells], part) if cells else part)
                starts.append(at + (cells + broken[number - 1] if number else 0))
        at += length + 1
    return made, starts


def _hang(line: Text) -> int:
    """How many characters of a line its continuation stands right of."""
    found = HANG.match(line.plain)
    label = max((span.end for span in line.spans if span.start == 0 and span.end <= LABEL), default=0)
    return max(found.end() if found else 0, label if line.plain[label - 1 : label] == " " else 0)


def breaks(plain: str, width: int) -> list[int]:
    """Where a line is broken: between words, in a word that is too long after slashes, else anywhere."""
    pieces: list[str] = []
    for word in WORD.findall(plain):
        parts = PART.findall(word) if cell_len(word.rstrip()) > width else [word]
        for part in parts:
            pieces += [part] if cell_len(part.rstrip()) <= width else chop_cells(part, width)
    found = []
    at = used = 0
    for piece in pieces:
        if used and used + cell_len(piece.rstrip()) > width:
            found.append(at)
            used = 0
        used += cell_len(piece)
        at += len(piece)
    return found
