"""The list of memories: its columns adapt to width and order; free rows below preview the one under the cursor."""

from collections.abc import Callable, Sequence

from rich.segment import Segment
from rich.text import Text
from textual.strip import Strip

from memtui.present import legend, safe_text
from memtui.tui.model import fuzzy
from memtui.tui.screens.memories import rows as memory_rows
from memtui.tui.screens.memories.rows import RULE, Pair
from memtui.tui.widgets import painting
from memtui.tui.widgets.glance import cut, preview
from memtui.tui.widgets.rows import Column, RowList

# The fewest free rows that show a preview.
LEAST_ROWS = 3


class MemoryTable(RowList[Pair]):
    """The list; `glance` returns the preview of a row, and the words that it highlights. In recall it has columns of
    its own, and a rule where delivery ends: `rule` returns its words."""

    DEFAULT_CSS = "MemoryTable { width: 1fr; }"

    def __init__(
        self, draw: Callable[[Pair], list[Text]], glance: Callable[[Pair], tuple[Text, str]], *, empty: str
    ) -> None:
        super().__init__(memory_rows.COLUMNS, draw, lambda pair: pair[1].memory.path, empty=empty, id="list")
        self.glance = glance
        self.order = ("name", False)
        self.longest_name = 0
        self.recall_columns: Sequence[Column] = ()
        self.rule: Callable[[], str] = str
        self._below: tuple[object, list[Strip]] = ((), [])

    def chosen(self) -> list[Pair]:
        """Return the memories that a command acts on; the rule is none."""
        return [pair for pair in super().chosen() if pair is not RULE]

    def toggle_mark(self) -> None:
        """Mark or unmark the memory under the cursor; from the rule only move on."""
        if self.row is RULE:
            self.action_move(1)
        else:
            super().toggle_mark()

    def mark_range(self) -> None:
        """Begin or end a range, as every list does; the rule is not marked."""
        super().mark_range()
        self.marks.discard(RULE[1].memory.path)

    def why_none(self) -> str:
        """Return why no memory is chosen; empty if there is one."""
        if self.chosen():
            return ""
        if self.marks:
            return "The filter hides the marked ones: escape shows them."
        return "There is no memory under the cursor."

    def why_read_only(self) -> str:
        """Return why the chosen memories can't be changed; empty if they can."""
        read_only = next(
            (row.memory for scope, row in self.chosen() if not scope.writable and not scope.is_shared), None
        )
        if read_only is None:
            return ""
        if read_only.scope_label == "model":
            return f"{read_only.name} is a block of the model: only its text can be changed."
        return f"{read_only.name} is one of your instructions, read-only here: change {read_only.path} itself."

    def measure(self, pairs: Sequence[Pair], sort: str, reverse: bool) -> None:
        """Set the columns for these memories in this order."""
        self.order = (sort, reverse)
        # Never shorter again: in another scope, or while more memories are read, the columns stay where they are.
        self.longest_name = max([self.longest_name, *(len(row.memory.name) for _, row in pairs)])
        self.fit()

    def fit(self) -> None:
        """Set the columns for the current width."""
        width = self.scrollable_content_region.width - 1
        if width > 0:
            columns = self.recall_columns or memory_rows.columns(*self.order)
            self.columns = memory_rows.fitted(columns, width, self.longest_name)

    def on_resize(self) -> None:
        """Set and paint the columns for the new width."""
        self.fit()
        super().on_resize()

    def redraw(self) -> None:
        """Paint again, the preview as well."""
        self._below = ((), [])
        super().redraw()

    def show(self, rows: Sequence[Pair], cursor: int | None = None) -> None:
        """Show these memories."""
        self._below = ((), [])
        super().show(rows, cursor)

    def render_line(self, y: int) -> Strip:
        """Paint one line: a row, or a line of the preview."""
        below = y + int(self.scroll_offset.y) - self.header - len(self.rows)
        free = self.size.height - self.header - len(self.rows)
        if below < 0 or not self.rows or free < LEAST_ROWS:
            return super().render_line(y)
        preview = self._preview_lines()
        return preview[below] if below < len(preview) else Strip.blank(self.size.width, self.rich_style)

    def _line(self, at: int, width: int) -> Strip:
        if self.rows[at] is not RULE:
            return super()._line(at, width)
        here = at == self.cursor
        paint = self._paint
        assert paint is not None
        style = paint.base + paint.cursor if here else self.get_component_rich_style("rows--head")
        words = f"{legend.CURSOR if here else ' '}── {safe_text.line(self.rule())} "
        text = Text(words, no_wrap=True)
        text.truncate(width, overflow="ellipsis")
        line = text.plain + "─" * max(0, width - 1 - text.cell_len)
        return Strip([Segment(line, style)]).adjust_cell_length(width, paint.base).crop(0, width)

    def _preview_lines(self) -> list[Strip]:
        width = self.size.width
        key = (self.row_id, width, self.rich_style)
        if self._below[0] == key:
            return self._below[1]
        assert self.row is not None
        console = self.app.console
        lines = []
        text, sought = self.glance(self.row)
        room = self.size.height - self.header - len(self.rows)
        wide = max(10, width - 2)
        for line in cut(preview(text, wide, room, fuzzy.mark_long(text, sought)), room, wide):
            line.pad_left(1)
            lines.append(painting.text_line(line, self.rich_style, width, console))
        self._below = (key, lines)
        return lines
