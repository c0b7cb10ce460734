"""A line of words on its own: the bars, what a screen answers first, how full the indexes are."""

from collections.abc import Sequence

from rich.text import Text
from textual import events
from textual.widgets import Static

from memtui.tui.services import services_of


class OneLine(Static):
    """It keeps its one row, so that another text needs no other layout. Its `pieces`, (start, end, action) each, can be
    clicked."""

    DEFAULT_CSS = "OneLine { height: 1; }"
    shown: Text | None = None
    pieces: Sequence[tuple[int, int, str]] = ()

    def put(self, text: Text) -> None:
        """Show a text, unless it stands there already."""
        if self.shown is None or text != self.shown or text.style != self.shown.style:
            self.shown = text
            self.update(text, layout=False)

    def on_click(self, event: events.Click) -> None:
        """Run the action that is written there."""
        found = next((action for start, end, action in self.pieces if start <= event.x < end), None)
        if found is not None:
            services_of(self).action_run(found)
