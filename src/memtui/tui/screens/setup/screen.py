"""Setup: whether everything is set up, on one page: problems with their fixes, hooks, mode, the model, settings."""

import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.binding import BindingType
from textual.message import Message
from textual.widgets import Input
from textual.worker import get_current_worker

from memtui import actions
from memtui.base.phrasing import many
from memtui.hooks.install import checkup
from memtui.tui.model import fuzzy
from memtui.tui.screens.frame import Described
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.screens.setup import rows, text
from memtui.tui.screens.setup.commands import SetupCommands
from memtui.tui.screens.setup.rows import BAD, PROBLEMS, SetupRow, Snapshot, take_snapshot
from memtui.tui.services import Command, Services, bindings
from memtui.tui.widgets.rows import Column, RowList
from memtui.views import query

# Asking the client for its version starts a process.
CLIENT_SECONDS = 600.0
LOOKING, FINE = "looking …", "✓ All set up"
# What the top line calls the problems in the Inbox, by the word for their rows there.
IN_INBOX = {"fix": ("fix", "fixes"), "problem": ("problem",), "trust": ("to trust", "to trust")}
# Cells of the column of titles, and from which width of the list it has the second.
TITLE_WIDTHS, ROOMY = (16, 20), 60


@dataclass
class SnapshotTaken(Message):
    """The worker has looked at everything; `is_whole`: also at the client."""

    seen: Snapshot
    is_whole: bool = True


class Setup(ListScreen[SetupRow]):
    """The screen: a list whose headings unfold, and beside it the row under the cursor in full."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("setup")]
    group: ClassVar[str] = "setup"
    legend: str = rows.LEGEND
    terms: ClassVar[Collection[str]] = ("is",)

    def __init__(self, services: Services) -> None:
        slim, roomy = TITLE_WIDTHS
        titles = (Column("", slim, until_width=ROOMY), Column("", roomy, from_width=ROOMY))
        columns = (Column("", 1), *titles, Column(""))
        table = RowList[SetupRow](columns, self._draw, lambda row: row.key, empty=LOOKING, header=False, id="list")
        super().__init__(services, table, placeholder="words of a line, is:problem")
        self.snapshot = Snapshot()
        self.row_commands = SetupCommands(services, self, lambda: self.snapshot)
        for verb in ("mark", "mark_all", "range"):  # nothing here is done to several at once
            del self.commands[f"list.{verb}"]
        self.commands |= self.row_commands.table() | {
            "list.attention": Command(lambda: self.toggle_term(query.IS_PROBLEM))
        }
        self.unfolded = set(rows.OPEN)  # the titles of headings
        self._counted: Counter[str] | None = None  # of the Inbox, as the title has it
        self._worst = ""  # the id of the row that the cursor was put on
        self._has_looked = False
        self._client_time = 0.0  # when the client was asked for its version, on the monotonic clock

    @work(thread=True, exclusive=True, group="look")
    def reload(self) -> None:
        worker, data = get_current_worker(), self.services.data
        if data.client is None or time.monotonic() - self._client_time > CLIENT_SECONDS:
            if data.client is None:
                self.post_message(SnapshotTaken(take_snapshot(data, []), is_whole=False))
            data.client = checkup.client_check(data.env)
            self._client_time = time.monotonic()
        snapshot = take_snapshot(data, data.client)
        if not worker.is_cancelled:
            self.post_message(SnapshotTaken(snapshot))
        more = data.statistics.count(lambda _: not worker.is_cancelled)
        if (more or not snapshot.counted) and not worker.is_cancelled:  # another screen may have counted meanwhile
            self.post_message(SnapshotTaken(take_snapshot(data, data.client)))

    def on_snapshot_taken(self, message: SnapshotTaken) -> None:
        """Show what was seen, the cursor on its row, or at first on the worst finding."""
        first = not self.all_rows or (not self._has_looked and self.table.row_id == self._worst)
        if first:
            self.wanted = lambda listed: int(any(row.title == PROBLEMS for row in listed[:1]))
        self.snapshot = message.seen
        self.all_rows = rows.rows(message.seen, self.services.data.now())
        self.services.data.facts.waiting[self.group] = message.seen.problems
        self.fill()
        self._worst = self.table.row_id if first else ""
        self._has_looked = self._has_looked or message.is_whole

    # showing

    def frame_top(self) -> None:
        """Draw the top line; what waits in the Inbox may have been counted meanwhile."""
        super().frame_top()
        if self._counted != self.services.data.decisions:
            self._counted = self.services.data.decisions
            self.fill()

    def _elsewhere(self) -> list[str]:
        """Return which problems wait in other places: in the Inbox as many as it has rows for."""
        counts, of_notes = self.services.data.decisions or Counter(), self.snapshot.of_notes
        in_inbox = ", ".join(many(counts[word], *nouns) for word, nouns in IN_INBOX.items() if counts[word])
        in_activity = f"{many(of_notes, 'note')} lost" if of_notes else ""
        return [f"{place}: {words}" for place, words in (("Inbox", in_inbox), ("Activity", in_activity)) if words]

    @property
    def of_all_projects(self) -> bool:
        """Whether the list is of all projects: it is of this one, whichever is chosen."""
        return False

    def _draw(self, row: SetupRow) -> list[Text]:
        """Draw the cells of a row, with what the filter matched."""
        cells = rows.draw(row, is_open=row.title in self.unfolded or self.is_filtered)
        if row.kind != "head":
            fuzzy.mark(cells[2:], self.typed)
        return cells

    def select(self) -> Sequence[SetupRow]:
        if self.is_filtered:
            return rows.filtered(self.all_rows, self.typed)
        return [row for row in self.all_rows if row.kind == "head" or row.group in self.unfolded]

    def why_no_matches(self) -> str:
        state = query.parse(self.typed, self.terms).terms.get("is", "")
        if self.typed.strip() == query.IS_PROBLEM:
            return "No problems in the setup."  # the title has those of other places
        is_known = query.PROBLEM.startswith(state)
        return super().why_no_matches() if is_known else query.not_among("is", state, [query.PROBLEM])

    def numbers(self) -> tuple[str, str]:
        count, total = (
            sum(row.kind != "head" for row in setup_rows) for setup_rows in (self.table.rows, self.all_rows)
        )
        return f"{count:,}", f"{total:,}"

    def summary(self) -> Text:
        if self.is_filtered and self.typed.strip() != query.IS_PROBLEM:
            return super().summary()
        parts = []
        if not self.all_rows:
            return Text()
        count, hooks = self.snapshot.problems, self.snapshot.hooks
        if hooks is not None and hooks.unreadable:
            parts.append("! No hook runs: Claude Code skips a settings file")
        elif hooks is None or not hooks.installed:
            key = "" if self.services.read_only else f": press {actions.key_of('setup.approve')}"
            parts.append(f"! Hooks are not installed{key}")
            count -= any(finding.code == "hooks.absent" for finding in self.snapshot.findings)
        parts += [f"! {many(count, 'problem')} to fix"] * bool(count)
        line = Text().append("" if parts else FINE[0], "green").append("" if parts else FINE[1:])
        for part in (*parts, *self._elsewhere()):
            line.append(" · " if line else "").append(part, BAD if part in parts else "")
        return line

    def describe(self, row: SetupRow) -> Described:
        keys = [(f"setup.{verb}", way.words) for verb, way in self.row_commands.ways(row).items()]
        return text.describe(row, self.snapshot, keys, self.services.data, read_only=self.services.read_only)

    def footer_actions(self) -> list[actions.Action]:
        possible = [action for action in super().footer_actions() if not self.commands[action.id].why_not()]
        words = {f"setup.{verb}": way.footer for verb, way in self.row_commands.ways(self.table.row).items()}
        shown = [action for action in possible if action.group != self.group or action.id in words]
        return [replace(action, footer=words.get(action.id) or action.footer) for action in shown]

    def fold_of(self, row: SetupRow) -> str:
        """Return the title of the heading that a row is or is below; empty while a filter shows all."""
        return "" if self.is_filtered else row.group or row.title * row.is_fold

    def fold_word(self) -> str:
        row = self.table.row
        if row is None or not row.is_fold or self.is_filtered:
            return ""
        return "fold" if row.title in self.unfolded else "unfold"

    # filters

    @on(Input.Submitted, "#filter")
    def leave_heading(self) -> None:
        row, setup_rows = self.table.row, self.table.rows
        if row is not None and row.kind == "head":
            self.table.move_to(next((n for n, setup_row in enumerate(setup_rows) if setup_row.kind != "head"), 0))

    def escape_steps(self) -> Sequence[Callable[[], bool]]:
        return (self.leave_detail, self.clear_filter)
