"""A screen as text that a person can review: its characters, then its styles by runs of cells.

A letter among the styles stands for what a cell looks like in every look at once; the letters are explained at the end.
Each follows from what it stands for, so that a new style leaves the others theirs.
"""

import string
import zlib
from itertools import groupby
from typing import NamedTuple

from rich.cells import cell_len

from .stage import strips

LETTERS = string.ascii_letters
ATTRIBUTES = ("bold", "dim", "italic", "underline", "reverse", "strike")
SEEN_ON_BLANKS = {"underline", "reverse", "strike"}


class Drawn(NamedTuple):
    """`lines` of characters, and for each line (ink, ground) of every cell; ink is empty where it can't be seen."""

    lines: list[str]
    cells: list[list[tuple[str, str]]]


def drawn(app):
    """What the screen shows."""
    shown = strips(app)
    return Drawn([strip.text.rstrip() for strip in shown], [list(_cells(strip)) for strip in shown])


def _cells(strip):
    for segment in strip:
        style = segment.style
        on = [name for name in ATTRIBUTES if style and getattr(style, name)]
        ink, ground = " ".join([*on, _colour(style and style.color)]), _colour(style and style.bgcolor)
        for char in segment.text:
            seen = not char.isspace() or SEEN_ON_BLANKS & set(on)
            yield from [(ink if seen else "", ground)] * cell_len(char)


def _colour(colour):
    if not colour or colour.is_default:
        return "default"
    return colour.triplet.hex if colour.triplet else colour.name


def written(name, looks):
    """The text of a snapshot. `looks` is name to `Drawn`; if another than the first has other characters, it says so."""
    first, *others = looks
    made = [name, "", *looks[first].lines]
    for look in others:
        pairs = enumerate(zip(looks[first].lines, looks[look].lines, strict=True), 1)
        differ = [f"{at:<6} {line}" for at, (before, line) in pairs if line != before]
        made += ["", f"-- {look}, where it differs --", *differ] if differ else []
    rows = [_runs(list(zip(*line, strict=True))) for line in zip(*(each.cells for each in looks.values()), strict=True)]
    known = _letters({style for row in rows for style, _ in row})
    made += ["", "-- styles --"]
    at = 1
    for row, same in groupby(rows):
        last = at + len(list(same)) - 1
        words = [f"{known[style]}{count}" for style, count in row[:-1]] + [known[row[-1][0]]]
        made.append(f"{at if at == last else f'{at}-{last}':<6} {' '.join(words)}")
        at = last + 1
    made += ["", "-- letters --"]
    for style, letter in sorted(known.items(), key=lambda pair: LETTERS.index(pair[1])):
        inks = [f"{look} {ink} on {ground}" for look, (ink, ground) in zip(looks, style, strict=True)]
        made.append(f"{letter}  {' | '.join(' '.join(each.split()) for each in inks)}")
    return "\n".join(made) + "\n"


def _runs(cells):
    """(style, cells) from the left to the right; a blank goes with what stands before it on the same ground, or after."""
    runs = []
    for style in cells:
        if runs:
            last, count = runs[-1]
            same_ground = [ground for _, ground in last] == [ground for _, ground in style]
            blank, was_blank = not any(ink for ink, _ in style), not any(ink for ink, _ in last)
            if style == last or (same_ground and (blank or was_blank)):
                runs[-1] = (last if blank else style, count + 1)
                continue
        runs.append((style, 1))
    return runs


def _letters(styles):
    known = {}
    for style in sorted(styles):
        at = zlib.crc32(repr(style).encode())
        while (letter := LETTERS[at % len(LETTERS)]) in known.values():
            at += 1
        known[style] = letter
    return known
