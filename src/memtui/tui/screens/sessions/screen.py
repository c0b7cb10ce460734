"""The Sessions screen: the sessions that run now and those that are past, what each was told and whether it arrived."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.binding import BindingType

from memtui import actions
from memtui.core.base.phrasing import many
from memtui.core.deliveries.log import WINDOW_BYTES
from memtui.core.deliveries.session_list import SessionRow
from memtui.present import legend as marks
from memtui.present import sessions, unheard
from memtui.tui import key_bindings
from memtui.tui.screens.list_screen import Described, ListScreen
from memtui.tui.screens.sessions import rows, text
from memtui.tui.screens.sessions.commands import SessionsCommands
from memtui.tui.screens.sessions.reading import DetailRead, LiveChanged, SessionsRead, SessionsReader
from memtui.tui.services import Services
from memtui.tui.widgets.rows import RowList

# How often it is looked whether sessions began or ended: that changes no file that is watched.
LIVE_SECONDS = 5.0
EMPTY = """No session of this project was seen yet.
Each session that you start with `claude` is listed here, with what it got."""
EMPTY_UNHEARD = """No session of this project was seen yet.
{}."""
ELSEWHERE = """No session of this project was seen yet.
{sessions.projects} shows %s."""
NOTHING_LOST = "Nothing was lost in any session here.\n{sessions.lost} shows all sessions."


class Sessions(ListScreen[SessionRow]):
    """The screen: live sessions first, then past ones by last activity; what each was told in the detail."""

    BINDINGS: ClassVar[list[BindingType]] = [*key_bindings.bindings("sessions")]
    group: ClassVar[str] = "sessions"
    legend: ClassVar[str] = (
        marks.section(
            "Sessions",
            [
                (sessions.LIVE[0], "in the first column: Claude Code runs it now"),
                (sessions.WAITING, "a note that waits for it"),
                ("8 of 10", "8 arrived of 10 that are settled"),
            ],
        )
        + "\n"
        + marks.receipts("The worst that became of its deliveries")
    )
    tab: ClassVar[str] = "deliveries"
    reads: ClassVar[frozenset[str]] = frozenset({"settings", "inbox", "log", "receipts"})
    row_word: ClassVar[str] = "session"
    nothing_chosen: ClassVar[str] = "No session is selected."
    detail_percent: ClassVar[int] = 40
    rest_key: ClassVar[str] = "sessions.whole"

    def __init__(self, services: Services) -> None:
        table = RowList[SessionRow](rows.COLUMNS, self._draw, lambda row: row.id, id="list")
        super().__init__(services, table, self._searched, placeholder="filter: title, project, branch, receipts")
        self.reader = SessionsReader(services.data, self.post_message)
        self.commands |= SessionsCommands(services, self, self.reader, self.project, self.toggle_lost).table()
        self.names: dict[str, str] = {}
        self.only_lost = False
        self._sought = ""
        self._has_read = False
        self._elsewhere, self._older, self._progress = 0, False, ""
        self._details: dict[str, DetailRead] = {}

    def on_mount(self) -> None:
        """Start, and look now and then which sessions are live."""
        super().on_mount()
        self.set_interval(LIVE_SECONDS, self._look_live)

    # reading

    @work(thread=True, exclusive=True, group="sessions")
    def reload(self) -> None:
        """Read the sessions in a worker."""
        self.reader.read()

    @work(thread=True, exclusive=True, group="session")
    def _read_detail(self, row: SessionRow) -> None:
        self.reader.detail(row)

    def _look_live(self) -> None:
        if self.is_current:
            self._read_live()

    @work(thread=True, exclusive=True, group="live")
    def _read_live(self) -> None:
        self.reader.look_live()

    def on_live_changed(self, _: LiveChanged) -> None:
        """Show which sessions are live now."""
        self.reload()

    def on_sessions_read(self, message: SessionsRead) -> None:
        """Show what was read so far."""
        self.found, self.names, self._progress = message.rows, message.names, message.progress
        self._elsewhere, self._older = message.elsewhere, message.older
        self._has_read = self._has_read or not message.progress
        self.table.columns = list(rows.COLUMNS if self.reader.every else rows.OF_ONE_PROJECT)
        if not message.progress:
            self._details.clear()
        self.fill()
        if not message.progress and self.wanted is not None:
            self._seek_elsewhere()

    def on_detail_read(self, message: DetailRead) -> None:
        """Show what a session was told."""
        self._details = {message.session: message}
        if self.table.row_id == message.session:
            self.show_detail()

    def go_to(self, session: str) -> None:
        """Put the cursor on a session, once it is read."""
        self._sought = session
        self.wanted = self._find_sought
        if self.is_mounted:
            self.fill()

    def _seek_elsewhere(self) -> None:
        """List the sessions of all projects, as the one that is sought is not of this one."""
        if self._elsewhere:
            self.reader.every = True
            self.reload()
        else:
            self.wanted = None

    def _find_sought(self, shown: Sequence[SessionRow]) -> int | None:
        return next((at for at, row in enumerate(shown) if row.id == self._sought), None)

    def refresh_ages(self) -> None:
        """Look again which sessions are live, too."""
        super().refresh_ages()
        self.reload()

    # showing

    def _searched(self, row: SessionRow) -> str:
        return f"{self.names.get(row.project, '')} {rows.searched(row)}"

    def select(self) -> Sequence[SessionRow]:
        """Return the sessions that pass the filter; with `only_lost` those that lost something."""
        found = super().select()
        return [row for row in found if row.counts.lost] if self.only_lost else found

    def toggle_lost(self) -> None:
        """Show only the sessions that lost something, or all."""
        self.only_lost = not self.only_lost
        self.fill()

    def why_empty(self) -> str:
        """Return the text of an empty list."""
        if self.typed:
            return super().why_empty()
        if not self._has_read:
            return "Reading the sessions …"
        if self.only_lost and self.found:
            return actions.keyed(NOTHING_LOST)
        if self._elsewhere:
            return actions.keyed(
                ELSEWHERE % many(self._elsewhere, "session of other projects", "sessions of other projects")
            )
        why_unheard = unheard.keyed(self.services.data.unheard(), read_only=self.services.read_only)
        if why_unheard:
            return EMPTY_UNHEARD.format(why_unheard[:1].upper() + why_unheard[1:])
        return actions.keyed(EMPTY)

    def summary(self) -> Text:
        """Return how many sessions are live and past, when one was seen last, and how many lost something."""
        line = Text(no_wrap=True, overflow="ellipsis")
        if not self._has_read and not self.found:
            return line.append("Reading the sessions …", style="dim")
        live = sum(row.live for row in self.found)
        line.append(f"Sessions: {live or 'none'} live", style="bold")
        past = len(self.found) - live
        if past:
            line.append(f" · {past:,} past", style="dim")
        lost = sum(row.counts.lost > 0 for row in self.found)
        if lost:
            line.append(f" · {lost:,} lost something", style="red")
        if self.only_lost:
            line.append(actions.keyed(" · only these are shown, {sessions.lost} shows all"), style="bold")
        problem = unheard.keyed(self.services.data.unheard(), read_only=self.services.read_only)
        if problem:
            line.append(f" · {problem}", style="bold yellow")
        if self.reader.every:
            line.append(" · all projects", style="dim")
        elif self._elsewhere:
            line.append(actions.keyed(f" · {{sessions.projects}}: {self._elsewhere:,} in other projects"), style="dim")
        if self._older:
            line.append(f" · counted in the newest {WINDOW_BYTES >> 20} MB of the log", style="dim")
        return line

    def count(self) -> None:
        """Say on the right of the foot how far reading is, or how many sessions pass the filter."""
        if self._progress:
            self.tell(self._progress)
        else:
            super().count()

    def footer_actions(self) -> list[actions.Action]:
        """Return the actions for the bottom bar: `!` only where something was lost, none twice."""
        lost = self.only_lost or any(row.counts.lost for row in self.found)
        left_out = {"sessions.whole"} if self.detail_covers_list else set()
        left_out |= set() if lost else {"sessions.lost"}
        return [each for each in super().footer_actions() if each.id not in left_out]

    def _draw(self, row: SessionRow) -> list[Text]:
        return rows.cells(row, self.project(row), self.typed, self.services.data.now())

    def project(self, row: SessionRow) -> str:
        """Return the name of a session's project."""
        return self.names.get(row.project, row.project)

    def _resume(self, row: SessionRow) -> str:
        return sessions.resume(row, self.services.data.cwd)

    def describe(self, row: SessionRow) -> Described:
        """Return the detail of a session; what it was told is read in a worker."""
        found, now = self._details.get(row.id), self.services.data.now()
        if found is None:
            self._read_detail(row)
        glance = text.glance(row, self.project(row), found, now)
        tail = text.tail(row, found)
        whole = text.detail(row, self.project(row), found, self._resume(row), now)
        text.add_keys(whole, row, read_only=self.services.read_only)
        return Described(whole, glance, tail)

    def copied(self) -> str:
        """Return the text for the clipboard: the command that resumes the session."""
        return self._resume(self.table.row) if self.table.row is not None else ""

    # enter and escape

    def open(self) -> None:
        """Open the row under the cursor: show its deliveries."""
        self.services.action_run("sessions.deliveries")

    def escape_steps(self) -> Sequence[Callable[[], bool]]:
        """Return the steps of escape: the detail, the filters, then back to the screen before."""
        return (self.leave_detail, self.clear_filter, self._all_again, self._back)

    def _all_again(self) -> bool:
        if not self.only_lost:
            return False
        self.toggle_lost()
        return True

    def _back(self) -> bool:
        self.services.go_back()
        return True
