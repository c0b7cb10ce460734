"""A preview below a list, for screens too narrow for a detail pane: the beginning of what is under the cursor, below
a rule with its title."""

import math
from bisect import bisect_right

from rich.text import Text
from textual.widgets import Static

from memtui.tui.model import fuzzy
from memtui.tui.widgets.wrapping import wrapped

# Characters of the text that are wrapped: a few lines never need more.
LONGEST = 4000


def preview(text: Text, width: int, room: int, first: int | None) -> list[Text]:
    """Return the wrapped lines of a text: from its beginning, or, if the character `first` has no place in `room` lines
    there, from the line before it; from one further up where fewer lines follow than there is room for."""
    begin = 0 if first is None or first < LONGEST else max(text.plain.rfind("\n", 0, first) + 1, first - LONGEST // 2)
    lines, starts = wrapped(text[begin : begin + LONGEST], width) if text else ([], [])
    at = 0 if first is None else bisect_right(starts, first - begin) - 1
    before = [Text("…", "dim")][: room - 1]
    if at >= room:
        return before + lines[max(0, min(at - (room > 2), len(lines) - room + len(before))) :]
    return before + lines if begin else lines


def cut(lines: list[Text], room: int, width: int) -> list[Text]:
    """Return the first `room` lines; the last of them says with `…` that more follow."""
    if len(lines) <= room:
        return lines
    last = lines[room - 1].copy()
    last.rstrip()
    last.append("…", "dim")
    last.truncate(width, overflow="ellipsis")
    return [*lines[: room - 1], last]


class Glance(Static):
    """A preview: as much of `text` as there is room for, then all of `tail`. It begins at the first match with the
    words `sought`, at the top if the title above it has one."""

    DEFAULT_CSS = "Glance { display: none; height: 7; padding: 0 1; }"
    text = Text()
    tail = Text()
    seen = 0.0  # how many lines of the text, from its beginning, were drawn last; infinite if all were
    _first: int | None = None

    def show(self, text: Text, tail: Text | None = None, sought: str = "", title: str = "") -> None:
        """Show a text, with what matches `sought` highlighted, and the lines after it."""
        self.text, self.tail = text, tail or Text()
        self.tail.rstrip()
        first = fuzzy.mark_long(text, sought)
        self._first = first if fuzzy.mark_long(Text(title), sought) is None else None
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        width, height = self.content_size
        if not width or not height:
            return
        ends = wrapped(self.tail, width)[0] if self.tail else []
        room = max(1, height - len(ends))
        lines = preview(self.text, width, room, None)
        fits = len(lines) <= room and len(lines) + len(ends) <= height and len(self.text) <= LONGEST
        self.seen = math.inf if fits else 0 if self._first is not None else room - 1
        if not fits:
            lines = cut(preview(self.text, width, room, self._first), room, width)
        gap = [Text()] if ends and len(lines) < room else []
        for line in (texts := [*lines, *gap, *ends][:height]):
            line.rstrip()
            line.truncate(width, overflow="ellipsis")
        self.update(Text("\n").join(texts), layout=False)
