"""The commands of the Sessions screen: tell a session, show its deliveries, choose what is listed."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from memtui.core.deliveries.session_list import SessionRow
from memtui.present import sessions
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.services import Command, Services

if TYPE_CHECKING:
    from memtui.tui.screens.sessions.reading import SessionsReader


class SessionsCommands:
    """The commands, on the list of the screen and its reader. `project` returns the name of a row's project;
    `show_lost` shows only what lost something, or all again."""

    def __init__(
        self,
        services: Services,
        screen: ListScreen[SessionRow],
        reader: "SessionsReader",
        project: Callable[[SessionRow], str],
        show_lost: Callable[[], object],
    ) -> None:
        self.services, self.screen, self.reader = services, screen, reader
        self.project, self.show_lost = project, show_lost

    def table(self) -> dict[str, Command]:
        """Return command by action id."""
        no_row = self.screen.no_row
        return {
            "app.guide": Command(self.tell),
            "sessions.deliveries": Command(self.deliveries, no_row),
            "sessions.lost": Command(self.show_lost),
            "sessions.projects": Command(self.projects),
        }

    async def tell(self) -> None:
        """Write guidance to the session under the cursor; to its project if it can't be resumed any more."""
        from memtui.tui.dialogs.draft_form import DraftForm
        from memtui.tui.dialogs.guidance_subject import SESSION, GuidanceSubject, blank

        row, data = self.screen.table.row, self.services.data
        subject = GuidanceSubject(data)
        if row is not None:
            note = blank(data) if sessions.is_gone(row) else blank(data, to=SESSION + row.id)
            home = (row.slug or None, self.project(row))
            subject = GuidanceSubject(data, note, key=f"session-{row.id}", home=home)
        if await self.services.ask(DraftForm(subject, self.services)):
            self.services.read()

    def deliveries(self) -> None:
        """Show the deliveries of the session under the cursor, from its first."""
        row = self.screen.table.row
        if row is not None:
            self.services.show_deliveries(session=row.id)

    def projects(self) -> None:
        """Show the sessions of all projects, or of this one only."""
        self.reader.every = not self.reader.every
        self.screen.reload()
