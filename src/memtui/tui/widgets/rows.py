"""A list of any length that draws only the lines on the screen. Cursor and marks follow row ids."""

import math
import textwrap
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from memtui.tui.safety_net import guard_drawing
from memtui.tui.widgets import painting
from memtui.tui.widgets.painting import Column, Ink, Paint

__all__ = ["Column", "RowList"]

Row = TypeVar("Row")
STREAM_SECONDS = 2.0  # rows stream in as long as they are shown again within so many seconds
STRIPS_KEPT = 400  # painted lines that are cached
UNDO_SECONDS = 10.0  # how long after the key of undo a row counts as brought back by it
MOVING = {
    "up,k": "move(-1)",
    "down,j": "move(1)",
    "pageup,ctrl+b": "page(-1)",
    "pagedown,ctrl+f": "page(1)",
    "ctrl+u": "page(-1, 2)",
    "ctrl+d": "page(1, 2)",
    "home,g": "edge(-1)",
    "end,G": "edge(1)",
}


@dataclass
class ListMessage(Message):
    rows: "RowList[Any]"

    @property
    def control(self) -> "RowList[Any]":
        """The list, for `@on(RowList.Moved, "#id")`."""
        return self.rows


class RowList(ScrollView, Generic[Row], can_focus=True):
    """A list: `draw(row)` returns its cells, `key(row)` its id, `look(row)` what decides how it is drawn."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--cursor", "rows--cursor-blurred", "rows--head", "rows--mark"}
    # The keys that move the cursor, and so open nothing.
    MOVES: ClassVar[frozenset[str]] = frozenset(",".join(MOVING).split(","))
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(keys, action, show=False) for keys, action in MOVING.items()),
        Binding("enter", "open", show=False),
    ]

    class Moved(ListMessage):
        """The cursor has moved to another row, or to none."""

    @dataclass
    class Opened(ListMessage):
        """Enter was pressed on the row with this id, or a second click was made; by now the list may have others."""

        row_id: str

    cursor: reactive[int] = reactive(0, repaint=False)

    def __init__(
        self,
        columns: Sequence[Column],
        draw: Callable[[Row], list[Text]],
        key: Callable[[Row], str],
        *,
        empty: str = "",
        header: bool = True,
        look: Callable[[Row], Hashable] | None = None,
        can_mark: Callable[[Row], bool] = lambda _: True,
        id: str | None = None,  # noqa: A002  textual's name
    ) -> None:
        super().__init__(id=id)
        self.columns, self.empty, self.header = list(columns), empty, header
        self._draw, self.key, self._look, self.can_mark = draw, key, look, can_mark
        self.rows: Sequence[Row] = ()
        self.marks: set[str] = set()
        self.has_cursor, self._anchor = True, ""
        self._is_placed = False  # whether the cursor follows its row
        self._shown_at, self._height = math.inf, 0
        self._strips: dict[tuple[Hashable, bool, bool], Strip] = {}
        self._paint: Paint | None = None

    def show(self, rows: Sequence[Row], cursor: int | None = None) -> None:
        """Show these rows; `cursor`: None keeps its row, or while rows stream in for the first time, the first."""
        now = time.monotonic()
        is_old = bool(self.rows) and now - self._shown_at > STREAM_SECONDS
        self._is_placed = self._is_placed or is_old or cursor is not None
        self._shown_at = now
        before = self.row_id
        here = before if self._is_placed and cursor is None else ""
        in_sight = 0 <= self.cursor - int(self.scroll_offset.y) < max(1, self.size.height - self.header)
        old, self.rows = self.rows, rows
        vars(self).pop("_places", None)
        if self._look is None:
            self._strips.clear()
        painting.resize(self, len(rows) + self.header)
        place = self.cursor if cursor is None else cursor
        if here and not (place < len(rows) and self.key(rows[place]) == here):
            below = map(self.key, old[place + 1 :])
            place = next((self._places[key] for key in (here, *below) if key in self._places), place)
        if in_sight or cursor is not None:
            self._place(place)
        else:  # scrolled away from the cursor with the wheel: stay there
            self.cursor = max(0, min(place, len(rows) - 1))
        self.refresh()
        if self.row_id != before:
            self.post_message(self.Moved(self))

    def renew(self, rows: Sequence[Row]) -> None:
        """Take over those of `rows` that are shown, and look as before."""
        rows_by_id = {self.key(row): row for row in rows}
        self.rows = [rows_by_id.get(self.key(row), row) for row in self.rows]

    @cached_property
    def _places(self) -> dict[str, int]:
        places = range(len(self.rows) - 1, -1, -1)
        return {self.key(self.rows[at]): at for at in places}

    @property
    def row(self) -> Row | None:
        return self.rows[self.cursor] if 0 <= self.cursor < len(self.rows) else None

    @property
    def row_id(self) -> str:
        row = self.row
        return "" if row is None else self.key(row)

    def index_of(self, row_id: str, rows: Sequence[Row] | None = None) -> int | None:
        """Return where the row with this id is among `rows`, by default those of the list; None if it is not there."""
        if rows is None or rows is self.rows:
            return self._places.get(row_id)
        return next((at for at, row in enumerate(rows) if self.key(row) == row_id), None)

    @property
    def cursor_row(self) -> int:
        """The line that the cursor is drawn on, counted from the top of the widget."""
        return self.cursor - int(self.scroll_offset.y) + self.header

    def chosen(self) -> list[Row]:
        """Return the marked rows that are shown, or without marks the one under the cursor; none if all are hidden."""
        if self.marks and all(node.display for node in self.ancestors_with_self if isinstance(node, Widget)):
            return [self.rows[at] for at in sorted(self._places[key] for key in self.marks & self._places.keys())]
        return [self.row] if self.row is not None else []

    def widen(self, title: str, longest: int) -> None:
        """Let a column be as wide as its longest cell, where there is room."""
        self.columns = [replace(old, longest=longest) if old.title == title else old for old in self.columns]

    def toggle_mark(self) -> None:
        """Mark or unmark the row under the cursor, and move to the next."""
        if self.row is not None and self.can_mark(self.row):
            self.marks ^= {self.row_id}
            self.redraw()
        self.action_move(1)

    def mark_all(self, rows: Sequence[Row]) -> None:
        """Mark all these rows too; unmark them if they all are marked."""
        every = {self.key(row) for row in rows}
        self.marks, self._anchor = self.marks - every if every <= self.marks else self.marks | every, ""
        self.redraw()

    def keep_marks(self, rows: Sequence[Row]) -> None:
        if self.marks:
            self.marks &= {self.key(row) for row in rows}

    def mark_range(self) -> None:
        """Begin a range at the cursor, marking that row; on the second call, mark all rows from there to the cursor."""
        if self.in_range:
            first, last = sorted((self._places[self._anchor], self.cursor))
            self.marks |= {self.key(row) for row in self.rows[first : last + 1] if self.can_mark(row)}
            self._anchor = ""
        elif self.row is not None:
            self._anchor = self.row_id
            self.marks |= {self._anchor} if self.can_mark(self.row) else set()
        self.redraw()

    @property
    def in_range(self) -> bool:
        return self._anchor in self._places

    def clear_marks(self) -> bool:
        had, self._anchor = bool(self.marks), ""
        if had:
            self.marks.clear()
            self.redraw()
        return had

    def _place(self, at: int) -> None:
        self.cursor = max(0, min(at, len(self.rows) - 1))
        self.scroll_to_region(Region(0, self.cursor, 1, 1 + self.header), animate=False, force=True)

    def move_to(self, at: int, count: int = 1) -> None:
        """Move the cursor to the row of this number, and as many of `count` rows from it on as fit onto the screen."""
        before, line, self._is_placed = self.cursor, self.cursor_row, True
        self._place(at)
        if self.cursor != before:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in (line, self.cursor_row)))
            self.post_message(self.Moved(self))
        if count > 1:
            block = Region(0, self.cursor, 1, min(count + self.header, self.size.height))
            self.scroll_to_region(block, animate=False, force=True, immediate=True)

    def action_move(self, step: int) -> None:
        self.move_to(self.cursor + step)

    def action_page(self, direction: int, parts: int = 1) -> None:
        """Move by a page, less a line, or by one of several parts of it."""
        self.move_to(self.cursor + direction * max(1, (self.size.height - self.header - (parts == 1)) // parts))

    def action_edge(self, direction: int) -> None:
        self.move_to(len(self.rows) - 1 if direction > 0 else 0)

    def action_open(self) -> None:
        self._is_placed = True
        if self.row_id:
            self.post_message(self.Opened(self, self.row_id))

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked row; open it on a second click."""
        at = event.y + int(self.scroll_offset.y) - self.header
        if event.y < self.header or not 0 <= at < len(self.rows):
            return
        if at == self.cursor and event.chain > 1:
            self.action_open()
        self.move_to(at)

    def redraw(self) -> None:
        self._strips.clear()
        self.refresh()

    def on_resize(self) -> None:
        """Paint for the new width. The cursor stays visible if it was, or if the list had no height yet."""
        in_sight = self._height == 0 or 0 <= self.cursor - int(self.scroll_offset.y) < self._height - self.header
        self._height = self.size.height
        self._strips.clear()
        painting.resize(self, len(self.rows) + self.header)
        if in_sight and self.rows:
            self._place(self.cursor)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()

    def on_focus(self) -> None:
        self.redraw()

    on_blur = on_focus

    def _columns_shown(self) -> painting.VisibleColumns:
        return painting.visible_columns(self.columns, self.scrollable_content_region.width - 1)

    @guard_drawing
    def render_lines(self, crop: Region) -> list[Strip]:
        cursor = "rows--cursor" if self.has_focus else "rows--cursor-blurred"
        base, chosen, mark = self.rich_style, *map(self.get_component_rich_style, (cursor, "rows--mark"))
        if self.app.no_color and self.has_focus:  # the background is faint then, and a mark hides the cursor's
            chosen += painting.REVERSED
        # On the terminal's own colours only the cursor's colour is readable on its background.
        over = chosen + painting.UNDIMMED if self.app.native_ansi_color or self.app.no_color else None
        columns, painted, console = self._columns_shown(), self._paint, self.app.console
        if painted is not None and painted.shown != columns:
            self._strips.clear()
        self._paint = Paint(columns, Ink(console, base), Ink(console, base + chosen, over), mark)
        return super().render_lines(crop) if self.styles.gutter else painting.unframed(self, crop)

    def _why_empty(self, width: int) -> list[str]:
        return [line for part in self.empty.split("\n") for line in textwrap.wrap(part, max(1, width - 2)) or [""]]

    @property
    def needed(self) -> int:
        """The lines below its head that all rows take, or the text of an empty list."""
        return len(self.rows) or 1 + len(self._why_empty(self.size.width))

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if self.header and y == 0:
            return painting.header_line(self._columns_shown(), self.get_component_rich_style("rows--head"), width)
        if not self.rows:
            words = ["", *self._why_empty(width)]
            text = words[y - self.header] if y - self.header < len(words) else ""
            style = self.get_component_rich_style("rows--head")
            return Strip([Segment(" " + text, style)]).adjust_cell_length(width, self.rich_style).crop(0, width)
        at = y + int(self.scroll_offset.y) - self.header
        if at >= len(self.rows):
            return Strip.blank(width, self.rich_style)
        key = (self._look(self.rows[at]) if self._look else at, at == self.cursor, self.has_focus)
        strip = self._strips.get(key)
        if strip is None:
            if len(self._strips) > STRIPS_KEPT:
                self._strips.clear()
            strip = self._strips[key] = self._line(at, width)
        return strip

    def _line(self, at: int, width: int) -> Strip:
        row = self.rows[at]
        assert self._paint is not None
        here, marked = self.has_cursor and at == self.cursor, self.key(row) in self.marks
        return painting.row_line(self._draw(row), self._paint, width, here=here, marked=marked)


class ReturnedRows(Generic[Row]):
    """The rows of a list by their `key`: those that are there, those that were, and those that came back last."""

    def __init__(self, key: Callable[[Row], str]) -> None:
        self.key = key
        self._here, self._gone, self._returned = set[str](), set[str](), set[str]()
        self._noted: Sequence[Row] = ()
        self._returned_at = self._undone_at = -math.inf  # the latter: the undo whose row was found

    def note(self, rows: Sequence[Row], without_hidden: Callable[[], Sequence[Row]]) -> None:
        if rows is self._noted:
            return
        self._noted, keys = rows, set(map(self.key, without_hidden()))
        if returned := keys & self._gone:
            self._returned, self._returned_at = returned, time.monotonic()
        self._gone = (self._gone | self._here) - keys
        self._here = keys

    def find(self, rows: Sequence[Row], undone_at: float) -> int | None:
        """Return the number of the first row that came back since an undo, once; None if there is none."""
        is_new = self._undone_at < undone_at <= self._returned_at
        if not is_new or time.monotonic() - undone_at > UNDO_SECONDS:
            return None
        place = next((at for at, row in enumerate(rows) if self.key(row) in self._returned), None)
        if place is not None:
            self._undone_at = undone_at
        return place
