"""The right-hand side: the thing itself, as text that can be scrolled."""

import re
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

# What a widget draws at once; the rest is in the file, and the detail says so.
MAX_CHARACTERS = 60_000
# What a line begins with that its continuation stands right of: blanks, and the mark of a list.
HANG = re.compile(r" *(?:(?:[•▏·○☐☑*+-]|\d{1,4}[.)]) +)?")
# A line with fewer cells than this left hangs nowhere.
LEAST = 12


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
        self._draw()
        if key != self.key:
            self.key = key
            self.scroll_home(animate=False)

    def on_resize(self) -> None:
        """Lines break elsewhere."""
        self._draw()

    def _draw(self) -> None:
        width = self.scrollable_content_region.width
        if self.text is not None:
            self.query_one(Static).update(self._hung(self.text, width) if width else self.text)

    def _hung(self, text: Text, width: int) -> Text:
        """The text with lines of lists, and indented ones, broken so that they hang right of their mark."""
        if not any(len(line) > width and HANG.match(line) for line in text.plain.split("\n")):
            return text
        made = []
        for line in text.split("\n", allow_blank=True):
            indent = HANG.match(line.plain)
            cells = indent.end() if indent else 0
            if not cells or line.cell_len <= width or width - cells < LEAST:
                made.append(line)
                continue
            first, *rest = line[cells:].wrap(self.app.console, width - cells)
            first.rstrip()
            made.append(Text.assemble(line[:cells], first))
            for each in rest:
                each.rstrip()
                made.append(Text.assemble(" " * cells, each))
        return Text("\n").join(made)
