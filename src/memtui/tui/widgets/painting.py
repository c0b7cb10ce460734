"""Paint the lines of a list, each with as few segments as it has styles."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from memtui.base.phrasing_hot import gap
from memtui.views import glyphs

UNDIMMED, REVERSED = Style(dim=False), Style(reverse=True)
GROWN_PART = 4  # the part of a list that a column which grows has at most
SPANNED = Text()  # in the place of a cell: the one before takes its room


@dataclass(frozen=True)
class Column:
    """A column of a list; widths are in cells."""

    title: str
    width: int = 0  # 0: all that is left
    right: bool = False
    from_width: int = 0  # of the list, below which it is hidden
    until_width: int = 0  # from which it is hidden; 0: none
    longest: int = 0  # it is as wide as this, up to a quarter of the list

    def cells(self, width: int) -> int:
        return max(self.width, min(self.longest, width // GROWN_PART))


VisibleColumns = list[tuple[int, Column, int]]


class Ink:
    """The styles of texts on a base style, mixed once, as that costs more than the rest; `over` on top."""

    def __init__(self, console: Console, base: Style, over: Style | None = None) -> None:
        self.console, self.base, self.over = console, base, over or Style()
        self._mixed: dict[tuple[str | Style, ...], Style] = {}

    def mix(self, *styles: str | Style) -> Style:
        if (mixed := self._mixed.get(styles)) is None:
            parts = (self.console.get_style(style, default="") for style in styles)
            mixed = self._mixed[styles] = sum((*parts, self.over), self.base)
        return mixed

    def segments(self, text: Text) -> Iterator[Segment]:
        plain, spans = text.plain, text.spans
        cuts = sorted({0, len(plain), *(at for span in spans for at in span[:2] if at < len(plain))})
        for start, end in pairwise(cuts):
            on_part = (span.style for span in spans if span.start <= start < span.end)
            yield Segment(plain[start:end], self.mix(text.style, *on_part))


@dataclass
class Paint:
    """The styles and columns for all lines of one paint: asking Textual for them again costs more than a line."""

    shown: VisibleColumns
    ink: Ink
    cursor: Ink  # of the line with the cursor
    mark: Style


def visible_columns(columns: Sequence[Column], width: int) -> VisibleColumns:
    """Return (number, column, width in cells) of the columns that a list of this width shows."""
    shown = [
        (at, column)
        for at, column in enumerate(columns)
        if column.from_width <= width < (column.until_width or width + 1)
    ]
    fixed = sum([column.cells(width) + 1 for _, column in shown if column.width])
    flexible = max(1, len([column for _, column in shown if not column.width]))
    rest = max(4, (width - fixed) // flexible - 1)
    return [(at, column, column.cells(width) or rest) for at, column in shown]


def header_line(columns: VisibleColumns, style: Style, width: int) -> Strip:
    words = [" "]
    for _, column, room in columns:
        title = column.title[:room]
        words.append((title.rjust(room) if column.right else title.ljust(room)) + " ")
    return Strip([Segment("".join(words), style)]).adjust_cell_length(width, style).crop(0, width)


def row_line(cells: Sequence[Text], paint: Paint, width: int, *, here: bool, marked: bool) -> Strip:
    ink = paint.cursor if here else paint.ink
    mark_style = ink.mix(paint.mark) if marked else ink.base
    segments = [Segment(glyphs.MARKED if marked else glyphs.CURSOR if here else " ", mark_style)]
    length = 1
    for text, column, room in _placed(cells, paint.shown):
        for part in _cell(text, room, column, ink):
            last = segments[-1]
            if part.style == last.style:  # a long segment costs us and the terminal as much as a short one
                segments[-1] = Segment(last.text + part.text, last.style)
            else:
                segments.append(part)
        length += room + 1
    if length > width:
        return Strip(segments, length).crop(0, width)
    return Strip([*segments, Segment(" " * (width - length), ink.base)], width)


def _placed(cells: Sequence[Text], shown: VisibleColumns) -> list[tuple[Text, Column, int]]:
    """Return (cell, column, width) of those shown; a long `no_wrap` cell takes room from the one before."""
    placed: list[tuple[Text, Column]] = []
    rooms: list[int] = []
    for number, column, width in shown:
        text = cells[number]
        if text is SPANNED:
            rooms[-1] += 1 + width
            continue
        more = min(rooms[-1] // 2, max(0, text.cell_len - width)) if text.no_wrap and rooms else 0
        rooms[-1:] = [room - more for room in rooms[-1:]]
        rooms.append(width + more)
        placed.append((text, column))
    return [(*cell, room) for cell, room in zip(placed, rooms, strict=True)]


def unframed(view: ScrollView, crop: Region) -> list[Strip]:
    """Paint a region of a widget without border and padding, by `render_line`: Textual's way takes long."""
    strips, background = [view.render_line(y) for y in crop.line_range], view.background_colors[1]
    for line_filter in view.get_line_filters():
        strips = [strip.apply_filter(line_filter, background) for strip in strips]
    return [strip.crop(crop.x, crop.right) for strip in strips]


def _cell(text: Text, room: int, column: Column, ink: Ink) -> list[Segment]:
    """Return a cell and the blank after it. Blanks have the style of the letters beside them, but no underline."""
    text = _cut(text, room) if cell_len(text.plain) > room else text
    plain, length = text.plain, cell_len(text.plain)
    before = " " * (room - length) if column.right else ""
    after = " " if column.right else " " * (room - length + 1)
    style = ink.mix(text.style)
    if not plain:
        return [Segment(before + after, ink.base)]
    if not text.spans and not style.underline:
        return [Segment(before + plain + after, style)]
    return [Segment(before, ink.base), *ink.segments(text), Segment(after, ink.base if style.underline else style)]


def _cut(text: Text, room: int) -> Text:
    """Return the beginning of a text that is too long for its cells, with `…`: whole words, or part of one."""
    plain, short = text.plain, text.copy()
    fits = len(set_cell_size(plain, room - 1).rstrip())
    short.right_crop(len(plain) - len(plain[: gap(plain, fits)].rstrip()))
    return short.append("…")


def resize(view: ScrollView, height: int) -> None:
    """Give a widget `height` lines; lay out the screen only where the scroll bar appears or disappears."""
    size = Size(view.size.width, height)
    bar = view.show_vertical_scrollbar
    if size.width != view.virtual_size.width or bar != (height > view.size.height):
        view.virtual_size = size
        return
    view.set_reactive(ScrollView.virtual_size, size)
    if bar:
        view.vertical_scrollbar.window_virtual_size = height
    if view.scroll_y > view.max_scroll_y:
        view.scroll_to(y=view.max_scroll_y, animate=False, force=True)
