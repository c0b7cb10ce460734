"""How a list paints: only the lines on the screen, each row in as few runs of a style as it has."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.geometry import Region
from textual.reactive import reactive
from textual.strip import Strip

from memtui.tui.widgets.lines import Lines

Row = TypeVar("Row")
UNDIMMED = Style(dim=False)


@dataclass
class Paint:
    """What all lines of one painting share; asking textual for it anew costs more than a line."""

    shown: "list[tuple[int, Column, int]]"
    base: Style
    cursor: Style
    mark: Style
    flat: bool  # on a terminal's own blue nothing but the cursor's colour can be read


@dataclass(frozen=True)
class Column:
    """A column: `width` in cells, 0 for what is left; hidden where there is less than `from_width`."""

    title: str
    width: int = 0
    right: bool = False
    from_width: int = 0


class Painted(Lines, Generic[Row]):
    """`draw(row) -> list[Text]` gives a cell for each column, `key(row)` its id; `empty` is said of no rows."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--cursor", "rows--cursor-blurred", "rows--head", "rows--mark"}
    cursor: reactive[int] = reactive(0, repaint=False)

    def __init__(
        self,
        columns: Sequence[Column],
        draw: Callable[[Row], list[Text]],
        key: Callable[[Row], str],
        *,
        empty: str = "",
        header: bool = True,
        id: str | None = None,  # noqa: A002  textual's name
    ) -> None:
        super().__init__(id=id)
        self.columns = list(columns)
        self._draw = draw
        self._key = key
        self.empty = empty
        self.header = header
        self.rows: Sequence[Row] = ()
        self.marks: set[str] = set()
        self._strips: dict[tuple[int, bool, bool], Strip] = {}
        self._paint: Paint | None = None

    def redraw(self) -> None:
        """Paint anew, as when what `draw` shows has changed."""
        self._strips.clear()
        self.refresh()

    def on_resize(self) -> None:
        """Widths depend on the room."""
        self._strips.clear()
        self.sized(len(self.rows) + self.header)

    def notify_style_update(self) -> None:
        """Another theme: what was painted is of the old one."""
        super().notify_style_update()
        self._strips.clear()

    def on_focus(self) -> None:
        """The cursor looks different in focus."""
        self.redraw()

    def on_blur(self) -> None:
        """The cursor looks different out of focus."""
        self.redraw()

    def _shown(self) -> list[tuple[int, Column, int]]:
        """(number, column, width) of the columns there is room for."""
        width = self.scrollable_content_region.width - 1
        shown = [(at, column) for at, column in enumerate(self.columns) if width >= column.from_width]
        fixed = sum(column.width + 1 for _, column in shown if column.width)
        flexible = max(1, sum(not column.width for _, column in shown))
        rest = max(4, (width - fixed) // flexible - 1)
        return [(at, column, column.width or rest) for at, column in shown]

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint some lines of the screen."""
        cursor = "rows--cursor" if self.has_focus else "rows--cursor-blurred"
        chosen, mark = (self.get_component_rich_style(name) for name in (cursor, "rows--mark"))
        self._paint = Paint(self._shown(), self.rich_style, chosen, mark, self.app.native_ansi_color)
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Paint one line of the screen."""
        width = self.size.width
        if self.header and y == 0:
            return self._head(width)
        if not self.rows:
            lines = self.empty.split("\n")
            text = lines[y - 1 - self.header] if 0 <= y - 1 - self.header < len(lines) else ""
            style = self.get_component_rich_style("rows--head")
            return Strip([Segment(" " + text, style)]).adjust_cell_length(width, self.rich_style).crop(0, width)
        at = y + int(self.scroll_offset.y) - self.header
        if at >= len(self.rows):
            return Strip.blank(width, self.rich_style)
        key = (at, at == self.cursor, self.has_focus)
        strip = self._strips.get(key)
        if strip is None:
            if len(self._strips) > 1000:
                self._strips.clear()
            strip = self._strips[key] = self._line(at, width)
        return strip

    def _head(self, width: int) -> Strip:
        style = self.get_component_rich_style("rows--head")
        words = [" "]
        for _, column, room in self._shown():
            title = column.title[:room]
            words.append((title.rjust(room) if column.right else title.ljust(room)) + " ")
        return Strip([Segment("".join(words), style)]).adjust_cell_length(width, style).crop(0, width)

    def _line(self, at: int, width: int) -> Strip:
        row = self.rows[at]
        paint = self._paint
        assert paint is not None
        base = paint.base + paint.cursor if at == self.cursor else paint.base
        over = paint.cursor + UNDIMMED if paint.flat and at == self.cursor else Style()
        marked = self._key(row) in self.marks
        mark_style = base + paint.mark + over if marked else base
        segments = [Segment("●" if marked else "›" if at == self.cursor else " ", mark_style)]
        cells = self._draw(row)
        length = 1
        for number, column, room in paint.shown:
            for part in self._cell(cells[number], room, column.right, base, over):
                last = segments[-1]
                if part.style == last.style:  # one run of a style costs the terminal, and us, as much as one letter
                    segments[-1] = Segment(last.text + part.text, last.style)
                else:
                    segments.append(part)
            length += room + 1
        if length > width:
            return Strip(segments, length).crop(0, width)
        return Strip([*segments, Segment(" " * (width - length), base)], width)

    def _cell(self, text: Text, room: int, right: bool, base: Style, over: Style) -> list[Segment]:
        """A cell and the blank after it. Blanks have the style of the letters beside them, unless it could be seen."""
        plain = text.plain
        length = cell_len(plain)
        if length > room:
            text = text.copy()
            text.truncate(room, overflow="ellipsis")
            plain = text.plain
            length = cell_len(plain)
        before = " " * (room - length) if right else ""
        after = " " if right else " " * (room - length + 1)
        console = self.app.console
        own = base + console.get_style(text.style) + over
        if not plain:
            return [Segment(before + after, base)]
        if not text.spans and not own.underline:
            return [Segment(before + plain + after, own)]
        parts = [Segment(part.text, own + (part.style or Style()) + over) for part in text.render(console)]
        return [Segment(before, base), *parts, Segment(after, own if not own.underline else base)]
