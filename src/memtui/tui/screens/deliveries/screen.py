"""Deliveries: what the agent was told, why, and whether it arrived; live while sessions run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.worker import get_current_worker

from memtui import actions
from memtui.core.base import paths
from memtui.core.base.phrasing import many
from memtui.core.client import titles, transcript
from memtui.core.deliveries.reading import KEPT, PAGE, DeliveryRow, Reading, Receipts, read
from memtui.core.deliveries.record import Delivery
from memtui.core.deliveries.sessions import CHARS_A_TOKEN
from memtui.present import safe_text
from memtui.present.deliveries import EVENTS, GLYPHS
from memtui.present.deliveries import what as brought
from memtui.tui.model import fuzzy
from memtui.tui.model.times import when
from memtui.tui.screens.deliveries.plots import plots, summary
from memtui.tui.screens.deliveries.text import delivery_glance, delivery_text
from memtui.tui.screens.deliveries.views import Views
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.field import Field
from memtui.tui.widgets.glance import Glance
from memtui.tui.widgets.line import OneLine
from memtui.tui.widgets.rows import Column, RowList

NEAR_END = 40
OPEN_LOOKED_AT = 2000
TICK_SECONDS = 1.0
EMPTY = """Nothing was delivered yet.
{app.guide} leaves guidance: a session gets it with its next prompt.
{app.health} shows whether the hooks are installed."""


@dataclass
class Shown(Message):
    """A reading holds more rows than before."""

    reading: Reading


@dataclass
class Progress(Message):
    """A word on how far a long search is."""

    text: str


class Proved(Message):
    """Receipts or counts are known that were not before."""


class Deliveries(Views):
    """The log on the left, newest first; the delivery under the cursor on the right; sums on top."""

    group: ClassVar[str] = "deliveries"
    reads: ClassVar[frozenset[str]] = frozenset({"settings", "log", "memories"})
    DEFAULT_CSS = """
    Deliveries #session-line, Deliveries #session-sums { padding: 0 1; display: none; }
    Deliveries #session { display: none; }
    Deliveries #plots { display: none; }
    Deliveries.session #session, Deliveries.session #session-line, Deliveries.session #session-sums { display: block; }
    Deliveries.session #list { display: none; }
    Deliveries.plots #panes { display: none; }
    Deliveries.plots #plots { display: block; height: 1fr; }
    """

    def body(self) -> ComposeResult:
        """The sums, the list or a session, the filters, the detail; or the plots over all of it."""
        yield OneLine(id="summary")
        with Horizontal(id="panes"):
            with Vertical(id="middle"):
                yield RowList[DeliveryRow](
                    [
                        Column("time", 9),
                        Column("sess", 4, from_width=34),
                        Column("event", 6, from_width=44),
                        Column("what"),
                        Column("project", 12, from_width=84),
                        Column("chars", 6, right=True, from_width=50),
                        Column("ms", 4, right=True, from_width=58),
                        Column("", 1),
                    ],
                    self._draw,
                    lambda row: row.id,
                    empty=actions.keyed(EMPTY),
                    id="list",
                )
                yield OneLine(id="session-line")
                yield OneLine(id="session-sums")
                yield RowList[tuple[DeliveryRow, int]](
                    [
                        Column("time", 9),
                        Column("event", 6, from_width=40),
                        Column("what"),
                        Column("chars", 6, right=True),
                        Column("tokens", 6, right=True, from_width=64),
                        Column("in all", 7, right=True, from_width=56),
                        Column("ms", 4, right=True, from_width=50),
                        Column("", 1),
                    ],
                    self._draw_in_session,
                    lambda pair: pair[0].id,
                    empty="This session was given nothing.",
                    id="session",
                )
                yield Glance(id="glance")
                yield Field(placeholder="words of the delivered text", id="filter")
                yield OneLine(id="line")
            yield Detail(id="detail")
        yield Detail(id="plots")

    def on_mount(self) -> None:
        """Start in the list, and look at open receipts every second."""
        super().on_mount()
        data = self.main.data
        self.proofs = Receipts(data.env, data.now)
        self.tally = data.tally
        self.table.focus()
        self.set_interval(TICK_SECONDS, self._tick)
        self.as_left()
        if self.wanted.words():
            self.read_anew()
        else:
            self._read_first()

    # reading

    def _read_first(self) -> None:
        """Read a screenful here: it stands there with the first picture. All else comes after."""
        found = Reading(self.main.data.root, self.wanted, self.proofs)
        found.more(self.app.size.height, lambda _: False)
        self._anew = True
        self.on_shown(Shown(found))
        self.call_after_refresh(self.read, found, PAGE, first=True)

    def read_anew(self) -> None:
        """Read the log from its end, by the filter that holds."""
        self.reading = None
        self._anew = True
        self.read(None, PAGE)

    def reload(self) -> None:
        """The log has grown, or may have."""
        if self.is_mounted and self.reading is not None:
            self._live(self.reading, self.session)

    def aged(self) -> None:
        """Also in the detail, and of the day."""
        super().aged()
        if self.reading is not None:
            self.show_detail()
            self.sums()

    @work(thread=True, exclusive=True, group="read-log")
    def read(self, reading: Reading | None, count: int, *, first: bool = False) -> None:
        """Read on in a worker, then look up the receipts, then count."""
        worker = get_current_worker()
        found = reading or Reading(self.main.data.root, self.wanted, self.proofs)

        def go(lines: int) -> bool:
            self.post_message(Progress(f"{lines:,} lines read"))
            return not worker.is_cancelled

        before = 0 if first else len(found.rows)
        found.more(count, go)
        if worker.is_cancelled:
            return
        self.post_message(Shown(found))
        self._look_up(found.rows[before:])
        if not self.tally.ready:
            self._count(go)

    @work(thread=True, exclusive=True, group="live")
    def _live(self, reading: Reading, session: Reading | None) -> None:
        for each in (reading, session):
            fresh = each.fresh() if each else []
            if fresh is None:
                self.app.call_from_thread(self.read_anew)
                return
            if fresh and each:
                self.post_message(Shown(each))
                self._look_up(fresh)
        if self.tally.ready:
            self._count(lambda _: True)

    def _count(self, go: "object") -> None:
        assert callable(go)
        if self.tally.count(go):
            self._look_up(self.tally.recent)
            self.post_message(Proved())

    def _look_up(self, rows: Sequence[DeliveryRow | Delivery]) -> None:
        """Receipts, some at a time, so that the newest are told first."""
        for start in range(0, len(rows), 50):
            if get_current_worker().is_cancelled:
                return
            if self.proofs.look(rows[start : start + 50]):
                self.post_message(Proved())

    @work(thread=True, exclusive=True, group="waiting")
    def _look_again(self, rows: list[DeliveryRow]) -> None:
        if self.proofs.look(rows):
            self.post_message(Proved())

    def _tick(self) -> None:
        if self.app.screen is not self or self.reading is None:
            return
        rows = [row for row in self.reading.rows[:OPEN_LOOKED_AT] if row.id in self.proofs.known]
        waiting = [row for row in rows if self.proofs.open(row)]
        if waiting:
            self._look_again(waiting)
        self._scrolled()

    def _scrolled(self) -> None:
        """Read older ones when the end of the list comes near, by keys or by wheel."""
        table, reading = self.table, self.reading
        if reading is None or reading.done or reading.full or self._more:
            return
        seen = max(table.cursor, int(table.scroll_offset.y) + table.size.height)
        if seen >= len(reading.rows) - NEAR_END:
            self._more = True
            self.read(reading, max(PAGE, len(reading.rows)))

    # showing

    def on_shown(self, message: Shown) -> None:
        """More rows are there."""
        if message.reading is self.session:
            self.show_session()
            return
        if message.reading.wanted != self.wanted:
            return
        self.reading = message.reading
        self._more = False
        words = self.wanted.words()
        self.table.empty = "Nothing fits.\nescape takes the last filter away." if words else actions.keyed(EMPTY)
        self._put(message.reading.rows)
        self._status()
        self.show_detail()

    def _put(self, rows: list[DeliveryRow]) -> None:
        """The cursor stays on its row. On the newest it goes with the newest, unless that is being read; and where a
        filter took its row away it is on the newest."""
        table = self.table
        here, newest = table.row_id, table.cursor == 0 and not self.query_one("#detail", Detail).has_focus
        table.show(rows)
        if newest or (self._anew and here != table.row_id):
            table.move_to(0)
        self._anew = False

    def on_progress(self, message: Progress) -> None:
        """How far a search is."""
        if self.reading is None or self._more:
            self.tell(message.text)

    def on_proved(self) -> None:
        """Receipts or counts came."""
        self.table.redraw()
        self.in_session.redraw()
        self.sums()
        self.show_detail()

    def _status(self) -> None:
        reading = self.reading
        if reading is None:
            return
        count = f"{len(reading.rows):,}" + ("" if reading.done else "+")
        skipped = f" · {many(reading.skipped, 'torn line')}" if reading.skipped else ""
        full = f" · older ones: filter ({KEPT:,} are held)" if reading.full else ""
        self.tell(f"{count} {'fit' if self.wanted.words() else 'deliveries'}{skipped}{full}")
        self.query_one("#line", OneLine).put(self.filter_line())
        self.sums()

    def sums(self) -> None:
        """Draw the summary, what is told of the session, the plots."""
        self.query_one("#summary", OneLine).put(summary(self.tally, self.proofs.known, self.size.width))
        self.session_sums()
        if self.has_class("plots"):
            width = self.size.width - 4
            key = actions.key_of("deliveries.counts")
            text = plots(self.tally, self.proofs.known, self.never, width, key)
            self.query_one("#plots", Detail).show("plots", text)

    def _draw(self, row: DeliveryRow) -> list[Text]:
        what = Text(safe_text.line(brought(row.contents), 200), style="" if row.injected else "dim")
        for start, end in fuzzy.spans(what.plain, self.wanted.kind.replace("-", " ")):
            what.stylize("bold", start, end)
        return [
            Text(when(row.time, self.main.data.now()), style="dim"),
            Text(safe_text.line(row.session[:4], 4), style="dim"),
            Text(safe_text.line(EVENTS.get(row.event, row.event), 20), style="dim"),
            what,
            Text(safe_text.line(row.where, 40), style="dim"),
            Text(f"{row.chars:,}" if row.chars else "", style="dim"),
            Text(f"{row.ms:.0f}" if row.ms is not None else "", style="dim"),
            self._glyph(row),
        ]

    def _glyph(self, row: DeliveryRow) -> Text:
        glyph, style = GLYPHS.get(self.proofs.known.get(row.id, ""), (" ", ""))
        return Text(glyph, style=style)

    def _draw_in_session(self, pair: tuple[DeliveryRow, int]) -> list[Text]:
        row, chars = pair
        time, _, event, what, _, own, ms, glyph = self._draw(row)
        tokens = Text(f"{row.chars // CHARS_A_TOKEN:,}", style="dim")
        return [time, event, what, own, tokens, Text(f"{chars:,}", style="dim"), ms, glyph]

    @on(RowList.Moved, "#list")
    @on(RowList.Moved, "#session")
    def show_detail(self) -> None:
        """The delivery under the cursor, read from the log."""
        row = self.row
        detail, glance = self.query_one("#detail", Detail), self.query_one(Glance)
        if row is None:
            detail.show("", Text("Nothing is chosen.", style="dim"))
            glance.show(Text())
            return
        found = read(row)
        title = self._title(row)
        outcome = self.proofs.known.get(row.id, "")
        detail.show(row.id, delivery_text(found, outcome, title, self.main.data.now()))
        glance.show(*delivery_glance(found, outcome, title))
        self._scrolled()

    def do_deliveries_whole(self) -> None:
        """The delivery over the whole screen."""
        self.add_class("deep", "whole")
        self.query_one("#detail", Detail).focus()

    def _title(self, row: DeliveryRow) -> str:
        if row.session not in self.titles:
            self.titles[row.session] = ""
            self._find_title(row)
        return self.titles[row.session]

    @work(thread=True, group="titles")
    def _find_title(self, row: DeliveryRow) -> None:
        path = transcript.path_of(row.record, paths.config_dir(self.main.data.env))
        found = titles.first_words(path) if path else ""
        if found:
            self.titles[row.session] = found
            self.post_message(Proved())
