"""Activity: the notes that wait, then the sessions, newest first, with what each got, why, and whether it arrived."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType

from memtui import actions
from memtui.base.phrasing import many
from memtui.deliver.log_queries import KEPT, PAGE, Reading
from memtui.deliver.receipts import ARRIVED
from memtui.deliver.sessions import Session
from memtui.tui.screens.activity import rows
from memtui.tui.screens.activity.commands import NoteCommands
from memtui.tui.screens.activity.listing import FIELDS, IS_LOST, Listing
from memtui.tui.screens.activity.plots import injected, plots, summary, total
from memtui.tui.screens.activity.reader import ActivityReader, ReadNotes
from memtui.tui.screens.activity.rows import NoteRow, Row, SessionGroup
from memtui.tui.screens.frame import CORNERS, Described
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.services import Command, Services, bindings
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.rows import ListMessage, RowList
from memtui.views import colours, deliveries, glyphs, notes, safe_text

# Older deliveries are read when so few rows are left below what is seen.
NEAR_END = 10
TICK_SECONDS = 1.0
# Cells of the plots' border and padding.
PLOT_SIDES = 6
OF_ALL = "The plots are of all projects."
EMPTY = """Nothing yet.
What sessions get is listed here: memories as they start, notes and drafts with their prompts.

"""
KEYS = "{app.note} writes a note: the next prompt in this project gets it{once}, and you see here whether it arrived."

# The words of the bottom bar for actions that all lists have.
FOOTER = {"attention": "lost", "left": "fold", "right": "unfold"}


class ActivityList(RowList[Row]):
    """The list: older deliveries may not be read yet."""

    class LastWanted(ListMessage):
        """The last row is wanted."""

    def action_edge(self, direction: int) -> None:
        """Move the cursor to the first (-1) or last (1) row; the last may have to be read."""
        super().action_edge(direction)
        if direction > 0:
            self.post_message(self.LastWanted(self))


class Activity(ListScreen[Row]):
    """The list of notes and sessions with its detail, or plots. The log is read backwards by pages."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("activity")]
    group: ClassVar[str] = "activity"
    typing_seconds = 0.2  # each search reads the log again
    legend: str = glyphs.section("Rows", rows.MARKS) + "\n" + deliveries.legend()
    reads: ClassVar[frozenset[str]] = frozenset({"settings", "inbox", "log", "memories", "receipts", "subconscious"})
    row_word: ClassVar[str] = "row"
    terms: ClassVar[Collection[str]] = FIELDS
    nouns: ClassVar[tuple[str, str]] = ("delivery", "deliveries")
    DEFAULT_CSS = """
    Activity #plots { display: none; }
    Activity.plots #panes { display: none; }
    Activity.plots #plots { display: block; height: 1fr; }
    """

    def __init__(self, services: Services) -> None:
        listing = self.listing = Listing(services.data, read_only=services.read_only)
        can_mark = lambda row: isinstance(row, NoteRow) and row.item is not None  # only these are acted on together
        table = ActivityList(
            rows.COLUMNS, lambda row: row.cells(listing), lambda row: row.key, can_mark=can_mark, id="list"
        )
        placeholder = "words, session:, project:, kind:notes, memory:, is:lost"
        super().__init__(services, table, placeholder=placeholder)
        self.reader = ActivityReader(services.data, self)
        self.plots = Detail(id="plots")
        self._problem = ""
        self._has_notes = False  # whether the notes were read
        self._to_first = self._to_last = self._reading_more = False
        self.commands |= NoteCommands(self, listing).table() | {
            "list.attention": Command(lambda: self.toggle_term(IS_LOST)),
            "list.project": Command(self.toggle_projects, lambda: OF_ALL if self.has_class("plots") else ""),
            "activity.plots": Command(self.toggle_plots),
        }

    def body(self) -> ComposeResult:
        yield from super().body()
        yield self.plots

    def on_mount(self) -> None:
        self.set_interval(TICK_SECONDS, self._scrolled)  # the wheel posts no message
        self.listing.want(self.typed, self._here)
        self.read_first()

    # reading

    def _work(self, group: str, work: Callable[[], object]) -> None:
        self.run_worker(work, thread=True, exclusive=True, group=group)

    def read_first(self) -> None:
        """Read the log from its end: a screenful at once, to have it in the first paint; the rest in a worker."""
        everything = self.listing.everything = self.reader.reading(self.listing.scope)
        everything.more(self.app.size.height, lambda _: False)
        self.show_rows(everything)
        self.call_after_refresh(self._read, everything, PAGE, first=True)
        if self.listing.asks:
            self._read_wanted()
        self.reload()

    def _read_wanted(self) -> None:
        """Read what the query wants: all, or the log again from its end; all anew where it is of other projects."""
        self._reading_more = self._to_last = False
        self._to_first = self.is_mounted
        if self.listing.everything is None or self.listing.everything.wanted != self.listing.scope:
            self.read_first()
        elif self.listing.asks:
            self.listing.reading = None
            self._read(None, PAGE)
        else:
            self.listing.reading = self.listing.everything
        self.fill()

    def _read(self, reading: Reading | None, count: int, *, first: bool = False, to_last: bool = False) -> None:
        """Read `count` more rows in a worker; of a new one if `reading` is None. `to_last`: the oldest is wanted."""
        other = reading or self.reader.reading(self.listing.wanted)
        group = "read-log" if reading is self.listing.everything else "read-query"  # one does not cancel the other
        self._work(group, partial(self.reader.read, other, count, first=first, oldest_first=to_last))

    def reload(self) -> None:
        if self.is_mounted and self.listing.here != self._here:
            self.listing.want(self.typed, self._here)
            self.read_first()
        elif self.is_mounted and self.listing.everything is not None:
            self._work("notes", self.reader.read_notes)
            readings = {id(each): each for each in (self.listing.everything, self.listing.reading) if each is not None}
            self._work("follow", partial(self.reader.follow, [*readings.values()]))
            self.show_detail()

    def follow(self, parts: frozenset[str] | None) -> None:
        """Read what has changed; after a receipt also sessions without a transcript, which the client writes late."""
        if parts is not None and "receipts" in parts:
            self._forget(self.listing.live | self.listing.unwritten)
        if parts == frozenset({"receipts"}):
            self.fill()
        else:
            super().follow(parts)

    def _forget(self, names: set[str] | frozenset[str]) -> None:
        """Have what sessions are about read again."""
        for name in names:
            self.listing.facts.pop(name, None)

    def refresh_ages(self) -> None:
        super().refresh_ages()
        self._work("notes", self.reader.read_notes)

    @on(ActivityList.LastWanted)
    def _read_to_last(self) -> None:
        """Read the log to its beginning, as far as rows are held, and move to the oldest."""
        reading = self.listing.reading
        if reading is not None and not (reading.done or reading.full):
            self._to_last, self._reading_more = True, False
            self._read(reading, KEPT, to_last=True)

    def _scrolled(self) -> None:
        """Read older rows when the cursor or the scroll position comes near the end of the list."""
        table, reading = self.table, self.listing.reading
        if reading is None or reading.done or reading.full or self._reading_more or self._to_last:
            return
        lowest = max(table.cursor, int(table.scroll_offset.y) + table.size.height)
        if self.is_current and lowest >= len(table.rows) - NEAR_END:
            self._reading_more = True
            self._read(reading, max(PAGE, len(reading.rows)))

    def show_notes(self, read_notes: ReadNotes) -> None:
        listing = self.listing
        listing.notes, listing.unused, listing.mentions = read_notes.notes, read_notes.unused, read_notes.mentions
        listing.projects |= read_notes.names
        listing.runs, listing.started = read_notes.runs, read_notes.started
        self._problem, self._has_notes = read_notes.problem, True
        self.fill()

    def show_rows(self, reading: Reading) -> None:
        """Show the new rows, if they are of the current query."""
        listing = self.listing
        if reading.wanted == listing.wanted or reading is listing.everything:
            if reading is not listing.everything or not listing.asks:
                listing.reading, self._reading_more = reading, False
            self.fill()
            if self._to_last and (reading.done or reading.full):
                self._to_last = False
                self.table.move_to(len(self.table.rows) - 1)

    def show_facts(self, facts: dict[str, Session]) -> None:
        self.listing.facts |= facts
        self.fill()

    def show_receipts(self) -> None:
        if unwritten := self.listing.unwritten:  # a receipt is read from a transcript that may be new
            self._forget(unwritten)
            self.fill()
        self.table.redraw()
        self.summarize()
        self.show_detail()

    def show_progress(self, words: str) -> None:
        if self.listing.reading is None or self._reading_more:
            self.frame.tell(words)

    # showing

    def frame_top(self) -> None:
        """Draw the top line, and the rows anew where other sessions are live than they say."""
        super().frame_top()
        if self.is_mounted and self.listing.live != self.services.data.facts.live:
            self.fill()

    def select(self) -> Sequence[Row]:
        find = self.reader.find_sessions
        self.all_rows = [
            *self.listing.wanted_notes(),
            *self.listing.sessions(lambda unknown: self._work("sessions", partial(find, unknown))),
        ]
        return self.all_rows

    @property
    def of_all_projects(self) -> bool:
        """Whether the list has what sessions of all projects got."""
        return not self.listing.scope.project

    @property
    def _here(self) -> str:
        """The key of this project where only that is listed."""
        return "" if self.services.all_projects else self.services.data.slug

    def fill(self) -> None:
        """Show what was read. The cursor stays on its row; it moves to the first when a query hides its row."""
        here, to_first = self.table.row_id, self._to_first
        self.listing.live = self.services.data.facts.live
        self.table.widen("for", max((cell_len(note.whom(self.listing)) for note in self.listing.notes), default=0))
        super().fill()
        if to_first and self.listing.reading is not None:
            self._to_first = False
            if here != self.table.row_id:
                self.table.move_to(0)

    def fold_of(self, row: Row) -> str:
        """Return the id of the session that a row is or is of; empty for a note that waits."""
        return "" if isinstance(row, NoteRow) else row.session

    def fold(self, fold: str, *, unfold: bool) -> None:
        self.listing.fold(fold, unfold=unfold)
        super().fold(fold, unfold=unfold)

    def go_right(self) -> None:
        """Unfold the session under the cursor, or read the row."""
        row = self.table.row
        if isinstance(row, SessionGroup) and row.foldable and not row.unfolded:
            self.fold(row.session, unfold=True)
        else:
            self.open_detail()

    def why_empty(self) -> str:
        reading = self.listing.reading
        under_way = not self._has_notes or reading is None or not (reading.done or reading.rows)
        if under_way and not self.listing.wrong:
            return "Searching …\nescape clears the filter." if self.is_filtered else rows.READING
        elsewhere = "" if self.of_all_projects else f"\n{actions.key_of('list.project')} shows all projects."
        if self.is_filtered:
            return super().why_empty() + elsewhere
        words = EMPTY + notes.before(self.services.data.unheard(), KEYS) + elsewhere
        return actions.keyed(words, read_only=self.services.read_only)

    def why_no_matches(self) -> str:
        nothing = "Nothing was lost." if self.typed == IS_LOST else super().why_no_matches()
        return safe_text.line(self.listing.find_mistake()) or nothing

    def status_words(self) -> str:
        reading = self.listing.reading
        skipped = many(reading.skipped, "torn line") if reading is not None and reading.skipped else ""
        full = f"older ones: filter ({KEPT:,} are held)" if reading is not None and reading.full else ""
        return " · ".join(filter(None, (skipped, full, super().status_words())))

    def numbers(self) -> tuple[str, str]:
        reading, everything = self.listing.reading, self.listing.everything
        count = "…" if reading is None else f"{injected(reading):,}{'' if reading.done else '+'}"
        count = "0" if self.listing.wrong else count
        return count, total(self.services.data.statistics, everything) if everything is not None else "…"

    def counted(self) -> str:
        """Return how many deliveries are listed, with a query of how many."""
        listed = self.numbers()[0]
        return super().counted() if self.is_filtered else f"{listed} {self.nouns[listed != '1']}"

    def summary(self) -> Text:
        if self.has_class("plots"):
            return Text("plots · deliveries of all projects", "bold")
        problem = "! " + safe_text.line(self._problem) if self._problem else ""
        code = self.services.data.unheard() if self.typed or self.table.rows else ""  # else the list says it
        deaf = notes.keyed(code, read_only=self.services.read_only)
        line = Text(no_wrap=True, overflow="ellipsis", end="")
        line.append(problem or deaf, colours.PROBLEM).append(" · " if problem or deaf else "")
        room = (self.middle.outer_size.width or self.size.width) - CORNERS - line.cell_len
        return line.append_text(summary(self.services.data, self.listing, self.counted(), room))

    def summarize(self) -> None:
        """Draw the title, and the plots while they are shown."""
        super().summarize()
        if self.has_class("plots"):
            data = self.services.data
            self.frame.entitle(self.plots, self.summary())
            self.plots.show("plots", plots(data.statistics, data.receipts.known, self.size.width - PLOT_SIDES))

    @property
    def sought(self) -> str:
        return self.listing.wanted.text

    def describe(self, row: Row) -> Described:
        self._scrolled()
        return row.describe(self.listing)

    def key_words(self) -> list[tuple[str, str]]:
        return [("escape", "back")] if self.has_class("plots") else super().key_words()

    def footer_actions(self) -> list[actions.Action]:
        if self.has_class("plots"):
            return [replace(actions.get("app.copy"), footer="copy")]
        own = self.table.row.actions if self.table.row is not None else ()
        if self.services.data.receipts.known.get(self.table.row_id or "") == ARRIVED:
            own = ()  # what arrived need not be sent again
        offered = [actions.on_screen("activity", verb) for verb in (*own, "filter", "attention", "project", "plots")]
        return [replace(action, footer=FOOTER.get(action.verb, action.footer)) for action in offered]

    def copied(self) -> str:
        row = self.table.row
        if self.has_class("plots"):
            return self.plots.plain
        return row.copied(self.listing) if row is not None else ""

    # plots

    def toggle_plots(self) -> None:
        if not self._leave_plots():
            self.add_class("plots")
            self.plots.focus()
            self.call_after_refresh(self.summarize)  # the title needs the width

    def _leave_plots(self) -> bool:
        if not self.has_class("plots"):
            return False
        self.remove_class("plots")
        self.table.focus()
        self.call_after_refresh(self.summarize)
        return True

    # the query

    def seek(self, text: str) -> None:
        """Show what a query wants, from its first row."""
        if text.strip() != self.typed:
            self.typed = text.strip()
            self.listing.want(self.typed, self._here)
            if self.is_mounted:  # else `on_mount` reads
                self._leave_plots()
                self._read_wanted()

    def escape_steps(self) -> Sequence[Callable[[], bool]]:
        return (self._leave_plots, *super().escape_steps())
