"""The right-hand side: the thing itself, as text that can be scrolled."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

# What a widget draws at once; the rest is in the file, and the detail says so.
MAX_CHARACTERS = 60_000


class Detail(VerticalScroll, can_focus=True):
    """A scrolled text. `show` keeps the place while the same thing is shown."""

    DEFAULT_CSS = "Detail { padding: 0 1; scrollbar-size-vertical: 1; } Detail > Static { width: 1fr; height: auto; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", show=False),
        Binding("k", "scroll_up", show=False),
        Binding("less_than_sign", "scroll_home", show=False),
        Binding("greater_than_sign", "scroll_end", show=False),
    ]
    key = ""
    plain = ""
    text: Text | None = None

    def compose(self) -> ComposeResult:
        """One static."""
        yield Static()

    def show(self, key: str, text: Text) -> None:
        """Show a text; `key` names the thing it is about."""
        if len(text.plain) > MAX_CHARACTERS:
            rest = len(text.plain) - MAX_CHARACTERS
            text = text[:MAX_CHARACTERS]
            text.append(f"\n… {rest:,} more characters are in the file", style="dim")
        if key == self.key and text == self.text:
            return
        self.text, self.plain = text, text.plain
        self.query_one(Static).update(text)
        if key != self.key:
            self.key = key
            self.scroll_home(animate=False)
