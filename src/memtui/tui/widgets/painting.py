"""Paint the lines of a list, each with as few segments as it has styles."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from memtui.core.base.phrasing import gap
from memtui.present import legend

UNDIMMED = Style(dim=False)
# Cells of a list that are not shared out among columns that grow.
ROOMY = 48
# In the place of a cell: the one before takes its room.
SPANNED = Text()


@dataclass(frozen=True)
class Column:
    """A column: `width` in cells (0: all that is left), hidden in a list narrower than `from_width` cells, and in one
    of `until_width` cells (0: none) or more; as wide as its `longest` cell if that takes at most half of what
    is beyond ROOMY."""

    title: str
    width: int = 0
    right: bool = False
    from_width: int = 0
    until_width: int = 0
    longest: int = 0

    def cells(self, width: int) -> int:
        """Return its width in a list of this width."""
        return self.longest if self.width and self.width < self.longest <= (width - ROOMY) // 2 else self.width


VisibleColumns = list[tuple[int, Column, int]]


@dataclass
class Paint:
    """The styles and columns for all lines of one paint: asking Textual for them again costs more than a line."""

    shown: VisibleColumns
    base: Style
    cursor: Style
    mark: Style
    flat: bool  # on the terminal's own colours only the cursor's colour is readable on its background
    console: Console


def visible_columns(columns: Sequence[Column], width: int) -> VisibleColumns:
    """Return (number, column, width in cells) of the columns that a list of this width shows."""
    shown = [
        (at, column)
        for at, column in enumerate(columns)
        if column.from_width <= width < (column.until_width or width + 1)
    ]
    fixed = sum(column.cells(width) + 1 for _, column in shown if column.width)
    flexible = max(1, sum(not column.width for _, column in shown))
    rest = max(4, (width - fixed) // flexible - 1)
    return [(at, column, column.cells(width) or rest) for at, column in shown]


def header_line(shown: VisibleColumns, style: Style, width: int) -> Strip:
    words = [" "]
    for _, column, room in shown:
        title = column.title[:room]
        words.append((title.rjust(room) if column.right else title.ljust(room)) + " ")
    return Strip([Segment("".join(words), style)]).adjust_cell_length(width, style).crop(0, width)


def row_line(cells: Sequence[Text], paint: Paint, width: int, *, here: bool, marked: bool) -> Strip:
    base = paint.base + paint.cursor if here else paint.base
    over = paint.cursor + UNDIMMED if paint.flat and here else Style()
    mark_style = base + paint.mark + over if marked else base
    segments = [Segment(legend.MARKED if marked else legend.CURSOR if here else " ", mark_style)]
    length = 1
    for at, (number, column, room) in enumerate(paint.shown):
        if cells[number] is SPANNED:
            continue
        spanned = takewhile(lambda shown: cells[shown[0]] is SPANNED, paint.shown[at + 1 :])
        cells_wide = room + sum(1 + more for _, _, more in spanned)
        for part in _cell(cells[number], cells_wide, column, base, over, paint.console):
            last = segments[-1]
            if part.style == last.style:  # a long segment costs us and the terminal as much as a short one
                segments[-1] = Segment(last.text + part.text, last.style)
            else:
                segments.append(part)
        length += cells_wide + 1
    if length > width:
        return Strip(segments, length).crop(0, width)
    return Strip([*segments, Segment(" " * (width - length), base)], width)


def text_line(text: Text, base: Style, width: int, console: Console) -> Strip:
    style = base + console.get_style(text.style)
    parts = [part for part in text.render(console) if part.text != text.end]
    segments = [Segment(part.text, style + (part.style or Style())) for part in parts]
    return Strip(segments).adjust_cell_length(width, base)


def _cell(text: Text, room: int, column: Column, base: Style, over: Style, console: Console) -> list[Segment]:
    """Return a cell and the blank after it. Blanks have the style of the letters beside them, but no underline."""
    plain = text.plain
    length = cell_len(plain)
    if length > room:
        text = _cut(text, room)
        plain = text.plain
        length = cell_len(plain)
    before = " " * (room - length) if column.right else ""
    after = " " if column.right else " " * (room - length + 1)
    style = base + console.get_style(text.style) + over
    if not plain:
        return [Segment(before + after, base)]
    if not text.spans and not style.underline:
        return [Segment(before + plain + after, style)]
    parts = [Segment(part.text, style + (part.style or Style()) + over) for part in text.render(console)]
    return [Segment(before, base), *parts, Segment(after, base if style.underline else style)]


def _cut(text: Text, room: int) -> Text:
    """Return the beginning of a text that is too long for so many cells, with `…`: whole words, or parts of a name."""
    kept = text.copy()
    kept.truncate(room, overflow="ellipsis")
    end = len(kept.plain) - 1
    at = gap(text.plain, end)
    return kept if at == end else text[:at].append("…")


def resize(view: ScrollView, height: int) -> None:
    """Give a widget `height` lines. The screen is laid out again only where the scroll bar appears or disappears: that
    costs more than drawing all lines."""
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
