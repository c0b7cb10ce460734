"""How a line of a list is painted: a row in as few runs of a style as it has."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

UNDIMMED = Style(dim=False)


@dataclass(frozen=True)
class Column:
    """A column: `width` in cells, 0 for what is left; hidden where there is less than `from_width`."""

    title: str
    width: int = 0
    right: bool = False
    from_width: int = 0


Shown = list[tuple[int, Column, int]]


@dataclass
class Paint:
    """What all lines of one painting share; asking Textual for it anew costs more than a line."""

    shown: Shown
    base: Style
    cursor: Style
    mark: Style
    flat: bool  # on a terminal's own blue nothing but the cursor's colour can be read
    console: Console


def fitting(columns: Sequence[Column], width: int) -> Shown:
    """(number, column, width) of the columns there is room for."""
    shown = [(at, column) for at, column in enumerate(columns) if width >= column.from_width]
    fixed = sum(column.width + 1 for _, column in shown if column.width)
    flexible = max(1, sum(not column.width for _, column in shown))
    rest = max(4, (width - fixed) // flexible - 1)
    return [(at, column, column.width or rest) for at, column in shown]


def head(shown: Shown, style: Style, width: int) -> Strip:
    """The line of titles."""
    words = [" "]
    for _, column, room in shown:
        title = column.title[:room]
        words.append((title.rjust(room) if column.right else title.ljust(room)) + " ")
    return Strip([Segment("".join(words), style)]).adjust_cell_length(width, style).crop(0, width)


def line(cells: Sequence[Text], paint: Paint, width: int, *, here: bool, marked: bool) -> Strip:
    """The line of a row; `here`: the cursor stands on it."""
    base = paint.base + paint.cursor if here else paint.base
    over = paint.cursor + UNDIMMED if paint.flat and here else Style()
    mark_style = base + paint.mark + over if marked else base
    segments = [Segment("●" if marked else "›" if here else " ", mark_style)]
    length = 1
    for number, column, room in paint.shown:
        for part in _cell(cells[number], room, column, base, over, paint.console):
            last = segments[-1]
            if part.style == last.style:  # one run of a style costs the terminal, and us, as much as one letter
                segments[-1] = Segment(last.text + part.text, last.style)
            else:
                segments.append(part)
        length += room + 1
    if length > width:
        return Strip(segments, length).crop(0, width)
    return Strip([*segments, Segment(" " * (width - length), base)], width)


def _cell(text: Text, room: int, column: Column, base: Style, over: Style, console: Console) -> list[Segment]:
    """A cell and the blank after it. Blanks have the style of the letters beside them, unless it could be seen."""
    plain = text.plain
    length = cell_len(plain)
    if length > room:
        text = text.copy()
        text.truncate(room, overflow="ellipsis")
        plain = text.plain
        length = cell_len(plain)
    before = " " * (room - length) if column.right else ""
    after = " " if column.right else " " * (room - length + 1)
    own = base + console.get_style(text.style) + over
    if not plain:
        return [Segment(before + after, base)]
    if not text.spans and not own.underline:
        return [Segment(before + plain + after, own)]
    parts = [Segment(part.text, own + (part.style or Style()) + over) for part in text.render(console)]
    return [Segment(before, base), *parts, Segment(after, own if not own.underline else base)]
