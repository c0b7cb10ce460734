"""The two lines above the deliveries of one session: what it is about, and what it cost."""

import time
from collections.abc import Sequence
from itertools import accumulate

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical

from memtui.core.base.phrasing import many, short
from memtui.core.deliveries.reading import DeliveryRow
from memtui.core.deliveries.record import CHARS_A_TOKEN
from memtui.present import safe_text
from memtui.tui.screens.deliveries.summary import first_that_fits
from memtui.tui.widgets.line import OneLine


class SessionHead(Vertical):
    """The two lines."""

    DEFAULT_CSS = """
    SessionHead { display: none; height: auto; }
    SessionHead OneLine { padding: 0 1; }
    """

    def __init__(self) -> None:
        super().__init__(id="session-head")
        self.about, self.cost = OneLine(id="session-line"), OneLine(id="session-sums")

    def compose(self) -> ComposeResult:
        """Compose the two lines."""
        yield self.about
        yield self.cost

    def draw(self, rows: Sequence[DeliveryRow], title: str, project: str, width: int) -> None:
        """Draw the lines in `width` cells, for a session, oldest first. `title`: what it is about; `project`: its
        name."""
        if rows:
            self.about.put(_about(rows, title, project, width))
            self.cost.put(_cost(rows, width))


def totals(rows: Sequence[DeliveryRow]) -> dict[str, int]:
    """Return by the id of each delivery how many characters it and those before it have. `rows`: oldest first."""
    return dict(zip([row.id for row in rows], accumulate(row.chars for row in rows), strict=True))


def _about(rows: Sequence[DeliveryRow], title: str, project: str, width: int) -> Text:
    """Return the title, or the id of a session without one; the project; from when to when it was told something."""
    end = Text(f"  {safe_text.line(project, 30)}  {_span(rows)}", style="dim", end="")
    words = Text(safe_text.line(f"“{title}”" if title else f"session {rows[0].session[:8]}", 200), "bold", end="")
    words.truncate(max(10, width - end.cell_len - 2), overflow="ellipsis")
    return Text.assemble(words, end, no_wrap=True, overflow="ellipsis", end="")


def _cost(rows: Sequence[DeliveryRow], width: int) -> Text:
    """Return the sums of the deliveries, in as many words as fit."""
    chars, ms = sum(row.chars for row in rows), sum(row.ms or 0.0 for row in rows)
    deliveries = many(len(rows), "delivery", "deliveries")
    tokens, hooks = f"about {chars // CHARS_A_TOKEN:,} tokens", f"{ms:,.0f} ms in hooks"
    wordings = (
        f"{deliveries} · {short(chars)} characters, {tokens} · {hooks}",
        f"{deliveries} · {tokens} · {hooks}",
        f"{deliveries} · {tokens}",
    )
    return first_that_fits([[(each, "")] for each in wordings], width)


def _span(rows: Sequence[DeliveryRow]) -> str:
    first, last = time.localtime(rows[0].time), time.localtime(rows[-1].time)
    end = time.strftime("%H:%M" if first[:3] == last[:3] else "%d %b %H:%M", last)
    return f"{time.strftime('%d %b %H:%M', first)} to {end}"
