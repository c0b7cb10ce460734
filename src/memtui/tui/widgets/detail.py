"""The detail pane: a scrollable text about the row under the cursor, wrapped between words."""

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import ClassVar

from rich.cells import cell_len, chop_cells
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from memtui import keymap
from memtui.tui.model import matches
from memtui.tui.widgets import painting

MAX_CHARACTERS = 60_000  # a longer text is cut, and its last line says how much more the file has
# The beginning of a line that its continuation is indented by: blanks, then a list mark or a label.
INDENT = re.compile(r" *(?:(?:[•▏·○☐☑*+-]|\d{1,4}[.)]) +|[a-z]{1,10} {2,})?")
# A label has a style of its own and blanks after it. The most characters of one.
LONGEST_LABEL = 20
LEAST_CELLS = 12  # nothing is indented where fewer cells than this would be left
WORD, PART = re.compile(r"(?:[→←] )?\S+\s*|\s+"), re.compile(r"[^/]*/|[^/]+")  # an arrow stays with what it points to
MOVING = {
    "j": "scroll_down",
    "k": "scroll_up",
    "ctrl+b": "page_up",
    "ctrl+f": "page_down",
    "ctrl+u": "half(-1)",
    "ctrl+d": "half(1)",
    "g": "edge(-1)",
    "G": "edge(1)",
}


class Detail(ScrollView, can_focus=True):
    """A text that scrolls, and stays where it is while the same thing is shown again."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding(key, action, show=False) for key, action in MOVING.items()]
    key = ""
    plain = ""
    text: Text | None = None

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002  textual's name
        super().__init__(id=id, classes=classes)
        self.lines: list[Text] = []
        self._starts: list[int] = []
        self._to_reveal: int | None = None
        self._revealed = ""  # the words whose first match in this text was scrolled to

    def show(self, key: str, text: Text, sought: str = "") -> None:
        """Show a text about `key`, from its top if that is new, with the words `sought` highlighted and in sight."""
        if len(text.plain) > MAX_CHARACTERS:
            rest = len(text.plain) - MAX_CHARACTERS
            text = text[:MAX_CHARACTERS]
            text.append(f"\n… {rest:,} more characters are in the file", style="dim")
        first = matches.mark_long(text, sought)
        if key == self.key and text == self.text:
            return
        self.text, self.plain = text, text.plain
        self._wrap()
        if key != self.key:
            self.key, self._revealed = key, ""
            self.scroll_home(animate=False, immediate=True)
        is_path = "\n" not in text.plain[first:].rstrip()  # the last line, which names the file
        if first is not None and sought != self._revealed and not is_path:
            self.reveal(first)
        self._revealed = sought if first is not None else ""

    def reveal(self, at: int) -> None:
        """Scroll until a character of the text is visible; before the first layout, as soon as that is done."""
        self._to_reveal = at if not self.size.width else None
        line, top, height = max(0, bisect_right(self._starts, at) - 1), int(self.scroll_target_y), self.size.height
        if self._to_reveal is None and not top <= line < top + height:
            self.scroll_to(y=max(0, line - height // 2), animate=False, force=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """Return the lines that the text takes at this width: the height of a pane as high as its text."""
        return len(wrapped(self.text, width)[0]) if self.text is not None else 0

    def on_resize(self) -> None:
        self._wrap()

    def _wrap(self) -> None:
        width, height = self.size
        if self.text is None or not width:
            return
        before = self.lines
        if self.plain.count("\n") < height:
            self.lines, self._starts = wrapped(self.text, width)
        if self.plain.count("\n") >= height or len(self.lines) > height:
            self.lines, self._starts = wrapped(self.text, width - self.styles.scrollbar_size_vertical)
        painting.resize(self, len(self.lines))
        top = int(self.scroll_offset.y)
        for y in range(height):  # most lines are as before
            if before[top + y : top + y + 1] != self.lines[top + y : top + y + 1]:
                self.refresh(Region(0, y, width, 1))
        if self._to_reveal is not None:
            self.reveal(self._to_reveal)

    def action_half(self, direction: int) -> None:
        self.scroll_relative(y=direction * max(1, self.size.height // 2), animate=False)

    def action_edge(self, direction: int) -> None:
        (self.scroll_end if direction > 0 else self.scroll_home)(animate=False)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text, with the line breaks that are on the screen."""
        return selection.extract("\n".join(line.plain for line in self.lines)), "\n"

    def render_lines(self, crop: Region) -> list[Strip]:
        self._ink = painting.Ink(self.app.console, self.rich_style)
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        at = y + int(self.scroll_offset.y)
        if at >= len(self.lines):
            return Strip.blank(self.size.width, self._ink.base)
        text = self.lines[at]
        span = self.text_selection.get_span(at) if self.text_selection is not None else None
        if span is not None:
            start, end = span
            text = text.copy()
            style = self.screen.get_component_rich_style("screen--selection")
            text.stylize(style, start, len(text.plain) if end == -1 else end)
        strip = Strip(self._ink.segments(text)).adjust_cell_length(self.size.width, self._ink.base)
        return strip.apply_offsets(0, at)


def append_keys(text: Text, keys: Iterable[tuple[str, str]], *, read_only: bool) -> None:
    """Append a line for each action of (action id, words): its key and words; `read_only`: none that writes."""
    offered = [other for other in keys if not (read_only and keymap.get(other[0]).writes)]
    if not offered:
        return
    key_rows = [(keymap.key_of(action), words) for action, words in offered]
    wide = max(len(key) for key, _ in key_rows)
    text.append("\n")
    for key, words in key_rows:
        text.append(f"  {key:<{wide}}  ", style="bold").append(words + "\n", style="dim")


def wrapped(text: Text, width: int) -> tuple[list[Text], list[int]]:
    """Return the lines of a text wrapped to `width` cells, at least one, and where in the text each begins."""
    width = max(1, width)
    lines: list[Text] = []
    starts: list[int] = []
    at = 0
    for line in text.split("\n", allow_blank=True):
        length = len(line.plain)
        if cell_len(line.plain) <= width:
            lines.append(line)
            starts.append(at)
        else:
            cells = _indent(line)
            if width - cells < LEAST_CELLS:
                cells = 0
            broken = breaks(line.plain[cells:], width - cells)
            for number, part in enumerate((line[cells:] if cells else line).divide(broken)):
                part.rstrip()
                lines.append(Text.assemble(" " * cells if number else line[:cells], part) if cells else part)
                starts.append(at + (cells + broken[number - 1] if number else 0))
        at += length + 1
    return lines, starts


def _indent(line: Text) -> int:
    """Return how many characters the continuation of a line is indented by."""
    match = INDENT.match(line.plain)
    label = max((span.end for span in line.spans if span.start == 0 and span.end <= LONGEST_LABEL), default=0)
    return max(match.end() if match else 0, label if line.plain[label - 1 : label] == " " else 0)


def breaks(plain: str, width: int) -> list[int]:
    """Return the positions to break a line at: between words; a word that is too long after slashes, else anywhere."""
    pieces: list[str] = []
    for word in WORD.findall(plain):
        for part in PART.findall(word) if cell_len(word.rstrip()) > width else [word]:
            pieces += [part] if cell_len(part.rstrip()) <= width else chop_cells(part, width)
    places = []
    at = used = 0
    for piece in pieces:
        if used and used + cell_len(piece.rstrip()) > width:
            places.append(at)
            used = 0
        used += cell_len(piece)
        at += len(piece)
    return places
