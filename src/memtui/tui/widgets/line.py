"""A line of words on its own: the bars, what a screen answers first, how full the indexes are."""

from rich.text import Text
from textual.widgets import Static


class OneLine(Static):
    """It keeps its one row, so that another text needs no other layout."""

    DEFAULT_CSS = "OneLine { height: 1; }"
    shown: Text | None = None

    def put(self, text: Text) -> None:
        """Show a text, unless it stands there already."""
        if self.shown is None or text != self.shown or text.style != self.shown.style:
            self.shown = text
            self.update(text, layout=False)
