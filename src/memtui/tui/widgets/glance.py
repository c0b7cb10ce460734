"""A preview below a list, for screens too narrow for a detail pane: the beginning of what is under the cursor."""

from rich.text import Text
from textual.widgets import Static

# Characters of the text that are wrapped: a few lines never need more.
LONGEST = 4000


class Glance(Static):
    """A preview: as much of `text` as there is room for, then all of `tail`. A cut `text` ends with the
    key that shows the rest."""

    DEFAULT_CSS = "Glance { display: none; height: 40%; padding: 0 1; }"
    text = Text()
    tail = Text()

    def show(self, text: Text, tail: Text | None = None) -> None:
        """Show a text and the lines after it."""
        self.text, self.tail = text, tail or Text()
        self._draw()

    def on_resize(self) -> None:
        """Wrap the text to the new width."""
        self._draw()

    def _draw(self) -> None:
        width, height = self.content_size
        if not width or not height:
            return
        console = self.app.console
        lines = list(self.text[:LONGEST].wrap(console, width, tab_size=4)) if self.text else []
        ends = list(self.tail.wrap(console, width)) if self.tail else []
        room = max(1, height - 1 - len(ends))
        if len(lines) > room:
            lines = [*lines[: room - 1], Text("… enter reads the rest", "dim")]
        gap = [Text()] if ends and len(lines) < room else []
        for line in (lines := [Text(), *lines, *gap, *ends][:height]):
            line.rstrip()
            line.truncate(width, overflow="ellipsis")
        self.update(Text("\n").join(lines), layout=False)
