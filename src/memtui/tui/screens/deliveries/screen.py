"""The deliveries screen: what the agent was told, why, and whether it arrived; live while sessions run."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.timer import Timer
from textual.widgets import Input

from memtui import actions
from memtui.core.base.phrasing import many
from memtui.core.client import projects
from memtui.core.deliveries.memory_counts import RecallCounts
from memtui.core.deliveries.reading import KEPT, PAGE, DeliveryRow, Reading, read
from memtui.core.deliveries.receipt_counts import ReceiptCounts
from memtui.core.deliveries.record import Item
from memtui.present import legend as marks
from memtui.present import unheard
from memtui.tui import key_bindings
from memtui.tui.screens.deliveries.counts import MemoryCounts, NeverDelivered, find_never_delivered
from memtui.tui.screens.deliveries.filters import Filters
from memtui.tui.screens.deliveries.plots import plots
from memtui.tui.screens.deliveries.reader import LogReader, RowsRead, SearchProgress, TitleFound
from memtui.tui.screens.deliveries.rows import IN_LOG, IN_SESSION, in_log, in_session
from memtui.tui.screens.deliveries.session import SessionHead, totals
from memtui.tui.screens.deliveries.summary import filtered, today
from memtui.tui.screens.deliveries.text import delivery_glance, delivery_text
from memtui.tui.screens.list_screen import Described, ListScreen
from memtui.tui.services import Command, Services
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.rows import ListMessage, RowList

# Older rows are read when so few are left below what is seen.
NEAR_END = 40
# Rows that are read of one session.
SESSION_ROWS = 5000
# Characters that are copied at most.
COPIED_MOST = 2_000_000
TICK_SECONDS = 1.0
# How long the typing rests before the log is searched.
TYPING_SECONDS = 0.2
EMPTY = """Nothing was delivered yet.
What sessions get is listed here: memories as they start, notes and drafts with their prompts.

{app.guide} writes a note: this project's next prompt gets it."""


class LogList(RowList[DeliveryRow]):
    """The list of deliveries: older ones may not be read yet."""

    class LastWanted(ListMessage):
        """The last row is wanted."""

    def action_edge(self, direction: int) -> None:
        """Move the cursor to the first (-1) or last (1) row; the last may have to be read."""
        super().action_edge(direction)
        if direction > 0:
            self.post_message(self.LastWanted(self))


class Deliveries(ListScreen[DeliveryRow]):
    """The screen: on the left the log, newest first; on the right the delivery under the cursor; a summary on top; or
    plots in place of all of it. One session (the filter names it) is listed from its beginning, below what it cost."""

    BINDINGS: ClassVar[list[BindingType]] = [*key_bindings.bindings("deliveries")]
    group: ClassVar[str] = "deliveries"
    legend: ClassVar[str] = marks.receipts()
    reads: ClassVar[frozenset[str]] = frozenset({"settings", "log", "memories", "receipts"})
    row_word: ClassVar[str] = "delivery"
    DEFAULT_CSS = """
    Deliveries #plots { display: none; }
    Deliveries.session SessionHead { display: block; }
    Deliveries.plots #panes { display: none; }
    Deliveries.plots #plots { display: block; height: 1fr; }
    """

    def __init__(self, services: Services) -> None:
        data = services.data
        self.receipts, self.reader = data.receipts, LogReader(data, self.post_message)
        table = LogList(IN_LOG, self._draw, lambda row: row.id, id="list")
        super().__init__(services, table, lambda row: row.id, placeholder="search delivered text")
        self.session_head = SessionHead()
        self.totals: dict[str, int] = {}
        self.projects: dict[str, str] = {}
        self.filters = Filters(services, self, self.read_again)
        self._back = ("", self.filters.wanted)
        self.plots = Detail(id="plots")
        self.reading: Reading | None = None
        self.never: list[tuple[str, str]] | None = None
        self.titles: dict[str, str] = {}
        self._filter_changed = self._to_first = self._to_last = self._reading_more = False
        self._typing_timer: Timer | None = None
        self.commands |= self.filters.commands() | {
            "deliveries.sessions": Command(self.show_sessions),
            "deliveries.lost": Command(self.filters.toggle_lost),
            "deliveries.plots": Command(self.toggle_plots),
            "deliveries.counts": Command(self.count_memories, self.filters.why_not_counted),
        }

    def body(self) -> ComposeResult:
        """Compose the summary, the lists, the filters, the detail and the plots."""
        yield self.summary_line
        with Horizontal(id="panes"):
            with Vertical(id="middle"):
                yield self.session_head
                yield self.table
                yield self.glance
                yield self.filter_line
            yield self.detail
        yield self.plots

    def on_mount(self) -> None:
        """Start with the filter of the last time. Check the scroll position each second: the wheel posts no message."""
        self.set_interval(TICK_SECONDS, self._scrolled)
        self.filters.restore()
        self._show_text()
        if self.filters.wanted:
            self.read_again()
        else:
            self._read_first()

    # reading

    def _read_first(self) -> None:
        """Read a screenful at once, to have it in the first paint; the rest follows in a worker."""
        found = self.reader.reading(self.filters.wanted)
        found.more(self.app.size.height, lambda _: False)
        self._filter_changed = True
        self.on_rows_read(RowsRead(found))
        self.call_after_refresh(self.read, found, PAGE, first=True)

    def read_again(self) -> None:
        """Read the log again from its end, with the current filter."""
        self.reading, self._to_last = None, False
        self._filter_changed = True
        self.summary_line.put(self.summary())
        self.read(None, SESSION_ROWS if self.of_session else PAGE)

    def reload(self) -> None:
        """Read what was appended to the log, and say how old the delivery under the cursor is by now."""
        if self.is_mounted and self.reading is not None:
            if not self.reading.rows:
                self.fill()  # whether the hooks are installed may be known only now
            else:
                self.show_detail()
            self._live(self.reading)

    def follow(self, parts: frozenset[str] | None) -> None:
        """Read what has changed. A new receipt only needs painting."""
        if parts == frozenset({"receipts"}):
            self.on_receipts_read()
        else:
            super().follow(parts)

    def refresh_ages(self) -> None:
        """Draw the summary again too: it is about today."""
        super().refresh_ages()
        if self.reading is not None:
            self.draw_sums()

    @work(thread=True, exclusive=True, group="read-log")
    def read(self, reading: Reading | None, count: int, *, first: bool = False, to_last: bool = False) -> None:
        """Read `count` more rows in a worker; of a new one if `reading` is None. `to_last`: the oldest is wanted."""
        wanted = reading or self.reader.reading(self.filters.wanted)
        self.reader.read(wanted, count, first=first, oldest_first=to_last)

    @on(LogList.LastWanted)
    def _read_to_last(self) -> None:
        """Read the log to its beginning, as far as rows are held, and move to the oldest."""
        reading = self.reading
        if reading is not None and not (reading.done or reading.full or self.of_session):
            self._to_last, self._reading_more = True, False
            self.read(reading, KEPT, to_last=True)

    @work(thread=True, exclusive=True, group="live")
    def _live(self, reading: Reading) -> None:
        self.reader.follow(reading)

    @work(thread=True, group="titles")
    def _find_title(self, row: DeliveryRow) -> None:
        self.reader.find_title(row)

    @work(thread=True, exclusive=True, group="never")
    def _find_never(self) -> None:
        self.post_message(NeverDelivered(find_never_delivered(self.services.data)))

    def _scrolled(self) -> None:
        """Read older rows when the cursor or the scroll position comes near the end of the list."""
        table, reading = self.table, self.reading
        if reading is None or reading.done or reading.full or self._reading_more or not self.is_current:
            return
        if self.of_session or self._to_last:
            return
        seen = max(table.cursor, int(table.scroll_offset.y) + table.size.height)
        if seen >= len(reading.rows) - NEAR_END:
            self._reading_more = True
            self.read(reading, max(PAGE, len(reading.rows)))

    # showing

    def on_rows_read(self, message: RowsRead) -> None:
        """Show the new rows, if they are of the current filter."""
        if message.reading.wanted == self.filters.wanted:
            self.reading, self._reading_more = message.reading, False
            self.fill()
            if self._to_last and (message.reading.done or message.reading.full):
                self._to_last = False
                self.table.move_to(len(self.table.rows) - 1)

    def on_log_replaced(self) -> None:
        """Read the new log."""
        self.read_again()

    def fill(self) -> None:
        """Show what was read. The cursor stays on its row, with two exceptions: on the newest row it moves to the new
        newest, unless the detail is in focus; and it moves to the first when a filter hides its row."""
        if self.reading is None:
            return
        table, session = self.table, self.of_session
        rows = self.reading.rows[::-1] if session else self.reading.rows
        at_newest = table.cursor == (len(table.rows) - 1 if session else 0) and not self.detail.has_focus
        self.found, self.totals = rows, totals(rows) if session else {}
        self.projects = projects.names_of_roots(self.services.data.env, {row.root for row in rows})
        self.set_class(bool(session), "session")
        table.columns = list(IN_SESSION if session else IN_LOG)
        table.empty = self.why_empty()
        here = table.row_id
        table.show(rows)
        if self._filter_changed:
            if self._to_first or here != table.row_id:
                table.move_to(0)
        elif at_newest:
            table.move_to(len(rows) - 1 if session else 0)
        self._filter_changed = self._to_first = False
        self.count()
        self.draw_sums()
        self.show_detail()

    def why_empty(self) -> str:
        """Return what an empty list says."""
        if not self.filters.wanted:
            words = EMPTY + unheard.paragraph(self.services.data.unheard())
            return actions.keyed(words, read_only=self.services.read_only)
        return "No matches.\nescape clears " + (
            "the last filter." if len(self.filters.in_words()) > 1 else "the filter."
        )

    def on_search_progress(self, message: SearchProgress) -> None:
        """Say how far a search is."""
        if self.reading is None or self._reading_more:
            self.tell(message.text)

    def on_receipts_read(self) -> None:
        """Paint the new receipts and statistics."""
        self.table.redraw()
        self.count()
        self.draw_sums()
        self.show_detail()

    def count(self) -> None:
        """Say on the right of the foot how many deliveries there are, as far as they are counted."""
        reading = self.reading
        if reading is None:
            return
        skipped = f" · {many(reading.skipped, 'torn line')}" if reading.skipped else ""
        full = f" · older ones: filter ({KEPT:,} are held)" if reading.full else ""
        noun = "delivery" if len(reading.rows) == 1 and reading.done else "deliveries"
        word = "match" if self.filters.wanted and not self._is_whole_session else noun
        self.tell(f"{self._how_many(reading)} {word}{skipped}{full}")

    def _how_many(self, reading: Reading) -> str:
        statistics, count = self.services.data.statistics, f"{len(reading.rows):,}"
        if reading.done:
            return count
        whole = statistics.ready and statistics.complete and not self.filters.wanted
        total = sum(day.deliveries for day in statistics.days.values())
        return f"{total:,}" if whole and total > len(reading.rows) else f"{count}+"

    def summary(self) -> Text:
        """Return what today adds up to, or what the filter lets through."""
        known, width, reading = self.receipts.known, self.size.width, self.reading
        words = self.filters.in_words()
        if not words:
            return today(self.services.data.statistics, known, width)
        by_outcome = reading is None or self.filters.wanted.outcome
        counts = ReceiptCounts.of(() if by_outcome else (known.get(row.id, "") for row in self.found))
        back = f"goes back to {self.came_from.title()}" if self.came_from else ""
        clear = back or f"clears {'the last' if len(words) > 1 else 'it'}"
        count = None if self._is_whole_session else self._how_many(reading) if reading else ""
        return filtered(words, count, counts, f"escape {clear}", width)

    def draw_sums(self) -> None:
        """Draw the summary, the lines above the session, and the plots."""
        statistics, known = self.services.data.statistics, self.receipts.known
        self.summary_line.put(self.summary())
        if self.of_session and self.found:
            width = self.size.width if self.has_class("narrow") else self.table.size.width
            self.session_head.draw(
                self.found, self.titles.get(self.of_session, ""), self.project_of(self.found[0]), width
            )
        if self.has_class("plots"):
            key = actions.key_of("deliveries.counts")
            self.plots.show("plots", plots(statistics, known, self.never, self.size.width - 4, key))

    def _draw(self, row: DeliveryRow) -> list[Text]:
        now, sought = self.services.data.now(), self.sought
        if row.id in self.totals:
            return in_session(row, self.totals[row.id], self.receipts, sought, now)
        return in_log(row, self.project_of(row), self.receipts, sought, now)

    def project_of(self, row: DeliveryRow) -> str:
        """Return the name of a row's project."""
        return self.projects.get(row.root, row.root)

    @property
    def sought(self) -> str:
        """The words of the filter, which are highlighted in the list and the detail."""
        return self.filters.wanted.text

    def describe(self, row: DeliveryRow) -> Described:
        """Return the detail of a row: the delivery, read from the log."""
        self._scrolled()
        found, outcome = read(row), self.receipts.known.get(row.id, "")
        if row.session not in self.titles:
            self.titles[row.session] = ""
            self._find_title(row)
        title = self.titles[row.session]
        statistics = self.services.data.statistics

        def recalls(item: Item) -> RecallCounts:
            return statistics.recalled(statistics.earlier.now(item.path, row.time))

        text = delivery_text(found, outcome, title, self.project_of(row), self.services.data.now(), recalls)
        return Described(text, *delivery_glance(found, outcome, title))

    def on_title_found(self, message: TitleFound) -> None:
        """Show the title of a session."""
        self.titles[message.session] = message.title
        self.on_receipts_read()

    def on_resize(self) -> None:
        """Draw the summary again: it depends on the width."""
        self.call_after_refresh(self.draw_sums)

    def copied(self) -> str:
        """Return the text of the delivery, all texts of the session whose list is in focus, or the plots."""
        if self.has_class("plots"):
            return self.plots.plain
        whole = self.of_session and self.table.has_focus
        rows = self.table.rows if whole else [self.table.row] if self.table.row else []
        texts = [found.text for row in rows if (found := read(row))]
        return "\n\n".join(text for text in texts if text)[:COPIED_MOST]

    # a session

    @property
    def of_session(self) -> str:
        """The session that the filter names: it is listed in the order of time; empty for none."""
        return self.filters.wanted.session

    @property
    def _is_whole_session(self) -> bool:
        """Whether all deliveries of one session are listed, counted in the lines above them."""
        return bool(self.of_session) and len(self.filters.in_words()) == 1

    def show_sessions(self) -> None:
        """Show the sessions, with the cursor on that of the delivery under the cursor."""
        row = self.table.row
        self.services.go("sessions").go_to(row.session if row is not None else "")

    # the plots, and the memories by deliveries

    def toggle_plots(self) -> None:
        """Show the plots, or go back to the list."""
        if self._leave_plots():
            return
        self.add_class("plots")
        self.plots.focus()
        self.draw_sums()
        self._find_never()

    def on_never_delivered(self, message: NeverDelivered) -> None:
        """Add the memories that were never delivered to the plots."""
        self.never = message.found
        self.draw_sums()

    async def count_memories(self) -> None:
        """Show the memories by how often they were delivered; go to the chosen one, or to its deliveries."""
        row = self.table.row
        data = self.services.data
        chosen = await self.services.ask(MemoryCounts(data, data.statistics.present(row) if row else set()))
        if chosen is not None:
            place, path = chosen
            if place == "memory":
                self.services.go_to_memory(path)
            else:
                self.services.show_deliveries(memory=path)

    # filters

    def want(self, *, came_from: str = "", **fields: str) -> None:
        """Replace the filter by one with these fields, and show the list from its first row. `came_from`: the screen
        that escape goes back to as long as this is the filter."""
        self.filters.replace(**fields)
        self._back = (came_from, self.filters.wanted)
        self._to_first = True
        if self.is_mounted:  # else `on_mount` reads
            self._show_text()
            self._leave_plots()
            self.remove_class("deep", "whole")
            self.table.focus()
            self.read_again()

    def _show_text(self) -> None:
        text = self.filters.wanted.text
        with self.prevent(Input.Changed):
            self.filter_line.value = text
        self.filter_line.set_class(bool(text), "shown")

    @on(Input.Changed, "#filter")
    def _typed(self, event: Input.Changed) -> None:
        """Search when the typing rests: each search reads the log again."""
        event.prevent_default()
        self._stop_typing()
        self._typing_timer = self.set_timer(TYPING_SECONDS, lambda: self.filters.set_fields(text=event.value.strip()))

    @on(Input.Submitted, "#filter")
    def _submitted(self, event: Input.Submitted) -> None:
        event.prevent_default()
        self._stop_typing()
        self.filters.set_fields(text=event.value.strip())
        event.input.set_class(bool(event.value.strip()), "shown")
        self.table.focus()

    def _stop_typing(self) -> None:
        if self._typing_timer is not None:
            self._typing_timer.stop()

    # back

    def escape_steps(self) -> Sequence[Callable[[], bool]]:
        """Return the steps of escape: leave the plots, the detail; go back to where the filter comes from; clear the
        last filter."""
        return (self._leave_plots, self.leave_detail, self._go_back, self.clear_filter)

    @property
    def came_from(self) -> str:
        """The screen that escape goes back to; empty if the filter is not the one that this was opened with."""
        screen, wanted = self._back
        return screen if wanted == self.filters.wanted else ""

    def _go_back(self) -> bool:
        screen = self.came_from
        if not screen:
            return False
        self.want()
        self.services.go(screen, back=True)
        return True

    def _leave_plots(self) -> bool:
        if not self.has_class("plots"):
            return False
        self.remove_class("plots")
        self.table.focus()
        return True

    def clear_filter(self) -> bool:
        """Clear the field of the filter that was set last."""
        self._stop_typing()
        shown = self.filter_line.has_class("shown")
        dropped = self.filters.drop_last()
        self._show_text()
        self.table.focus()
        return dropped or shown
