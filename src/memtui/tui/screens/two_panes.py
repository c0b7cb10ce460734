"""A list, a filter under it, and the detail: side by side, or on a narrow screen one over the other."""

from typing import Any, ClassVar

from textual import on
from textual.widgets import Input

from memtui.tui.screens.frame import Base
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.rows import RowList

NARROW = 100


class TwoPanes(Base):
    """`#list`, `#filter` and `#detail`; subclasses have `fill` and `show_detail`."""

    typed = ""
    # Of a hundred cells, so many are the detail's where it stands beside the list.
    share: ClassVar[int] = 45

    @property
    def rows(self) -> RowList[Any]:
        """The list."""
        return self.query_one("#list", RowList)

    def fill(self) -> None:
        """Put what was read through the filter."""
        raise NotImplementedError

    def show_detail(self) -> None:
        """Show what is under the cursor."""
        raise NotImplementedError

    def aged(self) -> None:
        """What waits may also have expired meanwhile."""
        super().aged()
        self.reload()

    def on_mount(self) -> None:
        """Start in the list."""
        self.rows.focus()
        self.reload()

    def deepen(self) -> None:
        """Into the detail, which on a narrow screen takes the place of the list."""
        self.add_class("deep")
        self.query_one("#detail", Detail).focus()

    @property
    def room(self) -> int:
        """Cells across in the detail, also while it is hidden."""
        width = self.size.width
        return (width if width < NARROW else width * self.share // 100) - 4

    @property
    def seen(self) -> bool:
        """Whether the detail is on the screen."""
        return not self.has_class("narrow") or self.has_class("deep")

    def on_resize(self) -> None:
        """One pane or two."""
        self.set_class(self.size.width < NARROW, "narrow")
        self.call_after_refresh(self.show_detail)

    def key_escape(self) -> None:
        """Back: from the detail to the list, from marks to none, from the filter to everything."""
        if self.query_one("#detail", Detail).has_focus:
            self.remove_class("deep")
            self.rows.focus()
        elif not self.rows.clear_marks():
            line = self.query_one("#filter", Input)
            line.value = ""
            line.remove_class("shown")
            self.rows.focus()

    def open_filter(self) -> None:
        """Show the filter, in the list."""
        self.remove_class("deep")
        line = self.query_one("#filter", Input)
        line.add_class("shown")
        line.focus()

    @on(Input.Changed, "#filter")
    def filter_typed(self, event: Input.Changed) -> None:
        """Every letter filters."""
        self.typed = event.value
        self.fill()

    @on(Input.Submitted, "#filter")
    def filter_taken(self) -> None:
        """Enter goes on in the list."""
        self.rows.focus()
