"""The right-hand side: the thing itself, as text that can be scrolled."""

import re
from typing import ClassVar

from rich.cells import cell_len, chop_cells
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

# What a widget draws at once; the rest is in the file, and the detail says so.
MAX_CHARACTERS = 60_000
# What a line begins with that its continuation stands right of: blanks, and the mark of a list or a label.
HANG = re.compile(r" *(?:(?:[•▏·○☐☑*+-]|\d{1,4}[.)]) +|[a-z]{1,10} {2,})?")
# A label has a style of its own, and blanks after it; no longer one than this.
LABEL = 14
# A line with fewer cells than this left hangs nowhere.
LEAST = 12
WORD, PART = re.compile(r"\S+\s*|\s+"), re.compile(r"[^/]*/|[^/]+")


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
    _height = 0

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
        if self.text is None:
            return
        drawn = self._hung(self.text, width) if width else self.text
        lines = drawn.plain.split("\n")
        # As many lines as before need no other layout, which costs more than the text.
        height = len(lines) if all(cell_len(line) <= width for line in lines) else 0
        self.query_one(Static).update(drawn, layout=not height or height != self._height)
        self._height = height

    def _hung(self, text: Text, width: int) -> Text:
        """The text with lines of lists, after labels, and indented ones broken so that they hang right of their mark;
        with paths broken at their slashes."""
        if all(cell_len(line) <= width for line in text.plain.split("\n")):
            return text
        made = []
        for line in text.split("\n", allow_blank=True):
            cells = _hang(line) if line.cell_len > width else 0
            if width - cells < LEAST:
                cells = 0
            if line.cell_len <= width or not (cells or _has_path(line.plain, width)):
                made.append(line)
                continue
            for number, part in enumerate(line[cells:].divide(_breaks(line.plain[cells:], width - cells))):
                part.rstrip()
                made.append(Text.assemble(" " * cells if number else line[:cells], part))
        return Text("\n").join(made)


def _hang(line: Text) -> int:
    """How many characters of a line its continuation stands right of."""
    found = HANG.match(line.plain)
    label = max((span.end for span in line.spans if span.start == 0 and span.end <= LABEL), default=0)
    return max(found.end() if found else 0, label if line.plain[label - 1 : label] == " " else 0)


def _has_path(plain: str, width: int) -> bool:
    return "/" in plain and any("/" in word and len(word) > width for word in plain.split())


def _breaks(plain: str, width: int) -> list[int]:
    """Where a line is broken: between words, in a word that is too long after slashes, else anywhere."""
    pieces: list[str] = []
    for word in WORD.findall(plain):
        parts = PART.findall(word) if cell_len(word.rstrip()) > width else [word]
        for part in parts:
            pieces += [part] if cell_len(part.rstrip()) <= width else chop_cells(part, width)
    found = []
    at = used = 0
    for piece in pieces:
        if used and used + cell_len(piece.rstrip()) > width:
            found.append(at)
            used = 0
        used += cell_len(piece)
        at += len(piece)
    return found
