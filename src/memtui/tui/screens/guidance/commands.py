"""The commands of the Guidance screen: write, edit, withdraw and send again."""

from memtui import actions
from memtui.core.inbox.format import Entry
from memtui.core.review.waiting import Waiting
from memtui.present import unheard
from memtui.present.drafts import named
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.dialogs.guidance_subject import GuidanceSubject, note_from
from memtui.tui.screens.guidance import rows
from memtui.tui.screens.guidance.reading import GuidanceNotes
from memtui.tui.screens.guidance.rows import GuidanceRow
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.services import Command, Services, first_of


def _entry(row: GuidanceRow) -> Entry:
    """Return a note as an entry of an inbox, a delivered one as far as the log tells of it."""
    waiting = row.item.entry if row.item is not None else row.under_way.entry if row.under_way is not None else None
    return waiting or Entry("", row.note.fields if row.note is not None else {}, row.text, "", 0)


class GuidanceCommands:
    """The commands, on the list of the screen and its notes."""

    def __init__(self, services: Services, screen: ListScreen[GuidanceRow], notes: GuidanceNotes) -> None:
        self.services, self.screen, self.notes = services, screen, notes

    def table(self) -> dict[str, Command]:
        """Return command by action id."""
        no_row, one = self.screen.no_row, self.screen.one_by_one
        return {
            "app.guide": Command(self.new),
            "guidance.new": Command(self.new),
            "guidance.edit": Command(self.edit, first_of(no_row, one, self._why_no_edit)),
            "guidance.withdraw": Command(self.withdraw, first_of(no_row, self._why_no_withdrawal)),
            "guidance.again": Command(self.again, first_of(no_row, one)),
            "guidance.projects": Command(self.projects),
        }

    async def new(self) -> None:
        """Write guidance."""
        await self._write(GuidanceSubject(self.services.data))

    def _why_no_edit(self) -> str:
        row = self.screen.table.row
        return self._why_over() if row is None or row.item is None else ""

    def _why_no_withdrawal(self) -> str:
        return "" if self._chosen_waiting() else self._why_over()

    def _why_over(self) -> str:
        row = self.screen.table.row
        if row is not None and row.under_way is not None:
            return "It is under way: Claude Code has it already."
        return actions.keyed("It was sent already. {guidance.again} sends it again.")

    async def edit(self) -> None:
        """Edit the waiting note under the cursor."""
        row = self.screen.table.row
        if row is not None:
            await self._write(GuidanceSubject(self.services.data, item=row.item, home=self._home(row)))

    def _chosen_waiting(self) -> list[Waiting]:
        return [row.item for row in self.screen.table.chosen() if row.item is not None]

    def withdraw(self) -> None:
        """Withdraw the chosen notes that wait."""
        items = self._chosen_waiting()
        try:
            self.services.data.review().withdraw(items)
            self.screen.table.clear_marks()
            self.services.say(f"Withdrawn: {named(items)}. {actions.takes_back()}")
        finally:
            self.services.read()

    async def again(self) -> None:
        """Send a note again: open the form with its text, for whom it was, and how urgent. An expired or held one goes
        back into the queue itself."""
        row = self.screen.table.row
        if row is None:
            return
        if row.item is not None and rows.is_over(row):
            self._renew(row.item)
            return
        data = self.services.data
        everywhere = row.note.scope == "global" if row.note is not None else self.notes.slug(row) is None
        note = note_from(_entry(row), everywhere=everywhere)
        await self._write(GuidanceSubject(data, note, key=row.key.rpartition(" ")[2], home=self._home(row)))

    def _renew(self, item: Waiting) -> None:
        try:
            self.services.data.review().again(item)
            self.screen.wanted = rows.newest(item.text)
            problem = unheard.keyed(self.services.data.unheard())
            words = f", but nothing delivers it yet: {problem}" if problem else ""
            self.services.say(f"Queued {named([item])} again{words}. {actions.takes_back()}")
        finally:
            self.services.read()

    def projects(self) -> None:
        """Show the notes of all projects, or of this one only."""
        self.notes.every = not self.notes.every
        self.screen.reload()

    def _home(self, row: GuidanceRow) -> tuple[str | None, str]:
        return self.notes.slug(row), self.notes.project(row)

    async def _write(self, subject: GuidanceSubject) -> None:
        sent = await self.services.ask(DraftForm(subject, self.services))
        if sent:
            self.screen.wanted = rows.newest(sent)
            self.services.read()
