"""The health screen: findings with their fixes, of one project or of all; hooks, index budgets, errors, settings."""

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
from memtui.core.deliveries.statistics import percentile
from memtui.core.health import findings
from memtui.hooks.installer import checkup
from memtui.tui import key_bindings
from memtui.tui.model import fuzzy
from memtui.tui.screens.health import rows
from memtui.tui.screens.health.commands import PLACES, HealthCommands
from memtui.tui.screens.health.rows import HealthRow
from memtui.tui.screens.health.settings import SettingCommands
from memtui.tui.screens.health.snapshot import Snapshot, take_snapshot
from memtui.tui.screens.health.text import health_glance, health_text
from memtui.tui.screens.list_screen import Described, ListScreen
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


class Health(ListScreen[HealthRow]):
    """The screen: one list of everything that was found, and beside it the row under the cursor in full."""

    BINDINGS: ClassVar[list[BindingType]] = [*key_bindings.bindings("health")]
    group: ClassVar[str] = "health"
    legend: ClassVar[str] = rows.LEGEND
    nothing_chosen: ClassVar[str] = LOOKING

    def __init__(self, services: Services) -> None:
        columns = (Column("", 1), Column("", 18), Column(""))
        table = RowList[HealthRow](columns, self._draw, lambda row: row.key, empty=LOOKING, header=False, id="list")
        super().__init__(services, table, rows.searched, placeholder="filter: words of a line")
        self.snapshot = Snapshot()
        self.health_commands = HealthCommands(services, self, lambda: self.snapshot, self.go_to_row)
        self.commands |= self.health_commands.table()
        self.commands |= SettingCommands(services, self, self.health_commands.config).table()
        self.commands |= {
            "health.mark": Command(self.mark, self.health_commands.why_no_fix_here),
            "health.attention": Command(self.toggle_attention),
            "health.projects": Command(self.toggle_projects),
            "health.next_section": Command(lambda: self._step(1)),
            "health.previous_section": Command(lambda: self._step(-1)),
        }
        self.attention = self.everywhere = False
        self._wanted_section = ""  # the title of the section to go to once the rows are read
        self._worst = ""  # the id of the row that the cursor was put on
        self._has_looked = False
        self._client_time = 0.0  # when the client was asked for its version, on the monotonic clock

    def on_mount(self) -> None:
        """Start in the list, filtered as the screen was left the last time."""
        left = self.left
        text = left.get("text")
        self.typed = text if isinstance(text, str) else ""
        self.attention = left.get("attention") is True
        with self.prevent(Input.Changed):
            self.filter_line.value = self.typed
        self.filter_line.set_class(bool(self.typed), "shown")
        super().on_mount()

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
        if self._wanted_section:
            self.to_section(self._wanted_section)

    # showing

    def _draw(self, row: HealthRow) -> list[Text]:
        """Draw the cells of a row, with what the filter matched."""
        cells = rows.draw(row)
        if row.kind != "head":
            fuzzy.mark(cells[1:], self.typed)
        return cells

    def select(self) -> Sequence[HealthRow]:
        """Return the rows that the filters let through."""
        return rows.filtered(self.found, self.typed, attention=self.attention)

    def why_empty(self) -> str:
        """Return what an empty list says: that the filters hide everything, or that the files are being read."""
        return "No matches.\nescape shows everything again." if self.found else LOOKING

    def count(self) -> None:
        """Say on the right of the foot how many rows the filters show, or how many problems there are."""
        shown, total = (sum(row.kind != "head" for row in each) for each in (self.table.rows, self.found))
        count, marked = self.snapshot.problems, len(self.table.marks)
        words = f"{shown} of {total}" if shown < total else f"{count:,} to fix" if count else "all good"
        self.tell(words + (f" · {marked} marked" if marked else ""))

    def summary(self) -> Text:
        """Return the top line: how many problems there are, where the hooks are installed, how long they take."""
        text = Text(no_wrap=True, overflow="ellipsis", end="")
        if not self.found:
            return text
        count, hooks = self.snapshot.problems, self.snapshot.hooks
        installed = hooks is not None and hooks.installed
        if hooks is not None and hooks.unreadable:
            text.append("! No hook runs: Claude Code skips a settings file", style="bold yellow")
            text.append(" · ")
        elif not installed:
            key = "" if self.services.read_only else f": {actions.key_of('health.install')} installs them"
            text.append(f"! No hooks installed{key}", style="bold yellow")
            text.append(" · ")
        words, style = (f"! {many(count, 'problem')} to fix", "bold yellow") if count else ("✓ All good", "green")
        text.append(words, style=style)
        text.append(f" in {'all projects' if self.snapshot.others is not None else self.services.data.facts.project}")
        if self.snapshot.notes:
            text.append(f" · {self.snapshot.notes:,} worth knowing", style="dim")
        if hooks is not None and installed:
            places = ", ".join(dict.fromkeys(each.source for each in hooks.hooks))
            text.append(f" · {many(len(hooks.hooks), 'hook')} ({places})")
        times = [value for each in self.snapshot.times.values() for value in each]
        if times:
            text.append(f" · p50 {percentile(times, 0.5):.0f} p95 {percentile(times, 0.95):.0f} ms", style="dim")
        if self.snapshot.others is None:
            text.append(f" · {actions.key_of('health.projects')} all projects", style="dim")
        return text

    def describe(self, row: HealthRow) -> Described:
        """Return the detail of a row: the row in full, and the keys for it."""
        fix, now = self.health_commands.fix_words(row), self.services.data.now()
        place = PLACES.get(self.health_commands.place_of(row)[0], "")
        read_only = self.services.read_only
        glance, tail = health_glance(row, self.snapshot, fix, now, place, read_only=read_only)
        return Described(health_text(row, self.snapshot, fix, now, place, read_only=read_only), glance, tail)

    def footer_actions(self) -> list[actions.Action]:
        """Return the actions that work on the row under the cursor."""
        row, hooks = self.table.row, self.snapshot.hooks
        installed = hooks is not None and (hooks.installed or hooks.unreadable)
        possible = [each for each in super().footer_actions() if not self.commands[each.id].why_not()]
        no_install = installed and (row is None or row.kind != "event")
        fix = self.health_commands.fix_word()
        possible = [replace(each, footer=fix) if fix and each.id == "health.fix" else each for each in possible]
        return [each for each in possible if not (no_install and each.id == "health.install")]

    def open(self) -> None:
        """Edit a setting or a mode, go to what a finding is about, or show any other row in full."""
        row = self.table.row
        if row is not None and row.kind in {"mode", "setting"}:
            self.services.action_run("health.edit")
        elif self.health_commands.place_of(row)[0]:
            self.services.action_run("health.follow")
        else:
            self.open_detail()

    # marking

    def markable(self) -> Sequence[HealthRow]:
        """Return the rows that "mark all" marks: those that are fixed in the same way as the one under the cursor."""
        return self.health_commands.markable(self.table.rows)

    def mark_range(self) -> None:
        """Begin a range, or mark what can be fixed from there to the cursor."""
        super().mark_range()
        if not self.table.in_range:
            self.table.keep_marks(self.health_commands.fixable(self.table.rows))
            self.count()

    # filters

    @on(Input.Submitted, "#filter")
    def remember(self) -> None:
        """Remember the filters for the next time."""
        self.keep(text=self.typed, attention=self.attention)

    @on(Input.Submitted, "#filter")
    def leave_heading(self) -> None:
        """Put the cursor on the first row that the filter found, if it stands on a heading."""
        row, shown = self.table.row, self.table.rows
        if row is not None and row.kind == "head":
            self.table.move_to(next((n for n, each in enumerate(shown) if each.kind != "head"), 0))

    def toggle_attention(self) -> None:
        """Show only problems, or everything."""
        self.attention = not self.attention
        self.remember()
        self.fill()

    def toggle_projects(self) -> None:
        """Show the findings of all projects, or of this one."""
        self.everywhere = not self.everywhere
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

    def clear_filter(self) -> bool:
        """Clear the words of the filter."""
        cleared = super().clear_filter()
        if cleared:
            self.typed = ""
            self.remember()
            self.fill()
        return cleared

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

    # sections

    def _step(self, direction: int) -> None:
        """Go to the first row of the next section; backwards, of this section, or of the one before."""
        shown, at = self.table.rows, self.table.cursor
        firsts = [n for n in range(1, len(shown)) if shown[n - 1].kind == "head" != shown[n].kind]
        beyond = [n for n in firsts if (n - at) * direction > 0]
        if beyond:
            self._move_to(beyond[0 if direction > 0 else -1])

    def to_section(self, title: str) -> None:
        """Go to a section by its title, as soon as the rows are read."""
        self._wanted_section = "" if self.found else title
        if self.found and not self.go_to_row(f"head {title}", 1):
            self.attention = False
            self.clear_filter()
            self.fill()
            self.go_to_row(f"head {title}", 1)

    def go_to_row(self, key: str, below: int = 0) -> bool:
        """Put the cursor on the row with a key, or `below` rows further down; return False if it is not listed."""
        at = next((n for n, row in enumerate(self.table.rows) if row.key == key), None)
        if at is not None:
            self._move_to(at + below)
        return at is not None

    def _move_to(self, at: int) -> None:
        """Put the cursor on a row, scrolled so that the rows below it are visible too."""
        self.table.move_to(len(self.table.rows) - 1)
        self.table.move_to(at)
        self.table.focus()
