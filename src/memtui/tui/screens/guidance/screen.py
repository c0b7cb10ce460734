"""The Guidance screen: the notes that wait for the agent, those under way, and those delivered, with what became of
them."""

from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.binding import BindingType
from textual.message import Message

from memtui import actions
from memtui.core.base.phrasing import age, ago, many
from memtui.core.deliveries import receipts
from memtui.core.review.waiting import Waiting
from memtui.present import legend as marks
from memtui.present import safe_text, unheard
from memtui.tui import key_bindings
from memtui.tui.model import fuzzy
from memtui.tui.screens.guidance import rows, text
from memtui.tui.screens.guidance.commands import GuidanceCommands
from memtui.tui.screens.guidance.reading import GuidanceNotes
from memtui.tui.screens.guidance.rows import GuidanceRow
from memtui.tui.screens.list_screen import Described, ListScreen
from memtui.tui.services import Services
from memtui.tui.widgets.rows import Column, RowList

EMPTY = """No notes yet.
{app.guide} writes a note: the agent gets it once, with its next prompt, and you see here whether it arrived.
Scripts leave notes with: memtui guide "…\""""
COLUMNS = (
    Column("state", 11),
    Column("note"),
    Column("to", 14, from_width=56, until_width=86),
    Column("to", 26, from_width=86),
    Column("from", 10, from_width=76),
    Column("age", 4, right=True),
)
# The order of actions in the bottom bar.
# The actions in the foot. Again is for what was delivered, or never will be.
WAITING_ACTIONS, DELIVERED_ACTIONS = ("edit", "withdraw", "mark", "filter"), ("again", "mark", "filter")
STUCK_ACTIONS = ("edit", "withdraw", "again", "mark", "filter")


@dataclass
class Queued(Message):
    """The notes that wait or are under way were read (`queue`). `history`: the delivered ones, None if not read yet;
    `problem`: what could not be read, in words; `unused`: no session was ever given anything; `elsewhere`: how many
    wait in other projects."""

    queue: list[GuidanceRow]
    history: list[GuidanceRow] | None
    problem: str
    unused: bool
    elsewhere: int


class Titled(Message):
    """The titles of more sessions were found."""


class Guidance(ListScreen[GuidanceRow]):
    """The screen: waiting, under way and delivered notes in one list, and the note in the detail."""

    BINDINGS: ClassVar[list[BindingType]] = [*key_bindings.bindings("guidance")]
    group: ClassVar[str] = "guidance"
    detail_percent: ClassVar[int] = 40
    reads: ClassVar[frozenset[str]] = frozenset({"settings", "inbox", "log", "receipts"})
    row_word: ClassVar[str] = "note"
    legend: ClassVar[str] = (
        marks.section("Notes", rows.MARKS) + "\n" + marks.receipts("Delivered notes") + "\n"
        "A session gets a note once. What did not arrive comes back into the queue; after three times it is held."
    )

    def __init__(self, services: Services) -> None:
        empty = actions.keyed(EMPTY, read_only=services.read_only)
        table = RowList[GuidanceRow](COLUMNS, self._draw, lambda row: row.key, empty=empty, id="list")
        self.notes = GuidanceNotes(services.data)
        searched = lambda row: rows.searched(row, self._to(row))
        super().__init__(services, table, searched, placeholder="filter: text, to, sender, state")
        self.commands |= GuidanceCommands(services, self, self.notes).table()
        self._problem = ""
        self._unused = False
        self._elsewhere = 0

    @work(thread=True, exclusive=True, group="guidance")
    def reload(self) -> None:
        """Read queue, history and session titles in a worker."""
        slugs = self.notes.slugs()
        queue, problem = self.notes.queue(slugs)
        unused, elsewhere = not self.services.data.records(1), self.notes.elsewhere()
        self.post_message(Queued(queue, None, problem, unused, elsewhere))
        history = self.notes.history(slugs, queue)
        self.post_message(Queued(queue, history, problem, unused, elsewhere))
        if self.notes.look_up(queue + history):
            self.post_message(Titled())

    def on_queued(self, message: Queued) -> None:
        """Show what was read."""
        self._problem, self._unused, self._elsewhere = message.problem, message.unused, message.elsewhere
        history = [row for row in self.found if row.note] if message.history is None else message.history
        self.found = message.queue + history
        self.fill()

    def on_titled(self) -> None:
        """Show the titles of sessions."""
        self.table.redraw()
        self.fill()

    def refresh_ages(self) -> None:
        """Read again: waiting notes may have expired."""
        super().refresh_ages()
        self.reload()

    def go_to(self, item: Waiting) -> None:
        """Put the cursor on a waiting note, once it is read."""
        self.notes.every = self.notes.every or item.slug not in {None, self.services.data.slug}
        self.wanted = rows.newest(item.text)
        if self.is_mounted:
            self.reload()

    def copied(self) -> str:
        """Return the text for the clipboard: the note."""
        return self.table.row.text if self.table.row else ""

    def footer_actions(self) -> list[actions.Action]:
        """Return the actions that suit the row under the cursor."""
        row = self.table.row
        order: tuple[str, ...] = DELIVERED_ACTIONS
        if row is None or row.item is not None:
            order = STUCK_ACTIONS if row is not None and row.states else WAITING_ACTIONS
        return [actions.get(f"guidance.{verb}") for verb in order]

    def summary(self) -> Text:
        """Return how many notes wait, are stuck or are under way, and what became of the last one delivered."""
        summary = Text(no_wrap=True, overflow="ellipsis")
        waiting = [row for row in self.found if row.item is not None]
        stuck = sum(bool(row.states) for row in waiting)
        under_way = sum(row.under_way is not None for row in self.found)
        last = next((row for row in self.found if row.note is not None), None)
        if self._problem:
            summary.append("! " + safe_text.line(self._problem), style="red")
        elif not waiting:
            summary.append("No notes waiting", style="bold")
        else:
            summary.append(many(len(waiting) - stuck, "note waits", "notes wait"), style="bold")
        problem = unheard.keyed(self.services.data.unheard(), read_only=self.services.read_only)
        if problem and not self._problem:
            summary.append(f" · {problem}", style="bold yellow")
        if stuck:
            summary.append(f" · {stuck} stuck", style="yellow")
        if under_way:
            summary.append(f" · {under_way} under way", style="cyan")
        if self._elsewhere:
            how = "with" if self.notes.every else actions.key_of("guidance.projects") + ":"
            summary.append(f" · {how} {self._elsewhere} in other projects", style="dim")
        if last is not None:
            summary.append(f" · last sent {ago(last.time, self.services.data.now())}, ", style="dim")
            sent = last.outcome == receipts.WAITING
            summary.append_text(Text("not confirmed yet", style="cyan") if sent else rows.state(last))
        if self.notes.every and not self._elsewhere:
            summary.append(" · all projects", style="dim")
        return summary

    def _to(self, row: GuidanceRow) -> str:
        return rows.to(row, self.notes.project(row), self.notes.titles, self.notes.is_elsewhere(row))

    def _draw(self, row: GuidanceRow) -> list[Text]:
        note = Text(safe_text.line(row.text, 400), style="dim" if row.note is not None else "")
        to, state = Text(safe_text.line(self._to(row), 80), style="dim"), rows.state(row)
        sender = Text(safe_text.line(rows.sender(row), 40), style="dim")
        fuzzy.mark([state, note, to, sender], self.typed)
        return [
            state,
            note,
            to,
            to,
            sender,
            Text(age(row.time, self.services.data.now()), style="dim"),
        ]

    def describe(self, row: GuidanceRow) -> Described:
        """Return the note and what became of it."""
        project, now = self.notes.project(row), self.services.data.now()
        start = self.services.data.project_root if self._unused and not self.services.data.unheard() else ""
        read_only = self.services.read_only
        return Described(text.detail(row, self.notes.titles, project, now, start=start, read_only=read_only))
