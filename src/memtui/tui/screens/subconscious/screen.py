"""The Subconscious screen: what reads sessions, its notes, what it said and whether it arrived, its runs."""

from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.binding import BindingType
from textual.message import Message

from memtui import actions
from memtui.core.base.phrasing import age, many
from memtui.present import legend as marks
from memtui.present import models, safe_text
from memtui.present import subconscious as present
from memtui.subconscious import places
from memtui.subconscious.conversations import Remark
from memtui.subconscious.overview import Overview
from memtui.tui import key_bindings
from memtui.tui.model import fuzzy
from memtui.tui.screens.list_screen import Described, ListScreen
from memtui.tui.screens.subconscious import reading, rows, text
from memtui.tui.screens.subconscious.commands import SubconsciousCommands
from memtui.tui.screens.subconscious.rows import SubconsciousRow
from memtui.tui.services import Services
from memtui.tui.widgets.rows import Column, RowList

COLUMNS = (
    Column("kind", 8),
    Column("what"),
    Column("state", 12),
    Column("who", 16, from_width=76),
    Column("age", 4, right=True),
)
BLOCK_ACTIONS = ("edit", "back", "history", "stop", "filter")
SESSION_ACTIONS = ("back", "session", "stop", "read", "filter")


@dataclass
class SubconsciousRead(Message):
    """The state, and all rows, were read."""

    overview: Overview
    rows: list[SubconsciousRow]


class Subconscious(ListScreen[SubconsciousRow]):
    """The screen: questions, blocks, whispers and runs in one list, and all about one in the detail."""

    BINDINGS: ClassVar[list[BindingType]] = [*key_bindings.bindings("subconscious")]
    group: ClassVar[str] = "subconscious"
    detail_percent: ClassVar[int] = 48
    reads: ClassVar[frozenset[str]] = frozenset({"settings", "inbox", "log", "receipts", "subconscious"})
    row_word: ClassVar[str] = "row"
    legend: str = marks.section("Rows", rows.MARKS) + "\n" + marks.receipts("Whispers")

    def __init__(self, services: Services) -> None:
        table = RowList[SubconsciousRow](COLUMNS, self._draw, lambda row: row.key, id="list")
        super().__init__(services, table, rows.searched, placeholder="filter: words, kind, session")
        self.commands |= SubconsciousCommands(services, self).table()
        self._overview: Overview | None = None
        self._remarks: dict[str, list[Remark]] = {}

    @work(thread=True, exclusive=True, group="subconscious")
    def reload(self) -> None:
        """Read everything in a worker."""
        self.post_message(SubconsciousRead(*reading.read(self.services.data)))

    def on_subconscious_read(self, message: SubconsciousRead) -> None:
        """Show what was read."""
        self._overview, self.found = message.overview, message.rows
        self._remarks.clear()
        self.fill()

    def refresh_ages(self) -> None:
        """Draw ages again."""
        super().refresh_ages()
        self.summarize()

    def on_resize(self) -> None:
        """Draw the summary for the new width, too."""
        super().on_resize()
        self.call_after_refresh(self.summarize)

    def copied(self) -> str:
        """Return the text for the clipboard: of a block its text, else what a row says."""
        row = self.table.row
        return "" if row is None else row.content or rows.words(row)

    def footer_actions(self) -> list[actions.Action]:
        """Return the actions that suit the row under the cursor."""
        row = self.table.row
        order = BLOCK_ACTIONS if row is None or row.name else SESSION_ACTIONS
        return [actions.get(f"subconscious.{verb}") for verb in order]

    def summary(self) -> Text:
        """Return whether it reads sessions, by which model and with which tools, and what it did and used today."""
        summary = Text(no_wrap=True, overflow="ellipsis")
        found = self._overview
        if found is None:
            return summary
        now = self.services.data.now()
        running = not found.powers.why
        said, hint = safe_text.line(present.state(found, now)), safe_text.line(found.powers.hint)
        if hint and not running and found.stopped is None and found.powers.mode != "off":
            room = self.summary_line.content_size.width
            said = said if not room or len(f"{said} · {hint}") <= room else "it can't run"
        summary.append(said, style="bold" if running else "bold yellow")
        if found.powers.mode == "off":
            switch = "" if self.services.read_only else f" · {actions.key_of('app.setup')} model switches it on"
            return summary.append(f": no model reads sessions{switch}", style="dim")
        if running:
            summary.append(f" · tools {present.tools(found.powers)}", style="dim")
        if found.powers.hint and not running and found.stopped is None:
            summary.append(f" · {hint}", style="dim")
        if found.under_way:
            summary.append(" · reading now", style="cyan")
        if found.mentions:
            summary.append(f" · {many(len(found.mentions), 'question waits', 'questions wait')}", style="cyan")
        if found.budget:
            summary.append(f" · {found.budget.removesuffix('.').lower()}", style="yellow")
        if found.calls:
            used = f"today {many(found.calls, 'call')}, {models.dollars(found.today.cost)}"
            summary.append(f" · {used}", style="dim")
        return summary.append(f" · {rows.counted(list(self.found))}", style="dim")

    def _draw(self, row: SubconsciousRow) -> list[Text]:
        kind, what = Text(row.kind, style="dim"), Text()
        if row.project:
            what.append(f"{safe_text.line(row.project, 40)}: ", style="dim")
        what.append(rows.words(row))
        if row.name and not row.content:
            what.append(f"  {places.BLOCKS[row.name][1]}", style="dim")
        who = Text(safe_text.line(rows.who(row), 40), style="dim")
        state = rows.state(row, self.services.data.now())
        fuzzy.mark([kind, what, who], self.typed)
        return [kind, what, state, who, Text(age(row.time, self.services.data.now()), style="dim")]

    def describe(self, row: SubconsciousRow) -> Described:
        """Return all about the row."""
        data = self.services.data
        session = row.run.session if row.run is not None else ""
        if session and session not in self._remarks:
            self._remarks[session] = reading.conversation(data, session)
        path = data.tilde(places.path(data.root, data.slug, row.name)) if row.name else ""
        return Described(
            text.detail(
                row,
                self._overview,
                self._remarks.get(session, ()),
                path,
                data.now(),
                read_only=self.services.read_only,
            )
        )
