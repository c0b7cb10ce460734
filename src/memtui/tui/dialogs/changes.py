"""The dialog of all changes, newest first. Each can be undone, if its files are still as it left them."""

import asyncio
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from memtui import actions
from memtui.core.base import clock
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import ago, many
from memtui.core.journal.actor import here
from memtui.core.journal.versions import versions
from memtui.present import safe_text
from memtui.present.file_errors import file_error
from memtui.tui import key_bindings
from memtui.tui.dialogs.dialog import CHANGES, Dialog, Keys, keyed
from memtui.tui.model import line_diff
from memtui.tui.model.times import when
from memtui.tui.services import HowFar, Services
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.rows import Column, RowList

if TYPE_CHECKING:
    from memtui.core.journal.journal import Journal
    from memtui.core.journal.ledger import Ledger, Transaction
    from memtui.core.journal.undo import Op

# The words for where a change was made.
WRITERS = {"tui": "tui", "cli": "shell"}
STATES = {"done": ("✓", "green"), "undone": ("◂", "yellow"), "purged": ("✗", "dim"), "back": ("·", "dim")}
MEANINGS = {
    "done": "in effect: enter undoes it",
    "undone": "was undone",
    "purged": "was deleted for good: nothing brings it back",
    "back": "was interrupted and undone at once",
}
# Files whose differences are shown.
FILES_SHOWN = 20
COLUMNS = (
    Column("when", 9),
    Column("by", 6, from_width=50),
    Column("", 1),
    Column("what was changed"),
    Column("id", 6, from_width=70),
)


def difference(journal: "Journal", each: "Transaction") -> Text:
    """Draw what a change changed: for each file its path, and the lines with `-` and `+`. Reads the stored contents."""
    text = Text()
    try:
        changes = journal.changes_of(each.record)
    except MemtuiError as error:
        return text.append(f"{error.message} {error.hint}", "dim")
    for number, change in enumerate(changes[:FILES_SHOWN]):
        old, new = (version.rstrip("\n") for version in versions(change))
        text.append("\n" * bool(number) + safe_text.line(change.path, 300) + "\n", "bold")
        if not old or not new:  # the whole of it is old or new
            drawn = line_diff.drawn(old, new, ("before", "after")).plain.split("\n")
            lines = [line for line in drawn if line.strip() not in {line_diff.OLD, line_diff.NEW, ""}]
            text.append("\n".join(lines) + "\n", "red" if old else "green")
        else:
            text.append_text(line_diff.drawn(old, new, ("the file before", "the file after")))
    more = len(changes) - FILES_SHOWN
    return text.append(f"\nand {many(more, 'more file')}\n", "dim") if more > 0 else text


class Changes(Dialog[None]):
    """The dialog of all changes."""

    DEFAULT_CSS = """
    Changes > Vertical { height: 96%; padding: 1 2; background: $panel; }
    Changes RowList { margin-top: 1; background: $panel; }
    Changes .foot { height: auto; max-height: 3; color: $text-muted; }
    Changes Detail { height: 1fr; padding: 0; }
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
            yield Detail()

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
            self._show_in_foot(file_error(error).message)
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
        """Show when the change under the cursor was made, whether it can be undone, and what it changed."""
        each = self.table.row
        text = Text()
        if each is not None and self.ledger is not None:
            text.append(f"{ago(clock.parse(each.time), self.data.now())}, {self._meaning(each)}")
            self._find_difference(each)
        self.query_one(".foot", Static).update(text)

    def _meaning(self, each: "Transaction") -> str:
        """Return whether a change is in effect, and what can be done about it."""
        assert self.ledger is not None
        if each.state == "done" and each.id not in self.ledger.undoable:
            return "can't be undone"
        words = MEANINGS.get(each.state, "")
        if each.state == "undone" and each.id in self.ledger.redoable[-1:]:
            words += f": {actions.key_of('app.redo')} redoes it"
        return words

    @work(group="difference", exclusive=True)
    async def _find_difference(self, each: "Transaction") -> None:
        """Show what a change changed, file by file."""
        text = await asyncio.to_thread(difference, self.data.journal(), each)
        self.query_one(Detail).show(each.id, text)

    @on(RowList.Opened, "#changes")
    def action_undo(self) -> None:
        """Undo the change under the cursor."""
        each = self.table.row
        if each is None or self.ledger is None:
            return
        if each.id in self.ledger.undoable:
            self._turn("undo", each.id)
        else:
            self.services.say(f"This change {self._meaning(each)}.")

    def action_redo(self) -> None:
        """Redo the change that was undone last."""
        self._turn("redo")

    def _turn(self, op: "Op", key: str | None = None) -> None:
        if self.services.read_only:
            self.services.notify("memtui runs with --read-only.", severity="warning", markup=False)
            return
        self.services.turn(op, key)
