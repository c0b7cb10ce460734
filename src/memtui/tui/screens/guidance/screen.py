"""Guidance: what the agent will be told, what is under way, what it was told and whether that arrived."""

from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.binding import BindingType
from textual.message import Message

from memtui import actions
from memtui.core.base.phrasing import ago, many
from memtui.core.review.waiting import Waiting
from memtui.present import safe_text, unheard
from memtui.tui import key_bindings
from memtui.tui.model import fuzzy
from memtui.tui.screens.guidance import rows, text
from memtui.tui.screens.guidance.commands import GuidanceCommands
from memtui.tui.screens.guidance.reading import Notes
from memtui.tui.screens.guidance.rows import GuidanceRow
from memtui.tui.screens.list_screen import Described, ListScreen
from memtui.tui.services import Services
from memtui.tui.widgets.rows import Column, RowList

EMPTY = """Nothing waits, and nothing was told yet.
{guidance.new} writes guidance: the agent gets it with the next prompt, once,
and you see here whether it arrived.
Scripts leave some with: memtui guide "…\""""
COLUMNS = (
    Column("state", 11),
    Column("guidance"),
    Column("to", 14, from_width=56),
    Column("from", 10, from_width=76),
    Column("age", 4, right=True),
)
# The foot's order.
ON_WAITING, ON_TOLD = ("edit", "withdraw", "again", "mark", "filter"), ("again", "mark", "filter")


@dataclass
class Queued(Message):
    """What waits and is under way was read; `history`, what was told, comes later and is None until then."""

    queue: list[GuidanceRow]
    history: list[GuidanceRow] | None
    problem: str


class Titled(Message):
    """It is known what more sessions are about."""


class Guidance(ListScreen[GuidanceRow]):
    """The queue, what is under way, and the history, in one list; the note itself on the right."""

    BINDINGS: ClassVar[list[BindingType]] = [*key_bindings.bindings("guidance")]
    group: ClassVar[str] = "guidance"
    reads: ClassVar[frozenset[str]] = frozenset({"settings", "inbox", "log", "receipts"})
    row_word: ClassVar[str] = "note"
    legend: ClassVar[str] = (
        "A session gets a note once. What did not arrive comes back into the queue; after three times it is held."
    )

    def __init__(self, services: Services) -> None:
        table = RowList[GuidanceRow](COLUMNS, self._draw, lambda row: row.key, empty=actions.keyed(EMPTY), id="list")
        super().__init__(services, table, rows.searched, placeholder="filter: text, sender, session, state")
        self.notes = Notes(services.data)
        self.commands |= GuidanceCommands(services, self, self.notes).table()
        self._problem = ""

    @work(thread=True, exclusive=True, group="guidance")
    def reload(self) -> None:
        """Read queue and history in a worker."""
        slugs = self.notes.slugs()
        queue, problem = self.notes.queue(slugs)
        self.post_message(Queued(queue, None, problem))
        history = self.notes.history(slugs, queue)
        self.post_message(Queued(queue, history, problem))
        if self.notes.look_up(queue + history):
            self.post_message(Titled())

    def on_queued(self, message: Queued) -> None:
        """Show what was read."""
        self._problem = message.problem
        told = [row for row in self.found if row.note] if message.history is None else message.history
        self.found = message.queue + told
        self.fill()

    def on_titled(self) -> None:
        """Name the sessions."""
        self.show_detail()

    def aged(self) -> None:
        """What waits may also have expired meanwhile."""
        super().aged()
        self.reload()

    def go_to(self, item: Waiting) -> None:
        """Put the cursor on a note that waits, once it is read."""
        self.notes.every = self.notes.every or item.slug not in {None, self.services.data.slug}
        self.wanted = rows.newest(item.text)
        if self.is_mounted:
            self.reload()

    def copied(self) -> str:
        """The text that is copied: that of the note."""
        return self.table.row.text if self.table.row else ""

    def footer_actions(self) -> list[actions.Action]:
        """What can be done with the row under the cursor comes first."""
        row = self.table.row
        order = ON_WAITING if row is None or row.item is not None else ON_TOLD
        return [actions.get(f"guidance.{verb}") for verb in order]

    def summary(self) -> Text:
        """How many wait, what keeps them, and what was told last."""
        answer = Text(no_wrap=True, overflow="ellipsis")
        waits = [row for row in self.found if row.item is not None]
        stuck = sum(bool(row.states) for row in waits)
        under = sum(row.taken is not None for row in self.found)
        last = next((row for row in self.found if row.note is not None), None)
        if self._problem:
            answer.append("! " + safe_text.line(self._problem), style="red")
        elif not waits:
            answer.append("Nothing waits to be told", style="bold")
        else:
            answer.append(f"{many(len(waits) - stuck, 'note waits', 'notes wait')} to be told", style="bold")
        deaf = unheard.keyed(self.services.data.unheard())
        if deaf and not self._problem:
            answer.append(f" · {deaf}", style="bold yellow")
        if stuck:
            answer.append(f" · {stuck} stuck", style="yellow")
        if under:
            answer.append(f" · {under} under way", style="cyan")
        if last is not None:
            answer.append(f" · last told {ago(last.time, self.services.data.now())}, ", style="dim")
            answer.append_text(rows.state(last))
        if self.notes.every:
            answer.append(" · all projects", style="dim")
        return answer

    def _draw(self, row: GuidanceRow) -> list[Text]:
        said = Text(safe_text.line(row.text, 400), style="dim" if row.note is not None else "")
        fuzzy.mark([said], self.typed)
        return [
            rows.state(row),
            said,
            Text(safe_text.line(rows.to(row, self.notes.project(row)), 60), style="dim"),
            Text(safe_text.line(rows.sender(row), 40), style="dim"),
            rows.when(row, self.services.data.now()),
        ]

    def describe(self, row: GuidanceRow) -> Described:
        """The note, and what became of it."""
        now = self.services.data.now()
        return Described(text.detail(row, self.notes.titles, self.notes.project(row), now))
