"""What will be written, shown before it is: nothing becomes a memory unseen."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from memtui.tui.widgets.dialog import Dialog, Keys


class Preview(Dialog[bool]):
    """A text over the screen; enter goes on, escape does not. Of a long text enter first shows what follows: nothing
    is agreed to before its end was on the screen. Without `go` it can only be left. `end`: what is new, the lines with
    a `+`, stands at the end, which is shown first if there is room for all of it."""

    DEFAULT_CSS = """
    Preview > Vertical { height: auto; max-height: 94%; padding: 1 2; background: $panel; }
    Preview Static { width: 1fr; height: auto; }
    Preview VerticalScroll { height: auto; max-height: 66vh; margin-top: 1; scrollbar-size-vertical: 1; }
    """
    across: ClassVar[int] = 100
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,n", "dismiss(False)", "cancel"),
        Binding("enter,a", "go", "go on"),
        Binding("j", "scroll(1)", show=False),
        Binding("k", "scroll(-1)", show=False),
        Binding("less_than_sign", "edge(-1)", show=False),
        Binding("greater_than_sign", "edge(1)", show=False),
    ]

    def __init__(self, title: str, text: Text, go: str, *, end: bool = False) -> None:
        super().__init__()
        self.title_text, self.text, self.go, self.end = title, text, go, end
        self.plain = text.plain
        self.seen = False

    def body(self) -> ComposeResult:
        """A title, the text."""
        with Vertical():
            yield Static(Text(self.title_text, style="bold"))
            with VerticalScroll(id="text"):
                yield Static(self.text)

    def keys(self) -> Keys:
        """The ways on."""
        move = (("j k", "scroll"), ("< >", "begin, end"))
        if not self.go:
            return (("escape", "leave everything as it is"), *move)
        return (("enter", self.go if self.seen else "read on"), ("escape", "leave everything as it is"), *move)

    def on_mount(self) -> None:
        """The arrows scroll."""
        self.pane.focus()
        self.watch(self.pane, "scroll_y", self._look, init=False)
        self.call_after_refresh(self._begin)

    @property
    def pane(self) -> VerticalScroll:
        """What scrolls."""
        return self.query_one("#text", VerticalScroll)

    def _begin(self) -> None:
        width = max(1, self.pane.size.width)
        new = [line for line in self.plain.split("\n") if line.startswith("  + ")]
        if self.end and sum(1 + len(line) // width for line in new) <= self.pane.size.height:
            self.pane.scroll_end(animate=False, immediate=True)
        self._look()

    def on_resize(self) -> None:
        """All of it may be on the screen now."""
        self.call_after_refresh(self._look)

    def _look(self) -> None:
        """Whether the end is on the screen, or was."""
        if not self.seen and self.pane.size and self.pane.scroll_y >= self.pane.max_scroll_y:
            self.seen = True
        self.name_keys()

    def action_go(self) -> None:
        """Go on, if there is anything to go on with and all of it was there to be read."""
        if self.go and self.seen:
            self.dismiss(True)
        else:
            self.pane.scroll_relative(y=max(1, self.pane.size.height - 1), animate=False)

    def action_scroll(self, step: int) -> None:
        """A line down or up."""
        self.pane.scroll_relative(y=step, animate=False)

    def action_edge(self, direction: int) -> None:
        """To the begin, or to the end."""
        (self.pane.scroll_end if direction > 0 else self.pane.scroll_home)(animate=False)
