"""The dialog of all changes, newest first. Each can be undone, if its files are still as it left them."""

import asyncio
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from memtui.core.base import clock
from memtui.core.base.phrasing import ago
from memtui.core.journal.actor import here
from memtui.present import safe_text
from memtui.tui import key_bindings
from memtui.tui.dialogs.dialog import CHANGES, Dialog, Keys, keyed
from memtui.tui.model.times import when
from memtui.tui.services import HowFar, Services
from memtui.tui.widgets.rows import Column, RowList

if TYPE_CHECKING:
    from memtui.core.journal.ledger import Ledger, Transaction
    from memtui.core.journal.undo import Op

# The words for where a change was made.
WRITERS = {"tui": "tui", "cli": "shell"}
STATES = {"done": ("✓", "green"), "undone": ("◂", "yellow"), "purged": ("✗", "dim"), "back": ("·", "dim")}
MEANINGS = {
    "done": "in effect: enter undoes it",
    "undone": "was undone",
    "purged": "was deleted for good: it can't be undone",
    "back": "was interrupted, and undone at once",
}
COLUMNS = (
    Column("when", 9),
    Column("by", 6, from_width=50),
    Column("", 1),
    Column("what was changed"),
    Column("id", 6, from_width=70),
)


class Changes(Dialog[None]):
    """The dialog of all changes."""

    DEFAULT_CSS = """
    Changes > Vertical { height: 30; max-height: 96%; padding: 1 2; background: $panel; }
    Changes RowList { margin: 1 0; background: $panel; }
    Changes .foot { height: auto; max-height: 4; color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "close"),
        key_bindings.elsewhere("app.undo", "undo"),
        key_bindings.elsewhere("app.redo", "redo"),
    ]

    def __init__(self, services: Services) -> None:
        super().__init__()
        self.services, self.data = services, services.data
        self.ledger: Ledger | None = None

    def body(self) -> ComposeResult:
        """Compose the list, and the lines about the change under the cursor."""
        with Vertical():
            yield Static(Text("Changes", style="bold"))
            empty = "reading …"
            yield RowList["Transaction"](COLUMNS, self._draw, lambda each: each.id, empty=empty, id="changes")
            yield Static(classes="foot")

    def keys(self) -> Keys:
        """Return the keys of the list of changes."""
        return keyed(CHANGES)

    def on_mount(self) -> None:
        """Focus the list, and read the changes."""
        self.table.focus()
        self._read()

    @property
    def table(self) -> "RowList[Transaction]":
        """Return the list."""
        return self.query_one("#changes", RowList)

    @work(group="changes")
    async def _read(self) -> None:
        """Read the journal: all of it the first time, then what was added."""
        try:
            self.ledger, rows = await asyncio.to_thread(self.data.changes)
        except OSError as error:
            self._show_in_foot(f"{error.filename}: {error.strerror}")
            return
        self.table.empty = "Nothing was changed yet."
        self.table.show(rows)
        self._show_row()

    def _show_in_foot(self, words: str) -> None:
        self.query_one(".foot", Static).update(Text(words))

    def on_how_far(self, message: HowFar) -> None:
        """Show the progress of an undo."""
        self._show_in_foot(message.words)

    def on_turned(self) -> None:
        """Read the changes again after an undo or redo."""
        self._read()

    def _draw(self, each: "Transaction") -> list[Text]:
        mark, style = STATES.get(each.state, (" ", ""))
        gone = "" if each.state == "done" else "dim"
        seconds = clock.parse(each.time)
        return [
            Text(when(seconds, self.data.now()) if seconds is not None else "-", style="dim"),
            Text(
                "here" if each.actor == here("tui") else safe_text.line(WRITERS.get(each.by, each.by), 20), style="dim"
            ),
            Text(mark, style=style),
            Text(safe_text.line(each.summary, 300), style=gone),
            Text(each.id[-6:], style="dim"),
        ]

    @on(RowList.Moved, "#changes")
    def _show_row(self) -> None:
        """Show when the change under the cursor was made, whether it can be undone, and its files."""
        each = self.table.row
        text = Text()
        if each is not None and self.ledger is not None:
            undoable = each.id in self.ledger.undoable
            meaning = MEANINGS.get(each.state, "") if undoable or each.state != "done" else "can't be undone"
            text.append(f"{ago(clock.parse(each.time), self.data.now())}, {meaning}\n")
            text.append(safe_text.line(", ".join(each.paths[:3]), 300))
            text.append(f" and {len(each.paths) - 3} more" if len(each.paths) > 3 else "")
        self.query_one(".foot", Static).update(text)

    @on(RowList.Opened, "#changes")
    def action_undo(self) -> None:
        """Undo the change under the cursor."""
        each = self.table.row
        if each is not None:
            self._turn("undo", each.id)

    def action_redo(self) -> None:
        """Redo the change that was undone last."""
        self._turn("redo")

    def _turn(self, op: "Op", key: str | None = None) -> None:
        if self.services.read_only:
            self.services.notify("memtui runs with --read-only.", severity="warning", markup=False)
            return
        self.services.turn(op, key)
