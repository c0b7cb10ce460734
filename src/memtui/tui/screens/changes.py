"""Everything that was changed, newest first: taken back one by one, as far as the files are still so."""

import time
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from memtui.core import clock
from memtui.core.errors import MemtuiError
from memtui.core.words import ago, many
from memtui.tui import safe
from memtui.tui.widgets.dialog import Dialog, Keys
from memtui.tui.widgets.rows import Column, RowList

if TYPE_CHECKING:
    from memtui.core.history import Ledger, Transaction
    from memtui.tui.data import Data

# Who changed something, as a person knows it.
WRITERS = {"tui": "here", "cli": "shell"}
STATES = {"done": ("✓", "green"), "undone": ("◂", "yellow"), "purged": ("✗", "dim"), "back": ("·", "dim")}
MEANINGS = {
    "done": "stands: enter takes it back",
    "undone": "was taken back",
    "purged": "was deleted for good: nothing brings it back",
    "back": "was cut off, and taken back at once",
}
COLUMNS = (
    Column("when", 8),
    Column("by", 6, from_width=50),
    Column("", 1),
    Column("what was changed"),
    Column("id", 6, from_width=70),
)


class Changes(Dialog[str | None]):
    """Enter takes a change back; ends with what was taken back last."""

    DEFAULT_CSS = """
    Changes > Vertical { width: 110; max-width: 98%; height: 30; max-height: 96%; padding: 1 2; background: $panel; }
    Changes RowList { margin: 1 0; background: $panel; }
    Changes .foot { height: auto; max-height: 4; color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "close"),
        Binding("z", "undo", "take back"),
        Binding("Z", "redo", "do again"),
    ]

    def __init__(self, data: "Data", *, read_only: bool) -> None:
        super().__init__()
        self.data, self.read_only = data, read_only
        self.ledger: Ledger | None = None
        self.changed = False

    def body(self) -> ComposeResult:
        """A list, and what the one under the cursor is about."""
        with Vertical():
            yield Static(Text("Changes", style="bold"))
            empty = "Nothing was changed yet."
            yield RowList["Transaction"](COLUMNS, self._draw, lambda each: each.id, empty=empty, id="changes")
            yield Static(classes="foot")

    def keys(self) -> Keys:
        """What can be done here."""
        return (("enter", "take it back"), ("Z", "do again what was taken back last"), ("escape", "close"))

    def on_mount(self) -> None:
        """Start in the list."""
        self.table.focus()
        self._fill()

    @property
    def table(self) -> "RowList[Transaction]":
        """The changes."""
        return self.query_one("#changes", RowList)

    def _fill(self) -> None:
        self.ledger, rows = self.data.changes()
        self.table.show(rows)
        self._tell()

    def _draw(self, each: "Transaction") -> list[Text]:
        mark, style = STATES.get(each.state, (" ", ""))
        gone = "" if each.state == "done" else "dim"
        return [
            Text(_when(each, self.data.now()), style="dim"),
            Text(safe.line(WRITERS.get(each.by, each.by), 20), style="dim"),
            Text(mark, style=style),
            Text(safe.line(each.summary, 300), style=gone),
            Text(each.id[-6:], style="dim"),
        ]

    @on(RowList.Moved, "#changes")
    def _tell(self) -> None:
        """Which files it changed, and whether it stands."""
        each = self.table.row
        text = Text()
        if each is not None and self.ledger is not None:
            stands = each.id in self.ledger.undoable
            meaning = MEANINGS.get(each.state, "") if stands or each.state != "done" else "can't be taken back"
            text.append(f"{ago(clock.parse(each.time), self.data.now())}, {meaning}\n")
            text.append(safe.line(", ".join(each.paths[:3]), 300))
            text.append(f" and {len(each.paths) - 3} more" if len(each.paths) > 3 else "")
        self.query_one(".foot", Static).update(text)

    @on(RowList.Opened, "#changes")
    def action_undo(self) -> None:
        """Take back the one under the cursor."""
        each = self.table.row
        if each is not None:
            self._do(lambda: "Undone: " + self.data.journal().undo(each.id).summary)

    def action_redo(self) -> None:
        """Do again what was taken back last."""
        self._do(lambda: "Done again: " + self.data.redo())

    def _do(self, step: "object") -> None:
        assert callable(step)
        if self.read_only:
            self.notify("memtui runs with --read-only.", severity="warning", markup=False)
            return
        try:
            words = step()
        except MemtuiError as error:
            self.notify(safe.clean(f"{error.message}\n{error.hint}".strip()), severity="error", markup=False)
            return
        self.changed = True
        self.notify(safe.clean(words), markup=False)
        self._fill()

    def action_leave(self) -> None:
        """Back to the screen."""
        self.dismiss("changed" if self.changed else None)


def _when(each: "Transaction", now: float) -> str:
    seconds = clock.parse(each.time)
    if seconds is None:
        return "-"
    day = time.localtime(seconds)[:3] == time.localtime(now)[:3]
    return time.strftime("%H:%M:%S" if day else "%d %b %y", time.localtime(seconds))[:8]


def asked(found: "Transaction", count: int, now: float) -> str:
    """What an undo would take back, in words."""
    what = f"{found.summary}" + (f" and {many(count - 1, 'other change')} made with it" if count > 1 else "")
    by = {"tui": "in the control room", "cli": "in a shell"}.get(found.by, f"by {found.by}")
    return f"“{what}”, {ago(clock.parse(found.time), now)} {by}"
