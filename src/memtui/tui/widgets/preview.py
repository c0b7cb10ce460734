"""What will be written, shown before it is: nothing becomes a memory unseen."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static


class Preview(ModalScreen[bool]):
    """A text over the screen; enter goes on, escape does not. Without `go` it can only be left. `end`: what is new
    stands at the end, which is shown first."""

    DEFAULT_CSS = """
    Preview { align: center middle; background: $background 60%; }
    Preview > Vertical { width: 100; max-width: 98%; height: auto; max-height: 94%; padding: 1 2; background: $panel; }
    Preview Static { width: 1fr; height: auto; }
    Preview VerticalScroll { height: auto; max-height: 66vh; margin: 1 0; scrollbar-size-vertical: 1; }
    Preview .hint { color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,n", "dismiss(False)", "cancel"),
        Binding("enter,a,y", "go", "go on"),
        Binding("j", "scroll(1)", show=False),
        Binding("k", "scroll(-1)", show=False),
    ]

    def __init__(self, title: str, text: Text, go: str, *, end: bool = False) -> None:
        super().__init__()
        self.title_text, self.text, self.go, self.end = title, text, go, end
        self.plain = text.plain

    def compose(self) -> ComposeResult:
        """A title, the text, the two ways on."""
        with Vertical():
            yield Static(Text(self.title_text, style="bold"))
            with VerticalScroll(id="text"):
                yield Static(self.text)
            hint = Text()
            if self.go:
                hint.append("enter", style="bold")
                hint.append(f" {self.go}   ")
            hint.append("escape", style="bold")
            hint.append(" leaves everything as it is")
            yield Static(hint, classes="hint")

    def on_mount(self) -> None:
        """The arrows scroll."""
        self.app.clear_notifications()  # they would cover the keys
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
