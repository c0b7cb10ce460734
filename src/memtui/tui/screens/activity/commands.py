"""The commands of Activity that write: a note is written, edited, withdrawn and sent again."""

from functools import partial
from typing import TYPE_CHECKING

from memtui import actions
from memtui.deliver.log_queries import read
from memtui.deliver.record import Note, notes_of
from memtui.inbox.format import Entry
from memtui.review.waiting_entries import Waiting
from memtui.tui.dialogs.ask import Choice
from memtui.tui.screens.activity import rows
from memtui.tui.screens.activity.details import RowContext
from memtui.tui.screens.activity.rows import DeliveryEntry, NoteRow, Row, RunRow, SessionGroup
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.services import Command, first_of
from memtui.views import deliveries, safe_text
from memtui.views.drafts import named

if TYPE_CHECKING:
    from memtui.tui.dialogs.guidance_subject import GuidanceSubject

NOT_A_NOTE = "Only notes can be sent again, edited or withdrawn."


class NoteCommands:
    """The commands, on the rows of the screen. `context`: what these are drawn with."""

    def __init__(self, screen: ListScreen[Row], context: RowContext) -> None:
        self.screen, self.services, self.context = screen, screen.services, context

    def table(self) -> dict[str, Command]:
        no_row, one = self.screen.no_row, self.screen.one_by_one
        return {
            "app.note": Command(self.new),
            "activity.edit": Command(self.edit, first_of(no_row, one, self._why_not_waiting)),
            "activity.withdraw": Command(self.withdraw, first_of(no_row, self._why_not_back)),
            "activity.again": Command(self.again, first_of(no_row, one, self._why_not_again)),
        }

    async def new(self) -> None:
        """Write a note: to the session under the cursor if it can be resumed, else to its project or this one."""
        from memtui.tui.dialogs.guidance_subject import SESSION, GuidanceSubject, blank

        data, row = self.services.data, self.screen.table.row
        if not isinstance(row, SessionGroup):
            await self._write(GuidanceSubject(data))
            return
        facts = row.whole({})
        note = blank(data) if deliveries.is_gone(facts) else blank(data, to=SESSION + row.session)
        home = (facts.slug or None, self.context.project(row.root))
        await self._write(GuidanceSubject(data, note, key=f"session-{row.session}", home=home))

    def _chosen_waiting(self) -> list[Waiting]:
        chosen = self.screen.table.chosen()
        return [row.item for row in chosen if isinstance(row, NoteRow) and row.item is not None]

    def _why_not_waiting(self) -> str:
        row = self.screen.table.row
        if self._chosen_waiting():
            return ""
        if isinstance(row, NoteRow):
            return "It is on its way: Claude Code has it already."
        sent = len(self._sent())
        if sent > 1:
            return actions.keyed("These notes were sent already. {activity.again} sends one of them again.")
        return actions.keyed("It was sent already. {activity.again} sends it again.") if sent else NOT_A_NOTE

    def _why_not_back(self) -> str:
        row = self.screen.table.row
        if isinstance(row, RunRow):
            return "" if row.run.blocks else "It changed no block."
        return self._why_not_waiting()

    async def edit(self) -> None:
        from memtui.tui.dialogs.guidance_subject import GuidanceSubject

        row = self.screen.table.row
        if isinstance(row, NoteRow):
            home = (row.home, self.context.project(row.home or ""))
            await self._write(GuidanceSubject(self.services.data, item=row.item, home=home))

    def withdraw(self) -> None:
        """Withdraw the chosen notes that wait; undo what the run under the cursor changed."""
        row = self.screen.table.row
        if isinstance(row, RunRow) and not self._chosen_waiting():
            self.services.turn("undo", row.run.id)
            return
        items = self._chosen_waiting()
        self.services.make(lambda: self.services.data.review().withdraw(items), f"Withdrawn: {named(items)}.")
        self.screen.table.clear_marks()
        # The next key is for the row that is then under the cursor, though the files are not read again yet.
        self.context.notes = [note for note in self.context.notes if note.item not in items]
        self.screen.fill()

    def _sent(self) -> list[Note]:
        row = self.screen.table.row
        delivery = read(row.logged) if isinstance(row, DeliveryEntry) else None
        return notes_of(delivery) if delivery is not None else []

    def _why_not_again(self) -> str:
        has_note = isinstance(self.screen.table.row, NoteRow) or self._sent()
        return "" if has_note else NOT_A_NOTE

    async def again(self) -> None:
        """Send a note again in the form; an expired or held one waits again itself."""
        from memtui.tui.dialogs.guidance_subject import GuidanceSubject, note_from

        row, data, note = self.screen.table.row, self.services.data, None
        if isinstance(row, NoteRow):
            if row.item is not None and row.is_over:
                self._renew(row.item)
                return
            name, home, entry = row.entry.id, row.home, row.entry
        else:
            notes = {message.id: message for message in self._sent()}
            lines = [(name, safe_text.line(message.text, 200)) for name, message in notes.items()]
            chosen = lines[0][0] if len(notes) == 1 else await self.services.ask(Choice("Send which again?", lines))
            if chosen is None:
                return
            note = notes[chosen]
            name, entry = note.id, Entry("", {**note.fields, "from": note.sender}, note.text, "", 0)
            home = note.delivery.project or data.slug
        everywhere = note.scope == "global" if note is not None else home is None
        values = note_from(entry, everywhere=everywhere)
        whose = (home, self.context.project(note.delivery.root if note is not None else home or ""))
        await self._write(GuidanceSubject(data, values, key=name, home=whose))

    def _renew(self, item: Waiting) -> None:
        words = ", but nothing delivers it yet" if self.services.data.unheard() else ""
        again = partial(self.services.data.review().again, item)
        self.services.make(again, f"Sent again: {named([item])} waits{words}.")
        self.screen.wanted = rows.newest(item.text)

    async def _write(self, subject: "GuidanceSubject") -> None:
        from memtui.tui.dialogs.draft_form import DraftForm

        note_id = await self.services.ask(DraftForm(subject, self.services))
        if note_id:
            self.screen.wanted = rows.newest(note_id)
            self.services.read()
