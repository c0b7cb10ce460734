"""Setup: whether everything is set up, on one page: problems with their fixes, hooks, modes, the model, settings."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.binding import BindingType
from textual.message import Message
from textual.widgets import Input
from textual.worker import Worker, get_current_worker

from memtui import actions
from memtui.core.base.finding import Finding
from memtui.core.base.phrasing import many
from memtui.core.health import findings
from memtui.hooks.installer import checkup
from memtui.tui import key_bindings
from memtui.tui.model import fuzzy
from memtui.tui.screens.list_screen import Described, ListScreen
from memtui.tui.screens.setup import rows
from memtui.tui.screens.setup.commands import PLACES, SetupCommands
from memtui.tui.screens.setup.rows import SetupRow
from memtui.tui.screens.setup.settings import SettingCommands
from memtui.tui.screens.setup.snapshot import Snapshot, take_snapshot
from memtui.tui.screens.setup.text import setup_glance, setup_text
from memtui.tui.services import Command, HowFar, Services
from memtui.tui.widgets.rows import Column, RowList

# Asking the client for its version starts a process.
CLIENT_SECONDS = 600.0
LOOKING = "looking …"
# The least time between two reports of progress.
PROGRESS_SECONDS = 0.2


@dataclass
class SnapshotTaken(Message):
    """The worker has looked at everything; `is_whole`: also at the client."""

    found: Snapshot
    is_whole: bool = True


class Setup(ListScreen[SetupRow]):
    """The screen: a list whose headings unfold, and beside it the row under the cursor in full."""

    BINDINGS: ClassVar[list[BindingType]] = [*key_bindings.bindings("setup")]
    group: ClassVar[str] = "setup"
    legend: str = rows.LEGEND
    nothing_chosen: ClassVar[str] = LOOKING

    def __init__(self, services: Services) -> None:
        columns = (Column("", 1), Column("", 18), Column(""))
        table = RowList[SetupRow](columns, self._draw, lambda row: row.key, empty=LOOKING, header=False, id="list")
        super().__init__(services, table, rows.searched, placeholder="filter: words of a line")
        self.snapshot = Snapshot()
        self.row_commands = SetupCommands(services, self, lambda: self.snapshot, self.go_to_row)
        self.commands |= self.row_commands.table()
        self.setting_commands = SettingCommands(services, self, self.row_commands.config)
        self.commands["setup.edit"] = Command(self.setting_commands.edit, self.setting_commands.why_no_edit)
        self.commands |= {
            "list.mark": Command(self.mark, self.row_commands.why_no_fix_here),
            "list.attention": Command(self.toggle_attention),
            "list.project": Command(self.toggle_projects),
            "setup.remove": Command(self._remove, self._why_no_remove),
        }
        self.attention = self.everywhere = False
        self.unfolded = set(rows.OPEN)  # the titles of headings
        self._worst = ""  # the id of the row that the cursor was put on
        self._has_looked = False
        self._client_time = 0.0  # when the client was asked for its version, on the monotonic clock

    @work(thread=True, exclusive=True, group="look")
    def reload(self) -> None:
        """Look at everything again, in a worker."""
        worker, data, everywhere = get_current_worker(), self.services.data, self.everywhere
        if data.client is None or time.monotonic() - self._client_time > CLIENT_SECONDS:
            if data.client is None:
                self.post_message(SnapshotTaken(take_snapshot(data, []), is_whole=False))
            data.client = checkup.client_check(data.env)
            self._client_time = time.monotonic()
        shown = self._take(worker, data.client, everywhere=everywhere)
        more = data.statistics.count(lambda _: not worker.is_cancelled)
        if (more or not shown.counted) and not worker.is_cancelled:  # another screen may have counted meanwhile
            self._take(worker, data.client, everywhere=everywhere)

    def _take(self, worker: "Worker[object]", client: list[Finding], *, everywhere: bool) -> Snapshot:
        """Look once, in a worker, and say how far that is. Return what was found."""
        told = time.monotonic()

        def progress(done: int, total: int) -> bool:
            nonlocal told
            if time.monotonic() - told > PROGRESS_SECONDS:
                told = time.monotonic()
                self.post_message(HowFar(f"checking {done} of {many(total, 'other project')}"))
            return not worker.is_cancelled

        found = take_snapshot(self.services.data, client, everywhere=everywhere, progress=progress)
        if not worker.is_cancelled:
            self.post_message(SnapshotTaken(found))
        return found

    def on_snapshot_taken(self, message: SnapshotTaken) -> None:
        """Show what was found. The cursor stays on its row. Until the first look is whole or the person moves it,
        that is the worst finding."""
        first = not self.found or (not self._has_looked and self.table.row_id == self._worst)
        if first:
            self.wanted = lambda _: 1
        self.snapshot = message.found
        self.found = rows.rows(message.found, self.services.data.now())
        self.services.data.facts.waiting[self.group] = findings.problems(message.found.findings)
        self.fill()
        self._worst = self.table.row_id if first else ""
        self._has_looked = self._has_looked or message.is_whole

    # showing

    def _draw(self, row: SetupRow) -> list[Text]:
        """Draw the cells of a row, with what the filter matched."""
        cells = rows.draw(row, is_open=row.title in self.unfolded or self._is_filtered)
        if row.kind != "head":
            fuzzy.mark(cells[1:], self.typed)
        return cells

    @property
    def _is_filtered(self) -> bool:
        return bool(self.typed.strip()) or self.attention

    def select(self) -> Sequence[SetupRow]:
        """Return the rows below unfolded headings; with a filter the ones that it lets through, folded or not."""
        if self._is_filtered:
            return rows.filtered(self.found, self.typed, attention=self.attention)
        return rows.unfolded(self.found, self.unfolded)

    def why_empty(self) -> str:
        """Return what an empty list says: that the filters hide everything, or that the files are being read."""
        return "No matches.\nescape shows everything again." if self.found else LOOKING

    def count(self) -> None:
        """Say on the right of the foot how many rows the filters show, or how many problems there are."""
        count, marked = self.snapshot.problems, len(self.table.marks)
        shown = sum(row.kind != "head" for row in self.table.rows)
        words = f"{shown} match" if self._is_filtered else f"{count:,} to fix" if count else "all good"
        self.tell(words + (f" · {marked} marked" if marked else ""))

    def summary(self) -> Text:
        """Return the top line: whether hooks run, how many problems there are, and where."""
        text = Text(no_wrap=True, overflow="ellipsis", end="")
        if not self.found:
            return text
        count, hooks = self.snapshot.problems, self.snapshot.hooks
        installed = hooks is not None and hooks.installed
        if hooks is not None and hooks.unreadable:
            text.append("! No hook runs: Claude Code skips a settings file", style="bold yellow")
            text.append(" · ")
        elif not installed:
            key = "" if self.services.read_only else f": {actions.key_of('setup.accept')} on hooks to install"
            text.append(f"! No hooks{key}", style="bold yellow")
            text.append(" · ")
        words, style = (f"! {many(count, 'problem')} to fix", "bold yellow") if count else ("✓ All good", "green")
        text.append(words, style=style)
        text.append(f" in {'all projects' if self.snapshot.others is not None else self.services.data.facts.project}")
        if self.snapshot.others is None:
            text.append(f" · {actions.key_of('list.project')} all projects", style="dim")
        return text

    def describe(self, row: SetupRow) -> Described:
        """Return the detail of a row: the row in full, and the keys for it."""
        fix, now = self.row_commands.fix_words(row), self.services.data.now()
        place = PLACES.get(self.row_commands.place_of(row)[0], "")
        read_only = self.services.read_only
        glance, tail = setup_glance(row, self.snapshot, fix, now, place, read_only=read_only)
        return Described(setup_text(row, self.snapshot, fix, now, place, read_only=read_only), glance, tail)

    def footer_actions(self) -> list[actions.Action]:
        """Return the actions that work on the row under the cursor."""
        possible = [each for each in super().footer_actions() if not self.commands[each.id].why_not()]
        words = {"setup.accept": self.row_commands.fix_word()}
        if self.row_commands.is_of_hooks(self.table.row):
            words["setup.remove"] = "remove hooks"
        return [replace(each, footer=words.get(each.id) or each.footer) for each in possible]

    def open(self) -> None:
        """Unfold or fold a heading, or read any other row in full."""
        row = self.table.row
        if row is None or row.kind != "head" or row.mark:
            self.open_detail()
        elif not self._is_filtered:
            self.unfolded ^= {row.title}
            self.fill()

    def _remove(self) -> object:
        if self.row_commands.is_of_hooks(self.table.row):
            return self.row_commands.uninstall()
        if self.table.row_id == rows.READING:
            self.row_commands.stop_reading()
            return None
        self.setting_commands.default()
        return None

    def _why_no_remove(self) -> str:
        if self.row_commands.is_of_hooks(self.table.row):
            return self.row_commands.why_no_uninstall()
        if self.table.row_id == rows.READING:
            return self.row_commands.why_no_stop()
        return self.setting_commands.why_no_default()

    # marking

    def markable(self) -> Sequence[SetupRow]:
        """Return the rows that "mark all" marks: those that are fixed in the same way as the one under the cursor."""
        return self.row_commands.markable(self.table.rows)

    def mark_range(self) -> None:
        """Begin a range, or mark what can be fixed from there to the cursor."""
        super().mark_range()
        if not self.table.in_range:
            self.table.keep_marks(self.row_commands.fixable(self.table.rows))
            self.count()

    # filters

    @on(Input.Submitted, "#filter")
    def leave_heading(self) -> None:
        """Put the cursor on the first row that the filter found, if it stands on a heading."""
        row, shown = self.table.row, self.table.rows
        if row is not None and row.kind == "head":
            self.table.move_to(next((n for n, each in enumerate(shown) if each.kind != "head"), 0))

    def toggle_attention(self) -> None:
        """Show only problems, or everything."""
        self.attention = not self.attention
        self.table.redraw()
        self.fill()

    def toggle_projects(self) -> None:
        """Show the findings of all projects, or of this one."""
        self.everywhere = not self.everywhere
        self.tell(LOOKING)
        self.reload()

    def escape_steps(self) -> Sequence[Callable[[], bool]]:
        """Return the steps of escape: leave the detail, unmark, clear the words, show also what is good, only this
        project."""
        return (
            self.leave_detail,
            self.table.clear_marks,
            self.clear_filter,
            self._clear_attention,
            self._leave_everywhere,
        )

    def _clear_attention(self) -> bool:
        if self.attention:
            self.toggle_attention()
            return True
        return False

    def _leave_everywhere(self) -> bool:
        if self.everywhere:
            self.toggle_projects()
            return True
        return False

    def go_to_row(self, key: str) -> None:
        """Put the cursor on the row with a key, which is unfolded and so is listed, scrolled so that the rows below it
        are visible too."""
        row = next((row for row in self.found if row.key == key), None)
        if row is None:
            return
        self.unfolded.add(row.group)
        self.attention = False
        if not self.clear_filter():
            self.fill()
        self.table.move_to(len(self.table.rows) - 1)
        self.table.move_to([listed.key for listed in self.table.rows].index(key))
        self.table.focus()
