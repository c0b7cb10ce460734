"""The pane with the deliveries of one session, and above them two lines: what it is about, and what it cost."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical

from memtui.core.base.phrasing import many, short
from memtui.core.deliveries.reading import DeliveryRow, Reading, Receipts
from memtui.core.deliveries.sessions import CHARS_A_TOKEN
from memtui.present import safe_text
from memtui.present.deliveries import GLYPHS
from memtui.tui.screens.deliveries.rows import IN_SESSION, in_session
from memtui.tui.widgets.line import OneLine
from memtui.tui.widgets.rows import RowList


class SessionPane(Vertical):
    """The pane. It shows the deliveries in `reading`, oldest first; no session if that is None."""

    DEFAULT_CSS = """
    SessionPane { display: none; }
    SessionPane OneLine { padding: 0 1; }
    """

    def __init__(self, receipts: Receipts, now: Callable[[], float]) -> None:
        super().__init__(id="session-pane")
        self.receipts = receipts
        self.reading: Reading | None = None
        self.so_far: dict[str, int] = {}
        self.about, self.cost = OneLine(id="session-line"), OneLine(id="session-sums")
        self.table = RowList[DeliveryRow](
            IN_SESSION,
            lambda row: in_session(row, self.so_far.get(row.id, 0), receipts, now()),
            lambda row: row.id,
            empty="This session was given nothing.",
            id="session",
        )

    def compose(self) -> ComposeResult:
        """Compose the two lines and the list."""
        yield self.about
        yield self.cost
        yield self.table

    def show(self, reading: Reading | None, at: str = "") -> None:
        """Show what was read of a session, with the cursor on the delivery with the id `at`."""
        self.reading = reading
        rows = [row for row in reversed(reading.rows) if row.injected] if reading else []
        self.so_far = dict(zip([row.id for row in rows], accumulate(row.chars for row in rows), strict=True))
        self.table.show(rows)
        place = next((number for number, row in enumerate(rows) if row.id == at), None)
        if place is not None:
            self.table.move_to(place)

    def draw_sums(self, title: str, width: int) -> None:
        """Draw the two lines in `width` cells. `title`: what the session is about."""
        if self.reading is None:
            return
        rows = self.table.rows
        start = Text(f"session {safe_text.line(self.reading.wanted.session[:8])}", style="bold", end="")
        start.no_wrap, start.overflow = True, "ellipsis"
        end = Text(style="dim", end="")
        if rows:
            end.append(f"  {safe_text.line(rows[0].where, 20)}  {_span(rows)}")
        room = width - start.cell_len - end.cell_len - 6
        words = Text(safe_text.line(title, 200), end="")
        if words.plain and room > 4:
            words.truncate(room, overflow="ellipsis")
            start.append_text(Text.assemble(" “", words, "”"))
        start.append_text(end)
        self.about.put(start)
        self.cost.put(self._cost(rows, sum(row.ms or 0.0 for row in self.reading.rows), width))

    def _cost(self, rows: Sequence[DeliveryRow], ms: float, width: int) -> Text:
        """Return the sums of the deliveries, in as many words as fit."""
        chars = sum(row.chars for row in rows)
        tokens = chars // CHARS_A_TOKEN
        counts = Counter(self.receipts.known.get(row.id, "") for row in rows)
        end = Text(end="")
        for outcome, (glyph, style) in GLYPHS.items():
            if counts[outcome]:
                end.append(f" {counts[outcome]} {glyph}", style=style)
        deliveries = many(len(rows), "delivery", "deliveries")
        size, cost = short(chars), f"{ms:,.0f} ms"
        wordings = (
            f"{deliveries} · {size} characters, some {tokens:,} tokens · {cost} in hooks",
            f"{deliveries} · {size} chars, {tokens:,} tokens · {cost} in hooks",
            f"{len(rows)} · {size} chars, {tokens:,} tokens · {cost} in hooks",
            f"{len(rows)} · {size} ~{tokens:,} tok · {cost}",
        )
        whole = next((each for each in wordings if len(each) + end.cell_len <= width - 2), wordings[-1])
        return Text.assemble(whole, end, no_wrap=True, overflow="ellipsis", end="")


def _span(rows: Sequence[DeliveryRow]) -> str:
    first, last = time.localtime(rows[0].time), time.localtime(rows[-1].time)
    end = time.strftime("%H:%M" if first[:3] == last[:3] else "%d %b %H:%M", last)
    return f"{time.strftime('%d %b %H:%M', first)} to {end}"
