"""Activity: the notes that wait, then the sessions, newest first, with what each got, why, and whether it arrived."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.timer import Timer
from textual.widgets import Input

from memtui import actions
from memtui.core.base.phrasing import many
from memtui.core.client import projects
from memtui.core.deliveries.filter import Filter
from memtui.core.deliveries.memory_counts import ReceiptCounts
from memtui.core.deliveries.reading import KEPT, PAGE, DeliveryRow, Reading, read
from memtui.core.deliveries.sessions import SessionRow
from memtui.core.deliveries.statistics import day_of
from memtui.present import legend as marks
from memtui.present import query, safe_text, sessions, unheard
from memtui.tui import key_bindings
from memtui.tui.screens.activity import query as activity_query
from memtui.tui.screens.activity import rows
from memtui.tui.screens.activity.commands import NoteCommands
from memtui.tui.screens.activity.plots import plots
from memtui.tui.screens.activity.reader import (
    ActivityReader,
    LiveFound,
    NotesRead,
    RowsRead,
    SearchProgress,
    SessionsFound,
)
from memtui.tui.screens.activity.rows import NoteRow, Row, RowContext, RunRow, SessionGroup
from memtui.tui.screens.list_screen import Described, ListScreen
from memtui.tui.services import Command, Services, first_of
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.rows import ListMessage, RowList

# Older deliveries are read when so few rows are left below what is seen.
NEAR_END = 10
# Characters that are copied at most.
COPIED_MOST = 2_000_000
TICK_SECONDS = 1.0
# How often it is looked whether sessions began or ended: that changes no file that is watched.
LIVE_SECONDS = 5.0
# How long after a session was seen a missing transcript is looked for again.
UNWRITTEN_SECONDS = 86400
# How long the typing rests before the log is searched.
TYPING_SECONDS = 0.2
EMPTY = """Nothing yet.
What sessions get is listed here: memories as they start, notes and drafts with their prompts.

{app.note} writes a note: the next prompt of this project gets it, and you see here whether it arrived."""


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
    """The screen: a summary on top, the list, the detail of the row under the cursor; or plots in place of all of it.
    The log is read backwards, a page at a time, and grouped as it comes."""

    BINDINGS: ClassVar[list[BindingType]] = [*key_bindings.bindings("activity")]
    group: ClassVar[str] = "activity"
    legend: str = marks.section("Rows", rows.MARKS) + "\n" + marks.receipts()
    reads: ClassVar[frozenset[str]] = frozenset({"settings", "inbox", "log", "memories", "receipts", "subconscious"})
    row_word: ClassVar[str] = "row"
    DEFAULT_CSS = """
    Activity #plots { display: none; }
    Activity.plots #panes { display: none; }
    Activity.plots #plots { display: block; height: 1fr; }
    """

    def __init__(self, services: Services) -> None:
        self.context = RowContext(services.data, read_only=services.read_only)
        self.reader = ActivityReader(services.data, self.post_message)
        table = ActivityList(
            rows.COLUMNS, lambda row: row.cells(self.context), lambda row: row.key, header=False, id="list"
        )
        placeholder = "words, session:, project:, kind:notes, memory:, is:lost"
        super().__init__(services, table, lambda row: row.searched(self.context), placeholder=placeholder)
        self.plots = Detail(id="plots")
        self.query_text, self._wrong = "", ""
        self.wanted_rows = Filter()
        self.everything: Reading | None = None  # of everything
        self.reading: Reading | None = None  # of what the query wants
        self.shown: Sequence[Row] = ()
        self.live: frozenset[str] = frozenset()
        self._folds: dict[str, bool] = {}
        self._found_folds: dict[str, bool] = {}  # of what a query found, all of which is unfolded at first
        self._been_newest: set[str] = set()
        self._runs: dict[str, list[RunRow]] = {}
        self._started: dict[str, float] = {}
        self._problem = ""
        self._to_first = self._to_last = self._reading_more = self._is_set = False
        self._typing_timer: Timer | None = None
        self.commands |= NoteCommands(self, self.context).table() | {
            "list.attention": Command(lambda: self._toggle(activity_query.IS_LOST)),
            "list.project": Command(lambda: self._toggle(query.term("project", services.data.facts.project))),
            "activity.plots": Command(self.toggle_plots),
            "activity.fold": Command(self._fold_row, first_of(self.no_row, self._why_no_fold)),
            "activity.unfold": Command(self._unfold_row, self.no_row),
        }

    def body(self) -> ComposeResult:
        """Compose the summary, the list, the query, the detail and the plots."""
        yield from super().body()
        yield self.plots

    def on_mount(self) -> None:
        """Start with the query of the last time. Check the scroll position each second: the wheel posts no message."""
        self.set_interval(TICK_SECONDS, self._scrolled)
        self.set_interval(LIVE_SECONDS, self._look_live)
        if not self._is_set:
            self._set_query(str(self.left.get("query", "")))
        self._read_first()
        self._show_query()
        self._look_live()

    # reading

    def _read_first(self) -> None:
        """Read a screenful at once, to have it in the first paint; the rest follows in a worker."""
        self.everything = self.reader.reading(Filter())
        self.everything.more(self.app.size.height, lambda _: False)
        self.on_rows_read(RowsRead(self.everything))
        self.call_after_refresh(self.read, self.everything, PAGE, first=True)
        if self.wanted_rows or self._wrong:
            self._read_wanted()
        self.reload()

    def _read_wanted(self) -> None:
        """Read what the query wants: all, or the log again from its end."""
        self._reading_more = self._to_last = False
        self._to_first = self.is_mounted
        if self.wanted_rows and not self._wrong:
            self.reading = None
            self.read(None, PAGE)
        else:
            self.reading = self.everything
        self.fill()

    def reload(self) -> None:
        """Read the notes, and what was appended to the log."""
        if self.is_mounted and self.everything is not None:
            self._read_notes()
            self._follow(
                [each for each in {id(each): each for each in (self.everything, self.reading)}.values() if each]
            )
            self.show_detail()

    def follow(self, parts: frozenset[str] | None) -> None:
        """Read what has changed. After a new receipt also what live sessions are about, and those without a transcript:
        the client writes it late."""
        if parts is not None and "receipts" in parts:
            begun = self.services.data.now() - UNWRITTEN_SECONDS
            unwritten = {
                name
                for name, facts in self.context.facts.items()
                if not facts.transcript and (facts.last or begun) >= begun
            }
            for name in self.live | unwritten:
                self.context.facts.pop(name, None)
        if parts == frozenset({"receipts"}):
            self.fill()
        else:
            super().follow(parts)

    def refresh_ages(self) -> None:
        """Read the notes again: they may have expired. The summary is about today."""
        super().refresh_ages()
        self._read_notes()
        self.draw_sums()

    @work(thread=True, exclusive=True, group="notes")
    def _read_notes(self) -> None:
        self.reader.read_notes()

    @work(thread=True, exclusive=True, group="read-log")
    def read(self, reading: Reading | None, count: int, *, first: bool = False, to_last: bool = False) -> None:
        """Read `count` more rows in a worker; of a new one if `reading` is None. `to_last`: the oldest is wanted."""
        wanted = reading or self.reader.reading(self.wanted_rows)
        self.reader.read(wanted, count, first=first, oldest_first=to_last)

    @on(ActivityList.LastWanted)
    def _read_to_last(self) -> None:
        """Read the log to its beginning, as far as rows are held, and move to the oldest."""
        reading = self.reading
        if reading is not None and not (reading.done or reading.full):
            self._to_last, self._reading_more = True, False
            self.read(reading, KEPT, to_last=True)

    @work(thread=True, exclusive=True, group="follow")
    def _follow(self, readings: list[Reading]) -> None:
        self.reader.follow(readings)

    @work(thread=True, exclusive=True, group="sessions")
    def _find_sessions(self, wanted: dict[str, DeliveryRow | None]) -> None:
        self.reader.find_sessions(wanted)

    @work(thread=True, exclusive=True, group="live")
    def _look_live(self) -> None:
        self.reader.look_live()

    def _scrolled(self) -> None:
        """Read older rows when the cursor or the scroll position comes near the end of the list."""
        table, reading = self.table, self.reading
        if reading is None or reading.done or reading.full or self._reading_more or self._to_last:
            return
        seen = max(table.cursor, int(table.scroll_offset.y) + table.size.height)
        if self.is_current and seen >= len(table.rows) - NEAR_END:
            self._reading_more = True
            self.read(reading, max(PAGE, len(reading.rows)))

    def on_notes_read(self, message: NotesRead) -> None:
        """Show the notes."""
        self.context.notes, self.context.unused = message.notes, message.unused
        self.context.projects |= message.names
        self.context.mentions = message.mentions
        self._runs, self._started = message.runs, message.started
        self._problem = message.problem
        self.fill()

    def on_rows_read(self, message: RowsRead) -> None:
        """Show the new rows, if they are of the current query."""
        if message.reading.wanted == self.wanted_rows or message.reading is self.everything:
            if message.reading is not self.everything or not self.wanted_rows:
                self.reading, self._reading_more = message.reading, False
            self.fill()
            if self._to_last and (message.reading.done or message.reading.full):
                self._to_last = False
                self.table.move_to(len(self.table.rows) - 1)

    def on_log_replaced(self) -> None:
        """Read the new log."""
        self._read_first()

    def on_sessions_found(self, message: SessionsFound) -> None:
        """Show what sessions are about."""
        self.context.facts |= message.facts
        self.fill()

    def on_live_found(self, message: LiveFound) -> None:
        """Show which sessions are live now."""
        self.live = message.sessions
        self.fill()

    def on_receipts_read(self) -> None:
        """Paint the new receipts and statistics."""
        self.table.redraw()
        self.count()
        self.draw_sums()
        self.show_detail()

    # showing

    def select(self) -> Sequence[Row]:
        """Return the rows: the notes that the query wants, then the sessions with what they got."""
        self.found = [*self._notes(), *self._sessions()]
        return self.found

    def _notes(self) -> Sequence[Row]:
        wanted, words = self.wanted_rows, self.wanted_rows.text.casefold().split()
        if self._wrong or wanted.memory or wanted.kind not in {"", "guidance"} or wanted.outcome not in {"", "waiting"}:
            return []
        known = {row.id for row in self.everything.rows} if self.everything is not None else set()
        return [
            note
            for note in self.context.notes
            if (note.under_way is None or note.under_way.delivery not in known)
            and all(word in note.searched(self.context).casefold() for word in words)
            and (not wanted.session or (note.session and wanted.session.startswith(note.session)))
            and (
                not wanted.project
                or note.home is None
                or wanted.project in {note.home, self.context.project(note.home)}
            )
        ]

    def _sessions(self) -> list[Row]:
        if self._wrong or self.everything is None:
            return []
        logged = self._logged()
        self.context.projects |= projects.names_of_roots(self.services.data.env, {each.root for each in logged})
        groups: dict[str, list[DeliveryRow]] = {}
        for each in logged:
            groups.setdefault(each.session, []).append(each)
        runs = self._wanted_runs()
        if not self.wanted_rows:
            known = [*sorted(self.live), *self._without_deliveries()]
            groups = {name: [] for name in known if name not in groups} | groups
        groups |= {name: [] for name in runs if name not in groups}
        order = sorted(groups, key=lambda name: (name not in self.live, -self._newest(groups[name], runs, name)))
        if order and not self.wanted_rows and order[0] not in self._been_newest:
            self._been_newest.add(order[0])
            self._folds[order[0]] = True
        unknown: dict[str, DeliveryRow | None] = {}
        found: list[Row] = []
        for name in order:
            deliveries, read_by = groups[name], runs.get(name, [])
            facts = self.context.facts.get(name)
            if facts is None:
                unknown[name] = deliveries[0] if deliveries else None
                facts = SessionRow(name, "", "", "")
            unfolded = self._found_folds.get(name, True) if self.wanted_rows else self._folds.get(name, False)
            root = deliveries[0].root if deliveries else facts.project
            root = root or (read_by[0].root if read_by else "")
            group = SessionGroup(name, deliveries, root, facts, name in self.live, unfolded, read_by)
            found.append(group)
            found += group.below if unfolded else []
        if unknown:
            self._find_sessions(unknown)
        return found

    def _newest(self, deliveries: Sequence[DeliveryRow], runs: Mapping[str, Sequence[RunRow]], name: str) -> float:
        times = [*(each.time for each in deliveries[:1]), *(each.time for each in runs.get(name, ())[:1])]
        return max(times) if times else self._started.get(name, 0.0)

    def _without_deliveries(self) -> list[str]:
        """Return the sessions that got nothing, as far back as the log was read."""
        read = self.everything
        oldest = 0.0 if read is None or read.done or not read.rows else read.rows[-1].time
        return [name for name, began in self._started.items() if began >= oldest]

    def _wanted_runs(self) -> dict[str, list[RunRow]]:
        """Return the runs that the query wants, by session."""
        wanted, words = self.wanted_rows, self.wanted_rows.text.casefold().split()
        if wanted.kind or wanted.memory or wanted.outcome or not self._runs:
            return {}
        found: dict[str, list[RunRow]] = {}
        for name, runs in self._runs.items():
            if name.startswith(wanted.session):
                fits = [
                    each
                    for each in runs
                    if (not wanted.project or wanted.project in {each.run.project, self.context.project(each.root)})
                    and all(word in each.searched(self.context).casefold() for word in words)
                ]
                found |= {name: fits} if fits else {}
        return found

    def _logged(self) -> Sequence[DeliveryRow]:
        """Return the deliveries that the query wants, newest first; words may also be those of a session's title."""
        found, wanted = self.reading.rows if self.reading is not None else [], self.wanted_rows
        if not (wanted.text and wanted == Filter(text=wanted.text)):
            return found
        words, facts = wanted.text.casefold().split(), self.context.facts
        titled = {name for name in facts if all(word in facts[name].title.casefold() for word in words)}
        if not titled or self.everything is None:
            return found
        matched = {row.id for row in found}
        more = [row for row in self.everything.rows if row.session in titled and row.id not in matched]
        return sorted([*found, *more], key=lambda row: row.time, reverse=True) if more else found

    def fill(self) -> None:
        """Show what was read. The cursor stays on its row; it moves to the first when a query hides its row."""
        here, to_first = self.table.row_id, self._to_first
        super().fill()
        if to_first and self.reading is not None:
            self._to_first = False
            if here != self.table.row_id:
                self.table.move_to(0)
        self.draw_sums()

    def fold(self, session: str, *, unfold: bool) -> None:
        """Fold or unfold a session, and put the cursor on it."""
        (self._found_folds if self.wanted_rows else self._folds)[session] = unfold
        self.fill()
        at = self.table.index_of(rows.session_key(session))
        if at is not None:
            self.table.move_to(at)

    def _fold_row(self) -> None:
        """Leave the detail, or fold the session of the row."""
        row = self.table.row
        if not self.leave_detail() and isinstance(row, SessionGroup | rows.DeliveryEntry | RunRow):
            self.fold(row.session, unfold=False)

    def _why_no_fold(self) -> str:
        open_ = self.detail.has_focus or self.detail_covers_list or not isinstance(self.table.row, NoteRow)
        return "" if open_ else "A note that waits belongs to no session: there is nothing to fold."

    def _unfold_row(self) -> None:
        """Unfold the session under the cursor; read what is unfolded or can't be."""
        row = self.table.row
        if isinstance(row, SessionGroup) and not row.unfolded and row.foldable:
            self.fold(row.session, unfold=True)
        else:
            self.open_detail()

    def markable(self) -> Sequence[Row]:
        """Return the notes that wait: only these can be acted on together."""
        return [row for row in self.table.rows if isinstance(row, NoteRow) and row.item is not None]

    def mark(self) -> None:
        """Mark or unmark the note under the cursor."""
        if self.table.row in self.markable():
            super().mark()
        else:
            self.services.warn("Only notes that wait can be marked.")

    def mark_all(self) -> None:
        """Mark all notes that wait; unmark everything if they all are marked."""
        if self.markable():
            super().mark_all()
        else:
            self.services.warn("No notes wait here.")

    def why_empty(self) -> str:
        """Return what an empty list says."""
        if self._wrong:
            return f"{self._wrong}\nescape clears the query."
        if self.query_text:
            if self.reading is None or not (self.reading.done or self.reading.rows):
                return "Searching …"
            return f"No matches for “{safe_text.line(self.query_text, 60)}”.\nescape clears the query."
        words = EMPTY + unheard.paragraph(self.services.data.unheard())
        return actions.keyed(words, read_only=self.services.read_only)

    def on_search_progress(self, message: SearchProgress) -> None:
        """Say how far a search is."""
        if self.reading is None or self._reading_more:
            self.tell(message.text)

    def count(self) -> None:
        """Say on the right of the foot how many deliveries there are, as far as they are counted."""
        reading = self.reading
        if self.table.marks or reading is None:
            super().count()
            return
        skipped = f" · {many(reading.skipped, 'torn line')}" if reading.skipped else ""
        full = f" · older ones: filter ({KEPT:,} are held)" if reading.full else ""
        statistics, total = self.services.data.statistics, len(reading.rows)
        if not reading.done and statistics.ready and statistics.complete and not self.wanted_rows:
            total = max(total, sum(day.deliveries for day in statistics.days.values()))
            more = "" if total > len(reading.rows) else "+"
        else:
            more = "" if reading.done else "+"
        noun = "delivery" if total == 1 and not more else "deliveries"
        self.tell(f"{total:,}{more} {noun}{skipped}{full}")

    def summary(self) -> Text:
        """Return what today adds up to, or what the query lets through."""
        line = Text(no_wrap=True, overflow="ellipsis", end="")
        data, known = self.services.data, self.services.data.receipts.known
        if self._problem:
            line.append("! " + safe_text.line(self._problem), "red").append(" · ")
        elif problem := unheard.keyed(data.unheard(), read_only=self.services.read_only):
            line.append(problem, "bold yellow").append(" · ")
        if self.query_text:
            reading = self.reading
            found = f"{len(reading.rows):,}{'' if reading.done else '+'} found" if reading is not None else "searching"
            line.append(found if not self._wrong else "?", "bold").append(f" · {safe_text.line(self.query_text, 120)}")
            counts = ReceiptCounts.of(() if reading is None else (known.get(row.id, "") for row in reading.rows))
        elif not data.statistics.ready:
            line.append("counting …" if data.statistics.lines else "today", "dim")
            counts = ReceiptCounts()
        else:
            line.append("today", "bold")
            line.append(f" · {many(data.statistics.today.deliveries, 'delivery', 'deliveries')}", "bold")
            counts = ReceiptCounts.of(data.statistics.outcomes(known, day_of(data.now())))
        for count, word, style in (
            (counts.arrived, "arrived", "green"),
            (counts.waiting, "on its way" if counts.waiting == 1 else "on their way", "cyan"),
            (counts.previewed, "cut short", "yellow"),
            (counts.lost, "lost", "red"),
            (counts.unknown, "not known", "dim"),
        ):
            line.append(f" · {count:,} {word}" if count else "", style)
        if self.query_text:
            line.append(" · escape shows all", "dim")
        return line

    def draw_sums(self) -> None:
        """Draw the summary and the plots."""
        self.summarize()
        if self.has_class("plots"):
            data = self.services.data
            self.plots.show("plots", plots(data.statistics, data.receipts.known, self.size.width - 4))

    @property
    def sought(self) -> str:
        """The words of the query, which the detail highlights."""
        return self.wanted_rows.text

    def describe(self, row: Row) -> Described:
        """Return the detail of a row."""
        self._scrolled()
        return row.describe(self.context)

    def footer_actions(self) -> list[actions.Action]:
        """Return the actions that suit the row under the cursor, then those of the list."""
        own = self.table.row.actions if self.table.row is not None else ()
        found = [actions.on_screen("activity", verb) for verb in (*own, "filter", "attention", "project", "plots")]
        return [replace(each, footer="lost") if each.verb == "attention" else each for each in found]

    def copied(self) -> str:
        """Return the note, the text of the delivery, the command that resumes the session, or the plots."""
        if self.has_class("plots"):
            return self.plots.plain
        row = self.table.row
        if isinstance(row, SessionGroup):
            return sessions.resume(row.whole({}), self.services.data.cwd)
        if isinstance(row, NoteRow):
            return row.text
        if isinstance(row, RunRow):
            return row.run.note
        found = read(row.logged) if row is not None else None
        return found.text[:COPIED_MOST] if found is not None else ""

    def open(self) -> None:
        """Fold or unfold the session under the cursor; read a note or a delivery."""
        row = self.table.row
        if isinstance(row, SessionGroup) and row.foldable:
            self.fold(row.session, unfold=not row.unfolded)
        else:
            self.open_detail()

    # plots

    def toggle_plots(self) -> None:
        """Show the plots, or go back to the list."""
        if not self._leave_plots():
            self.add_class("plots")
            self.plots.focus()
            self.draw_sums()

    def _leave_plots(self) -> bool:
        if not self.has_class("plots"):
            return False
        self.remove_class("plots")
        self.table.focus()
        return True

    # the query

    def want(self, text: str) -> None:
        """Show what a query wants, from its first row."""
        self._set_query(text)
        self._is_set = True
        if self.is_mounted:  # else `on_mount` reads
            self._show_query()
            self._leave_plots()
            self.remove_class("deep", "whole")
            self.table.focus()
            self._read_wanted()

    def _toggle(self, term: str) -> None:
        self.want(query.toggled(self.query_text, term))

    def _set_query(self, text: str) -> None:
        self.query_text = text.strip()
        self._wrong, self._found_folds = "", {}
        try:
            self.wanted_rows = activity_query.parse(self.query_text)
        except ValueError as error:
            self._wrong, self.wanted_rows = str(error), Filter()
        self.context.words = self.wanted_rows.text
        self.keep(query=self.query_text)

    def _show_query(self) -> None:
        with self.prevent(Input.Changed):
            self.filter_line.value = self.query_text
        self.filter_line.set_class(bool(self.query_text), "shown")

    @on(Input.Changed, "#filter")
    def _typed(self, event: Input.Changed) -> None:
        """Search when the typing rests: each search reads the log again."""
        event.prevent_default()
        self._stop_typing()
        self._typing_timer = self.set_timer(TYPING_SECONDS, lambda: self._search(event.value))

    @on(Input.Submitted, "#filter")
    def _submitted(self, event: Input.Submitted) -> None:
        event.prevent_default()
        self._stop_typing()
        self._search(event.value)
        event.input.set_class(bool(event.value.strip()), "shown")
        self.table.focus()

    def _search(self, text: str) -> None:
        if text.strip() != self.query_text:
            self._set_query(text)
            self._read_wanted()

    def _stop_typing(self) -> None:
        if self._typing_timer is not None:
            self._typing_timer.stop()

    def clear_filter(self) -> bool:
        """Clear the query; return False if there is none."""
        self._stop_typing()
        if not (self.query_text or self.filter_line.has_class("shown")):
            return False
        self.want("")
        return True

    def escape_steps(self) -> Sequence[Callable[[], bool]]:
        """Return the steps of escape: leave the plots first."""
        return (self._leave_plots, *super().escape_steps())
