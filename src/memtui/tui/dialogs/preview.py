"""The preview: what will be written, shown for approval. Nothing becomes a memory unseen."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from memtui.tui.dialogs.dialog import Dialog, Keys
from memtui.tui.widgets.detail import Detail


class Preview(Dialog[bool]):
    """A text to approve, whole on one page that scrolls. The answer is True for enter, from anywhere in it, and False
    for escape. `go` is the word for enter; if it is empty the text is only to be read. `end`: the new lines, which
    begin with `+`, are at the end; it is shown first if all of them have room."""

    DEFAULT_CSS = "Preview Detail { height: auto; padding: 0; }"
    across: ClassVar[int] = 100
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(False)", "back"),
        Binding("enter,a", "go", "go on"),
    ]

    def __init__(self, title: str, text: Text, go: str, *, end: bool = False) -> None:
        super().__init__()
        self.heading, self.text, self.go, self.end = title, text, go, end
        self.plain = text.plain

    def body(self) -> ComposeResult:
        """Compose the text."""
        yield Detail(id="text")

    def keys(self) -> Keys:
        """Return the keys: enter approves."""
        go = [("enter", self.go)] * bool(self.go)
        return (*go, ("escape", "back"), ("j k", "scroll"), ("g G", "top, bottom"))

    def on_mount(self) -> None:
        """Show the text, and focus it."""
        self.pane.show("text", self.text)
        self.pane.focus()
        self.call_after_refresh(self._begin)

    @property
    def pane(self) -> Detail:
        """Return the widget with the text."""
        return self.query_one("#text", Detail)

    def _begin(self) -> None:
        if not self.query("#text"):
            return  # the dialog was closed meanwhile
        width = max(1, self.pane.size.width)
        new = [line for line in self.plain.split("\n") if line.startswith("  + ")]
        if self.end and sum(1 + len(line) // width for line in new) <= self.pane.size.height:
            self.pane.scroll_end(animate=False, immediate=True)

    def on_resize(self) -> None:
        """Give the text the height of the screen."""
        for pane in self.query(Detail):
            pane.styles.max_height = self.room - 2 * self.query_one(".heading").display

    def action_go(self) -> None:
        """Approve the text; one that is only to be read scrolls on."""
        if self.go:
            self.dismiss(True)
        else:
            self.pane.scroll_relative(y=max(1, self.pane.size.height - 1), animate=False)
