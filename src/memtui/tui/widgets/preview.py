"""What will be written, shown before it is: nothing becomes a memory unseen."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from memtui.tui.widgets.dialog import Dialog, Keys


class Preview(Dialog[bool]):
    """A text over the screen; enter goes on, escape does not. Without `go` it can only be left. `end`: what is new
    stands at the end, which is shown first."""

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
        return (("enter", self.go), ("escape", "leave everything as it is"), *move)

    def on_mount(self) -> None:
        """The arrows scroll."""
        pane = self.query_one("#text", VerticalScroll)
        pane.focus()
        if self.end:
            self.call_after_refresh(pane.scroll_end, animate=False)

    def action_go(self) -> None:
        """Go on, if there is anything to go on with."""
        if self.go:
            self.dismiss(True)

    def action_scroll(self, step: int) -> None:
        """A line down or up."""
        self.query_one("#text", VerticalScroll).scroll_relative(y=step, animate=False)

    def action_edge(self, direction: int) -> None:
        """To the begin, or to the end."""
        pane = self.query_one("#text", VerticalScroll)
        (pane.scroll_end if direction > 0 else pane.scroll_home)(animate=False)
