"""Activity: the notes that wait, then the sessions, newest first, with what each got, why, and whether it arrived."""

import math
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual.binding import BindingType

from memtui import keymap
from memtui.deliver.log_queries import KEPT, PAGE, Reading, read
from memtui.deliver.receipts_hot import ARRIVED
from memtui.deliver.record import Note, notes_of
from memtui.inbox.format_hot import Entry
from memtui.models.subconscious import runs
from memtui.review.waiting_entries import Waiting
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.files import PARTS, RECEIPTS, VERSIONS
from memtui.tui.screens.activity.listing import FIELDS, IS_LOST, Listing, plots
from memtui.tui.screens.activity.rows import COLUMNS, MARKS, NoteRow, newest
from memtui.tui.screens.activity.sessions import READING, DeliveryEntry, Row, RunRow, SessionGroup
from memtui.tui.screens.frame import CORNERS, Described
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.services import Command, Services, bindings, first_of
from memtui.tui.texts import TEXTS
from memtui.tui.widgets.rows import RowList
from memtui.views import colours, deliveries, glyphs, notes, safe_text
from memtui.views.drafts import named

if TYPE_CHECKING:
    from memtui.tui.dialogs.guidance_subject import GuidanceSubject

NEAR_END = 10  # older deliveries are read when so few rows are left below what is seen
TICK_SECONDS = 1.0
KEYS = "{app.note} writes a note: the next prompt in this project gets it{once}, and you see here whether it arrived."
NOT_A_NOTE = "Only notes can be sent again, edited or withdrawn."
FOOTER = {"attention": "lost", "left": "fold", "right": "unfold"}  # words of the bottom bar for what all lists do


class Activity(ListScreen[Row]):
    """The list of notes and sessions with its detail, or plots. The log is read backwards by pages."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("activity")]
    group: ClassVar[str] = "activity"
    typing_seconds = 0.2  # each search reads the log again
    legend: str = glyphs.section("Rows", MARKS) + "\n" + deliveries.legend()
    reads: ClassVar[frozenset[str]] = PARTS - {VERSIONS} | {RECEIPTS}
    row_word: ClassVar[str] = "row"
    terms: ClassVar[Collection[str]] = FIELDS
    nouns: ClassVar[tuple[str, str]] = ("delivery", "deliveries")

    def __init__(self, services: Services) -> None:
        self.services = services
        listing = self.listing = Listing(self)
        can_mark = lambda row: isinstance(row, NoteRow) and row.item is not None  # only these are acted on together
        draw = lambda row: row.cells(listing)
        table = RowList[Row](COLUMNS, draw, lambda row: row.key, can_mark=can_mark, id="list")
        super().__init__(services, table, placeholder="words, session:, project:, kind:notes, memory:, is:lost")
        self._reading_more = False
        self.commands |= {
            "app.note": Command(self.new_note),
            "activity.edit": Command(self.edit_note, first_of(self.no_row, self.one_by_one, self._why_not_waiting)),
            "activity.withdraw": Command(self.withdraw, first_of(self.no_row, self._why_not_back)),
            "activity.again": Command(self.send_again, first_of(self.no_row, self.one_by_one, self._why_not_again)),
            "list.attention": Command(lambda: self.toggle_term(IS_LOST)),
            "list.project": Command(self.toggle_projects),
            "activity.plots": Command(self.show_plots),
        }

    def on_mount(self) -> None:
        self.set_interval(TICK_SECONDS, self._scrolled)  # the wheel posts no message
        self.listing.want(self.typed, self._here)
        self.read_first()

    def read_first(self) -> None:
        """Read the log from its end: a screenful at once, to have it in the first paint; the rest in a worker."""
        everything = self.listing.everything = self.listing.begin(self.listing.scope)
        everything.more(self.app.size.height, lambda _: False)
        self.show_rows(everything)
        self.call_after_refresh(self._read, everything, PAGE, first=True)
        if self.listing.asks:
            self._read_wanted()
        self.reload()

    def _read_wanted(self) -> None:
        """Read what the query wants: all, or the log again from its end; all anew where it is of other projects."""
        self._reading_more = False
        if self.listing.everything is None or self.listing.everything.wanted != self.listing.scope:
            self.read_first()
        elif self.listing.asks:
            self.listing.reading = None
            self._read(None, PAGE)
        else:
            self.listing.reading = self.listing.everything
        self.fill()

    def _read(self, reading: Reading | None, count: int, *, first: bool = False) -> None:
        """Read `count` more rows in a worker; of a new one if `reading` is None."""
        other = reading or self.listing.begin(self.listing.wanted)
        group = "read-log" if reading is self.listing.everything else "read-query"  # one does not cancel the other
        self.listing.work(group, partial(self.listing.read, other, count, first=first))

    def reload(self) -> None:
        if self.is_mounted and self.listing.here != self._here:
            self.listing.want(self.typed, self._here)
            self.read_first()
        elif self.is_mounted and self.listing.everything is not None:
            self.listing.work("notes", self.listing.read_notes)
            self.listing.work("follow", self.listing.follow)
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
        for name in names:
            self.listing.facts.pop(name, None)

    def refresh_ages(self) -> None:
        super().refresh_ages()
        self.listing.work("notes", self.listing.read_notes)

    def _scrolled(self) -> None:
        """Read older rows when the cursor or the scroll position comes near the end of the list."""
        table, reading = self.table, self.listing.reading
        if reading is None or reading.done or reading.full or self._reading_more:
            return
        lowest = max(table.cursor, int(table.scroll_offset.y) + table.size.height)
        if self.is_current and lowest >= len(table.rows) - NEAR_END:
            self._reading_more = True
            self._read(reading, max(PAGE, len(reading.rows)))

    def show_rows(self, reading: Reading) -> None:
        listing = self.listing
        if reading.wanted == listing.wanted or reading is listing.everything:
            if reading is not listing.everything or not listing.asks:
                listing.reading, self._reading_more = reading, False
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

    def show_detail(self) -> None:
        super().show_detail()
        self._see()

    def open_detail(self) -> None:
        super().open_detail()
        self._see()

    def _see(self) -> None:
        """Note that the person saw the answers of the row under the cursor: the status line counts them no more."""
        row, is_shown = self.table.row, self.detail_seen or self.glance.display
        if isinstance(row, NoteRow | RunRow) and row.answers and is_shown and self.is_current:
            with suppress(OSError):  # it is counted once more
                if not self.services.read_only:
                    runs.see(self.services.data.root, row.answers, self.services.data.now())

    def frame_top(self) -> None:
        """Draw the top line, and the rows anew where other sessions are live than they say."""
        super().frame_top()
        if self.is_mounted and self.listing.live != self.services.data.facts.live:
            self.fill()

    def select(self) -> Sequence[Row]:
        self.all_rows = [*self.listing.wanted_notes(), *self.listing.sessions()]
        return self.all_rows

    @property
    def of_all_projects(self) -> bool:
        return not self.listing.scope.project

    @property
    def _here(self) -> str:
        return "" if self.services.all_projects else self.services.data.slug

    def fill(self) -> None:
        self.listing.live = self.services.data.facts.live
        self.table.widen("for", max((cell_len(note.whom(self.listing)) for note in self.listing.notes), default=0))
        super().fill()

    def fold_of(self, row: Row) -> str:
        """Return the id of the session that a row is or is of; empty for a note that waits."""
        return "" if isinstance(row, NoteRow) else row.session

    def fold(self, fold: str, *, unfold: bool) -> None:
        self.listing.folds[fold] = unfold
        super().fold(fold, unfold=unfold)

    def go_right(self) -> None:
        row = self.table.row
        if isinstance(row, SessionGroup) and row.is_fold and not row.unfolded:
            self.fold(row.session, unfold=True)
        else:
            self.open_detail()

    def why_empty(self) -> str:
        reading = self.listing.reading
        under_way = self.listing.problem is None or reading is None or not (reading.done or reading.rows)
        if under_way and not self.listing.wrong:
            return "Searching …\nescape clears the filter." if self.is_filtered else READING
        elsewhere = "" if self.of_all_projects else f"\n{keymap.key_of('list.project')} shows all projects."
        if self.is_filtered:
            return super().why_empty() + elsewhere
        words = TEXTS["no deliveries"] + "\n\n" + notes.before(self.services.data.unheard(), KEYS) + elsewhere
        return keymap.keyed(words, read_only=self.services.read_only)

    def why_no_matches(self) -> str:
        nothing = "Nothing was lost." if self.typed == IS_LOST else super().why_no_matches()
        return safe_text.line(self.listing.wrong) or nothing

    def status_words(self) -> str:
        reading = self.listing.reading
        full = f"older ones: filter ({KEPT:,} are held)" if reading is not None and reading.full else ""
        return " · ".join(filter(None, (full, super().status_words())))

    def numbers(self) -> tuple[str, str]:
        return self.listing.count, self.listing.total

    def counted(self) -> str:
        """Return how many deliveries are listed, with a query of how many."""
        listed = self.listing.count
        return super().counted() if self.is_filtered else f"{listed} {self.nouns[listed != '1']}"

    def summary(self) -> Text:
        problem = f"! {safe_text.line(self.listing.problem)}" if self.listing.problem else ""
        code = self.services.data.unheard() if self.typed or self.table.rows else ""  # else the list says it
        deaf = notes.keyed(code, read_only=self.services.read_only)
        line = Text(no_wrap=True, overflow="ellipsis", end="")
        line.append(problem or deaf, colours.PROBLEM).append(" · " if problem or deaf else "")
        return line.append_text(self.listing.summary(self.counted(), self.middle.outer_size.width - CORNERS))

    @property
    def sought(self) -> str:
        return self.listing.wanted.text

    def describe(self, row: Row) -> Described:
        self._scrolled()
        return row.describe(self.listing)

    def footer_actions(self) -> list[keymap.Action]:
        own = self.table.row.actions if self.table.row is not None else ()
        if self.services.data.receipts.known.get(self.table.row_id or "") == ARRIVED:
            own = ()  # what arrived need not be sent again
        offered = [keymap.on_screen("activity", verb) for verb in (*own, "filter", "attention", "project", "plots")]
        return [replace(action, footer=FOOTER.get(action.verb, action.footer)) for action in offered]

    def copied(self) -> str:
        return self.table.row.copied(self.listing) if self.table.row is not None else ""

    async def show_plots(self) -> None:
        data = self.services.data
        draw = lambda width: plots(data.statistics, data.receipts.known, width)
        await self.services.ask(Preview("Plots: deliveries of all projects", draw))

    def seek(self, text: str) -> None:
        if text.strip() != self.typed:
            self.typed = text.strip()
            self.listing.want(self.typed, self._here)
            if self.typed:
                self.wanted = lambda listed: 0 if listed else None
            if self.is_mounted:  # else `on_mount` reads
                self._read_wanted()

    def show_break(self, session: str, key: str) -> None:
        """Show what a session got and did, the cursor on the row of a rule that it broke."""
        self.services.undone_at = -math.inf  # an undo just before did not bring the rows that are read now
        self.show_query(f"session:{session}")
        self.wanted = lambda listed: next((at for at, row in enumerate(listed) if row.key == key), None)
        self.fill()

    async def new_note(self) -> None:
        """Write a note: to the session under the cursor if it can be resumed, else to its project or this one."""
        from memtui.tui.dialogs.guidance_subject import SESSION, GuidanceSubject, blank

        data, row = self.services.data, self.table.row
        if not isinstance(row, SessionGroup):
            await self._write(GuidanceSubject(data))
            return
        facts = row.whole({})
        note = blank(data) if deliveries.is_gone(facts) else blank(data, to=SESSION + row.session)
        home = (facts.slug or None, self.listing.project(row.root))
        await self._write(GuidanceSubject(data, note, key=f"session-{row.session}", home=home))

    def _chosen_waiting(self) -> list[Waiting]:
        return [row.item for row in self.table.chosen() if isinstance(row, NoteRow) and row.item is not None]

    def _why_not_waiting(self) -> str:
        row = self.table.row
        if self._chosen_waiting():
            return ""
        if isinstance(row, NoteRow):
            return "It is on its way: Claude Code has it already."
        return keymap.keyed("It was sent already. {activity.again} sends it again.") if self._sent() else NOT_A_NOTE

    def _why_not_back(self) -> str:
        row = self.table.row
        if isinstance(row, RunRow):
            return "" if row.run.blocks or row.run.files else "It changed nothing that can be undone."
        return self._why_not_waiting()

    async def edit_note(self) -> None:
        from memtui.tui.dialogs.guidance_subject import GuidanceSubject

        row = self.table.row
        if isinstance(row, NoteRow):
            home = (row.home, self.listing.project(row.home or ""))
            await self._write(GuidanceSubject(self.services.data, item=row.item, home=home))

    def withdraw(self) -> None:
        """Withdraw the chosen notes that wait; undo what the run under the cursor changed."""
        row, items = self.table.row, self._chosen_waiting()
        if isinstance(row, RunRow) and not items:
            self.services.turn("undo", row.run.id)
            return
        self.services.make(lambda: self.services.data.review().withdraw(items), f"Withdrawn: {named(items)}.")
        self.table.clear_marks()
        # The next key is for the row that is then under the cursor, though the files are not read again yet.
        self.listing.notes = [note for note in self.listing.notes if note.item not in items]
        self.fill()

    def _sent(self) -> list[Note]:
        row = self.table.row
        delivery = read(row.logged) if isinstance(row, DeliveryEntry) else None
        return notes_of(delivery) if delivery is not None else []

    def _why_not_again(self) -> str:
        return "" if self._sent() else self._why_not_waiting()

    async def send_again(self) -> None:
        """Send a note again in the form; an expired or held one waits again itself."""
        from memtui.tui.dialogs.guidance_subject import GuidanceSubject, note_from

        row, data = self.table.row, self.services.data
        if isinstance(row, NoteRow):
            if row.item is not None and row.is_over:
                self._renew(row.item)
            else:
                await self.edit_note()
            return
        notes = {message.id: message for message in self._sent()}
        lines = [(name, safe_text.line(message.text, 200)) for name, message in notes.items()]
        chosen = lines[0][0] if len(notes) == 1 else await self.services.ask(Choice("Send which again?", lines))
        if chosen is not None:
            note = notes[chosen]
            entry = Entry("", {**note.fields, "from": note.sender}, note.text, "", 0)
            values = note_from(entry, everywhere=note.scope == "global")
            home = (note.delivery.project or data.slug, self.listing.project(note.delivery.root))
            await self._write(GuidanceSubject(data, values, key=note.id, home=home))

    def _renew(self, item: Waiting) -> None:
        words = ", but nothing delivers it yet" if self.services.data.unheard() else ""
        again = partial(self.services.data.review().again, item)
        self.services.make(again, f"Sent again: {named([item])} waits{words}.")
        self.wanted = newest(item.text)

    async def _write(self, subject: "GuidanceSubject") -> None:
        from memtui.tui.dialogs.draft_form import DraftForm

        note_id = await self.services.ask(DraftForm(subject, self.services))
        if note_id:
            self.wanted = newest(note_id)
            self.services.read()
