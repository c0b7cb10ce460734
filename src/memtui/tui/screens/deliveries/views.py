"""The other views of the deliveries: a whole session in order, and the plots; how one comes back from them."""

import time
from typing import ClassVar

from rich.text import Text
from textual import on, work

from memtui.core.base.phrasing import many, short
from memtui.core.deliveries.filter import Filter
from memtui.core.deliveries.reading import DeliveryRow, Reading, read
from memtui.core.deliveries.sessions import CHARS_A_TOKEN
from memtui.present import safe_text
from memtui.present.deliveries import GLYPHS
from memtui.tui.screens.deliveries.counts import Counts, never_told
from memtui.tui.screens.deliveries.filters import Filters
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.line import OneLine
from memtui.tui.widgets.rows import RowList

NARROW = 100
SESSION_ROWS = 5000
COPIED_MOST = 2_000_000


class Views(Filters):
    """A session, the plots, one pane or two."""

    views: ClassVar[tuple[str, ...]] = ("session", "plots")

    def __init__(self) -> None:
        super().__init__()
        self.reading: Reading | None = None
        self.session: Reading | None = None
        self.never: list[tuple[str, str]] | None = None
        self._anew = False
        self.titles: dict[str, str] = {}
        self._more = False

    @property
    def table(self) -> RowList[DeliveryRow]:
        """The log."""
        return self.query_one("#list", RowList)

    @property
    def in_session(self) -> RowList[tuple[DeliveryRow, int]]:
        """What one session was given."""
        return self.query_one("#session", RowList)

    @property
    def row(self) -> DeliveryRow | None:
        """The delivery under the cursor."""
        if self.has_class("session"):
            pair = self.in_session.row
            return pair[0] if pair else None
        return self.table.row

    def focus_list(self) -> None:
        """Put the focus on the list that is shown."""
        (self.in_session if self.has_class("session") else self.table).focus()

    def to_list(self) -> None:
        """Out of the plots, a session, a delivery."""
        self.remove_class("plots", "session", "deep", "whole")
        self.session = None
        self.focus_list()

    def sums(self) -> None:
        """Draw the summary, what is told of the session, the plots."""
        raise NotImplementedError

    def show_detail(self) -> None:
        """The delivery under the cursor."""
        raise NotImplementedError

    def read(self, reading: Reading | None, count: int) -> object:
        """Read on in a worker."""
        raise NotImplementedError

    def why_not(self, action_id: str) -> str:
        """What needs a delivery, or the counts."""
        if action_id == "deliveries.whole_session" and self.row is None:
            return "There is no delivery under the cursor."
        if action_id == "deliveries.whole" and self.row is None:
            return "There is no delivery under the cursor."
        counted = {"deliveries.session", "deliveries.project", "deliveries.memory", "deliveries.counts"}
        if action_id in counted and not self.tally.ready:
            return "The log is still being counted: try again in a moment."
        return ""

    # a session

    def do_deliveries_whole_session(self) -> None:
        """Everything that the session under the cursor was given, in order."""
        row = self.row
        if row is None:
            return
        self.session = Reading(self.main.data.root, Filter(session=row.session), self.proofs)
        self.set_class(False, "plots")
        self.add_class("session")
        self.in_session.show([])
        self.in_session.focus()
        self.read(self.session, SESSION_ROWS)

    def show_session(self) -> None:
        """Put what was read of the session into its list, oldest first, with the characters up to there."""
        if self.session is None:
            return
        rows = [row for row in reversed(self.session.rows) if row.injected]
        at = self.row.id if self.has_class("session") and self.row else self.table.row_id
        chars = 0
        pairs = []
        for row in rows:
            chars += row.chars
            pairs.append((row, chars))
        self.in_session.show(pairs)
        place = next((number for number, (row, _) in enumerate(pairs) if row.id == at), None)
        if place is not None:
            self.in_session.move_to(place)
        self.sums()
        self.show_detail()

    def session_sums(self) -> None:
        """One or two lines on a session: what it is about, and what it cost."""
        if self.session is None or not self.has_class("session"):
            return
        rows = [row for row, _ in self.in_session.rows]
        name = self.session.wanted.session
        width = self.size.width if self.has_class("narrow") else self.query_one("#middle").size.width
        start = Text(f"session {safe_text.line(name[:8])}", style="bold", no_wrap=True, overflow="ellipsis", end="")
        end = Text(style="dim", end="")
        if rows:
            end.append(f"  {safe_text.line(rows[0].where, 20)}  {_span(rows)}")
        room = width - start.cell_len - end.cell_len - 6
        title = Text(safe_text.line(self.titles.get(name, ""), 200), end="")
        if title.plain and room > 4:
            title.truncate(room, overflow="ellipsis")
            start.append_text(Text.assemble(" “", title, "”"))
        start.append_text(end)
        self.query_one("#session-line", OneLine).put(start)
        self.query_one("#session-sums", OneLine).put(self._cost(rows, width))

    def _cost(self, rows: list[DeliveryRow], width: int) -> Text:
        """What a session's deliveries add up to, in as many words as there is room for."""
        chars = sum(row.chars for row in rows)
        hooks = sum(row.ms or 0.0 for row in self.session.rows) if self.session else 0.0
        tokens = chars // CHARS_A_TOKEN
        counts: dict[str, int] = {}
        for row in rows:
            outcome = self.proofs.known.get(row.id, "")
            counts[outcome] = counts.get(outcome, 0) + 1
        end = Text(end="")
        for outcome, (glyph, style) in GLYPHS.items():
            if counts.get(outcome):
                end.append(f" {counts[outcome]} {glyph}", style=style)
        deliveries = many(len(rows), "delivery", "deliveries")
        told, cost = short(chars), f"{hooks:,.0f} ms"
        ways = (
            f"{deliveries} · {told} characters, some {tokens:,} tokens · {cost} in hooks",
            f"{deliveries} · {told} chars, {tokens:,} tokens · {cost} in hooks",
            f"{len(rows)} · {told} chars, {tokens:,} tokens · {cost} in hooks",
            f"{len(rows)} · {told} ~{tokens:,} tok · {cost}",
        )
        whole = next((way for way in ways if len(way) + end.cell_len <= width - 2), ways[-1])
        return Text.assemble(whole, end, no_wrap=True, overflow="ellipsis", end="")

    # the plots

    def do_deliveries_plots(self) -> None:
        """The plots, or back to the list."""
        if self.has_class("plots"):
            self.remove_class("plots")
            self.focus_list()
            return
        self.add_class("plots")
        self.query_one("#plots", Detail).focus()
        self.sums()
        self._seek_never()

    @work(thread=True, exclusive=True, group="never")
    def _seek_never(self) -> None:
        self.never = never_told(self.main.data)
        self.app.call_from_thread(self.sums)

    def do_deliveries_counts(self) -> None:
        """The memories by how often they were delivered: to one of them, or to its deliveries."""

        def then(chosen: tuple[str, str] | None) -> None:
            if chosen is not None:
                what, path = chosen
                if what == "memory":
                    self.main.go_to_memory(path)
                else:
                    self.main.show_deliveries(memory=path)

        self.app.push_screen(Counts(self.main.data, set(self.row.files) if self.row else set()), then)

    # coming back

    @on(RowList.Opened, "#list")
    @on(RowList.Opened, "#session")
    def do_deliveries_open(self) -> None:
        """The delivery: over the list on a narrow screen, else to the right."""
        self.add_class("deep")
        self.query_one("#detail", Detail).focus()

    def on_resize(self) -> None:
        """One pane or two."""
        self.set_class(self.size.width < NARROW, "narrow")
        super().on_resize()
        self.call_after_refresh(self.sums)

    def key_escape(self) -> None:
        """Back: from the plots, from the delivery to the list, from a session to all, from a filter to everything."""
        if self.has_class("plots"):
            self.do_deliveries_plots()
        elif self.query_one("#detail", Detail).has_focus or self.has_class("deep"):
            self.remove_class("deep", "whole")
            self.focus_list()
        elif self.has_class("session"):
            self.remove_class("session")
            self.session = None
            self.table.focus()
            self.sums()
            self.show_detail()
        else:
            self.clear_filter()

    def copied(self) -> str:
        """What y copies: the text of the delivery, all texts of a session, or the plots."""
        if self.has_class("plots"):
            return self.query_one("#plots", Detail).plain
        rows = [row for row, _ in self.in_session.rows] if self._whole() else [self.row] if self.row else []
        texts = [found.text for row in rows if (found := read(row))]
        return "\n\n".join(text for text in texts if text)[:COPIED_MOST]

    def _whole(self) -> bool:
        return self.has_class("session") and self.in_session.has_focus


def _span(rows: list[DeliveryRow]) -> str:
    first, last = time.localtime(rows[0].time), time.localtime(rows[-1].time)
    end = time.strftime("%H:%M" if first[:3] == last[:3] else "%d %b %H:%M", last)
    return f"{time.strftime('%d %b %H:%M', first)} to {end}"
