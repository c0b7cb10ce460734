"""A widget of one line of text: for the bars, the summary of a screen, the fill level of the indexes."""

import re
from collections.abc import Sequence

from rich.text import Text
from textual import events
from textual.widgets import Static

from memtui.tui.services import services_of


class OneLine(Static):
    """A line one row high. A click on one of its `pieces` (start cell, end cell, action id) runs the action."""

    DEFAULT_CSS = "OneLine { height: 1; }"
    shown: Text | None = None
    pieces: Sequence[tuple[int, int, str]] = ()

    def put(self, text: Text) -> None:
        if self.shown is None or text != self.shown or text.style != self.shown.style:
            self.shown = text
            self.update(text, layout=False)

    def on_click(self, event: events.Click) -> None:
        action_name = next((action for start, end, action in self.pieces if start <= event.x < end), None)
        if action_name is not None:
            services_of(self).action_run(action_name)


def fitting(text: Text, width: int) -> Text:
    """Return as many whole facts of a text, ` · ` between them, as fit into `width` cells, at least its first words."""
    if text.cell_len <= width:
        return text
    ends = [match.start() for match in re.finditer(" · ", text.plain)]
    end = next((end for end in reversed(ends) if text[:end].cell_len <= width), -1)
    if end < 0:
        blanks = [match.start() for match in re.finditer(" ", text.plain)]
        end = next((end for end in reversed(blanks) if text[:end].cell_len < width), -1)
        return text[:end].append("…") if end > width // 2 else text  # a long path is cut where the line ends
    return text[:end]
