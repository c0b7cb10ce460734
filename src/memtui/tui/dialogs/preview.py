"""What will be written, shown before it is: nothing becomes a memory unseen."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from memtui.tui.dialogs.dialog import Dialog, Keys
from memtui.tui.widgets.detail import Detail

# Of a hundred lines of the screen so many are the text's at most.
MOST = 66


class Preview(Dialog[bool]):
    """A text over the screen; enter goes on, escape does not. Of a long text enter first shows what follows: nothing
    is agreed to before its end was on the screen. Without `go` it can only be left. `end`: what is new, the lines with
    a `+`, stands at the end, which is shown first if there is room for all of it."""

    DEFAULT_CSS = """
    Preview > Vertical { height: auto; max-height: 94%; padding: 1 2; background: $panel; }
    Preview Static { width: 1fr; height: auto; }
    Preview Detail { height: 66vh; padding: 0; margin-top: 1; }
    """
    across: ClassVar[int] = 100
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,n", "dismiss(False)", "cancel"),
        Binding("enter,a", "go", "go on"),
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
            yield Detail(id="text")

    def keys(self) -> Keys:
        """The ways on."""
        move = (("j k", "scroll"), ("< >", "begin, end"))
        if not self.go:
            return (("escape", "leave everything as it is"), *move)
        return (("enter", self.go if self.seen else "read on"), ("escape", "leave everything as it is"), *move)

    def on_mount(self) -> None:
        """The arrows scroll."""
        self.pane.show("text", self.text)
        self.pane.focus()
        self.watch(self.pane, "scroll_y", self._look, init=False)
        self.call_after_refresh(self._begin)

    @property
    def pane(self) -> Detail:
        """What scrolls."""
        return self.query_one("#text", Detail)

    def _begin(self) -> None:
        if not self.query("#text"):
            return  # it was left meanwhile
        self._fit()
        width = max(1, self.pane.size.width)
        new = [line for line in self.plain.split("\n") if line.startswith("  + ")]
        if self.end and sum(1 + len(line) // width for line in new) <= self.pane.size.height:
            self.pane.scroll_end(animate=False, immediate=True)

    def on_resize(self) -> None:
        """All of it may be on the screen now."""
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        """As high as the text, if there is room."""
        if self.query("#text") and self.pane.lines:
            self.pane.styles.height = max(1, min(len(self.pane.lines), self.size.height * MOST // 100))
            self.call_after_refresh(self._look)

    def _look(self) -> None:
        """Whether the end is on the screen, or was."""
        if not self.query("#text"):
            return  # it was left meanwhile
        pane = self.pane
        if not self.seen and pane.lines and pane.scroll_y + pane.size.height >= len(pane.lines):
            self.seen = True
        self.name_keys()

    def action_go(self) -> None:
        """Go on, if there is anything to go on with and all of it was there to be read."""
        if self.go and self.seen:
            self.dismiss(True)
        else:
            self.pane.scroll_relative(y=max(1, self.pane.size.height - 1), animate=False)
