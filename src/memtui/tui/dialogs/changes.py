"""The dialog of all changes, or some of them, newest first. Each can be undone, if its files are still as it left
them. Changes that were made together are one row, which unfolds to each of them."""

import asyncio
import os
from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from memtui import actions
from memtui.core.base import clock
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import ago, many
from memtui.core.base.storage import file_error
from memtui.core.journal.undo import decided
from memtui.present import legend, safe_text
from memtui.present.changes import place, together, verb
from memtui.tui import key_bindings
from memtui.tui.dialogs.dialog import Dialog, Keys, keyed
from memtui.tui.model import line_diff
from memtui.tui.model.times import when
from memtui.tui.services import HowFar, Services
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.rows import Column, RowList

if TYPE_CHECKING:
    from memtui.core.journal.journal import Journal
    from memtui.core.journal.ledger import Ledger, Transaction

STATES = {"done": ("✓", "green"), "undone": ("◂", "yellow"), "purged": ("✗", "dim"), "back": ("·", "dim")}
MEANINGS = {
    "done": "in effect: {app.undo} undoes it",
    "undone": "was undone",
    "purged": "was deleted for good: it can't be restored",
    "back": "was interrupted and undone at once",
}
# What memtui's own files hold, which nobody wants to read.
OWN_FILES = {
    "installs.json": "which settings files have the hooks",
    "trust.json": "which memories are trusted",
    "later.json": "what waits in the inbox until later",
    "apart.json": "which memories are no duplicates",
}
# Files whose differences are shown.
FILES_SHOWN = 20
# Rows that the list has in any case; the difference gets those that a short list leaves free.
LEAST_ROWS = 3
# Changes of a group that its row names.
NAMED = 3
COLUMNS = (
    Column("when", 9),
    Column("by", 6, from_width=50),
    Column("", 1),
    Column("what was changed"),
    Column("id", 6, from_width=70),
)


@dataclass(frozen=True)
class ChangeRow:
    """A row: a change (`each`), or changes that were `together`, of which `each` is the newest. `unfolded`: whether the
    rows of its changes follow; None for a change. `inside`: it is a row of such a group."""

    each: "Transaction"
    together: Sequence["Transaction"] = ()
    unfolded: bool | None = None
    inside: bool = False

    @property
    def id(self) -> str:
        """What undo calls it: the id of the change, or of the group."""
        return self.each.group if self.together else self.each.id

    @property
    def state(self) -> str:
        """Its state: of a group, done as long as one change of it is in effect."""
        return "done" if any(one.state == "done" for one in self.together) else self.each.state

    @property
    def summary(self) -> str:
        """What was changed: of a group, how many, and the first of them."""
        if not self.together:
            return self.each.summary
        words, own = together(self.together, len(self.together)), decided(self.together)
        if len(own) == 1:
            return words
        names = [one.summary.removeprefix(f"{verb(one)} ") for one in own[:NAMED]]
        more = ", …" if len(own) > NAMED else ""
        return f"{words}: {', '.join(names)}{more}"


def made(found: Sequence["Transaction"], unfolded: Container[str]) -> list[ChangeRow]:
    """Return the rows for these changes, newest first. `unfolded`: the ids of the groups whose changes are listed."""
    rows = []
    for group, changes in groupby(found, lambda each: each.group or each.id):
        several = list(changes)
        if len(several) == 1:
            rows.append(ChangeRow(several[0]))
            continue
        rows.append(ChangeRow(several[0], several, group in unfolded))
        if group in unfolded:
            rows += [ChangeRow(each, inside=True) for each in several]
    return rows


def difference(journal: "Journal", each: "Transaction") -> Text:
    """Draw what a change changed: for each file its path, and the lines with `-` and `+`; of memtui's own files only
    what they hold. Reads the stored contents."""
    text = Text()
    try:
        changes = journal.changes_of(each.record)
    except MemtuiError as error:
        return text.append(f"{error.message} {error.hint}", "dim")
    own = [change for change in changes if _is_own(change.path, journal.root)]
    changes = [change for change in changes if change not in own]
    for number, change in enumerate(changes[:FILES_SHOWN]):
        old, new = (version.rstrip("\n") for version in change.texts)
        text.append("\n" * bool(number) + safe_text.line(change.path, 300) + "\n", "bold")
        if not old or not new:  # the whole of it is old or new
            drawn = line_diff.drawn(old, new, ("before", "after")).plain.split("\n")
            lines = [line for line in drawn if line.strip() not in {line_diff.OLD, line_diff.NEW, ""}]
            text.append("\n".join(lines) + "\n", "red" if old else "green")
        else:
            text.append_text(line_diff.drawn(old, new, ("the file before", "the file after")))
    more = len(changes) - FILES_SHOWN
    text.append(f"\nand {many(more, 'more file')}\n" if more > 0 else "", "dim")
    for change in own:
        name = os.path.basename(change.path)
        text.append(f"{'and' if changes else 'In'} memtui's own notes: {OWN_FILES.get(name, name)}\n", "dim")
    return text


def _is_own(path: str, root: str) -> bool:
    return path.startswith(f"{root}/") and path.endswith((".json", ".jsonl"))


class Changes(Dialog[None]):
    """The dialog of all changes."""

    DEFAULT_CSS = """
    Changes .foot { max-height: 3; color: $text-muted; }
    Changes Detail { height: 1fr; padding: 0; }
    """
    high: ClassVar[bool] = True
    heading = "Changes"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back"),
        Binding("q", "dismiss(None)", "back"),
        Binding("right,l", "unfold(True)", "one by one"),
        Binding("left,h", "unfold(False)", "together"),
        key_bindings.elsewhere("app.undo", "undo"),
        key_bindings.elsewhere("app.redo", "redo"),
    ]

    def __init__(self, services: Services) -> None:
        super().__init__()
        self.services, self.data = services, services.data
        self.ledger: Ledger | None = None
        self.changes: Sequence[Transaction] = ()
        self.unfolded: set[str] = set()

    def body(self) -> ComposeResult:
        """Compose the list, and the lines about the change under the cursor."""
        empty = "reading …"
        yield RowList[ChangeRow](COLUMNS, self._draw, lambda each: each.id, empty=empty, id="changes")
        yield Static(classes="foot")
        yield Detail()

    def keys(self) -> Keys:
        """Return the keys of the list of changes, without those that do nothing on the row under the cursor."""
        row, writes = self.table.row, not self.services.read_only
        undoes = writes and row is not None and row.state == "done"
        redoes = writes and self.ledger is not None and bool(self.ledger.redoable)
        folds = row is not None and bool(row.together or row.inside)
        keys = (
            ("{app.undo}", "undo it", undoes),
            ("l h", "one by one, together", folds),
            ("{app.redo}", "redo the last undone", redoes),
            ("enter", "read the difference", row is not None),
            ("escape", "back", True),
        )
        return keyed([(key, word) for key, word, works in keys if works])

    def on_mount(self) -> None:
        """Focus the list, and read the changes."""
        self.table.focus()
        self._read()

    @property
    def table(self) -> RowList[ChangeRow]:
        """Return the list."""
        return self.query_one("#changes", RowList)

    @work(group="changes")
    async def _read(self) -> None:
        """Read the journal: all of it the first time, then what was added."""
        try:
            self.ledger, self.changes = await asyncio.to_thread(self.data.changes)
        except OSError as error:
            self._show_in_foot(file_error(error).message)
            return
        self.table.empty = "Nothing was changed yet."
        self._fill()

    def _fill(self) -> None:
        """Show the changes that were read."""
        self.table.show(made(self.changes, self.unfolded))
        self.table.styles.max_height = self.table.header + max(LEAST_ROWS, len(self.table.rows))
        self._show_row()

    def _show_in_foot(self, words: str) -> None:
        self.query_one(".foot", Static).update(Text(words))

    def on_how_far(self, message: HowFar) -> None:
        """Show the progress of an undo."""
        self._show_in_foot(message.words)

    def on_turned(self) -> None:
        """Read the changes again after an undo or redo."""
        self._read()

    def _draw(self, row: ChangeRow) -> list[Text]:
        each, (mark, style) = row.each, STATES.get(row.state, (" ", ""))
        gone = "" if row.state == "done" else "dim"
        seconds = clock.parse(each.time)
        fold = "" if row.unfolded is None else f"{legend.UNFOLDED if row.unfolded else legend.FOLDED} "
        return [
            Text("" if row.inside else when(seconds, self.data.now()) if seconds is not None else "-", style="dim"),
            Text("" if row.inside else safe_text.line(place(each, "tui"), 20), style="dim"),
            Text(mark, style=style),
            Text("  " * row.inside + fold + safe_text.line(row.summary, 300), style=gone),
            Text("" if row.together else each.id[-6:], style="dim"),
        ]

    @on(RowList.Moved, "#changes")
    def _show_row(self) -> None:
        """Show when the change under the cursor was made, whether it can be undone, and what it changed."""
        row = self.table.row
        text = Text()
        if row is not None and self.ledger is not None:
            text.append(f"{ago(clock.parse(row.each.time), self.data.now())}, {self._meaning(row)}")
            if row.together:
                names = "\n".join(safe_text.line(one.summary, 300) for one in row.together)
                self.query_one(Detail).show(row.id, Text(names))
            else:
                self._find_difference(row.each)
        self.query_one(".foot", Static).update(text)
        self.name_keys()

    def _meaning(self, row: ChangeRow) -> str:
        """Return whether a change is in effect, and what can be done about it: nothing where nothing may be written."""
        assert self.ledger is not None
        changes = row.together or [row.each]
        if row.state == "done" and not any(each.id in self.ledger.undoable for each in changes):
            return "can't be undone"
        words = MEANINGS.get(row.state, "")
        own = decided(changes)
        left = sum(each.state == "done" for each in own)
        if len(own) > 1 and row.state == "done":
            words = f"{left:,} of {len(own):,} in effect: {{app.undo}} undoes them"
        if self.services.read_only:
            return words.partition(": {app.undo}")[0]
        words = actions.keyed(words)
        if row.state == "undone" and {each.id for each in changes} & set(self.ledger.redoable[-1:]):
            words += f": {actions.key_of('app.redo')} redoes it"
        return words

    @work(group="difference", exclusive=True)
    async def _find_difference(self, each: "Transaction") -> None:
        """Show what a change changed, file by file."""
        text = await asyncio.to_thread(difference, self.data.journal(), each)
        self.query_one(Detail).show(each.id, text)

    @on(RowList.Opened, "#changes")
    def read_on(self) -> None:
        """Go to the difference, to scroll it; stay in the list if all of it is shown."""
        if (detail := self.query_one(Detail)).max_scroll_y:
            detail.focus()
        else:
            self.services.say("All of it is shown below the list.")

    def action_undo(self) -> None:
        """Undo the change under the cursor."""
        row = self.table.row
        if row is None or self.ledger is None:
            return
        if any(each.id in self.ledger.undoable for each in row.together or [row.each]):
            self.services.turn("undo", row.id)
        else:
            self.services.say(f"This change {self._meaning(row)}.")

    def action_leave(self) -> None:
        """Go back from the difference to the list, or close the dialog."""
        if self.table.has_focus:
            self.dismiss(None)
        else:
            self.table.focus()

    def action_unfold(self, unfold: bool) -> None:
        """List each change of the group under the cursor, or the group alone."""
        row = self.table.row
        if row is None or not (row.together or row.inside):
            return
        group = row.each.group
        self.unfolded = self.unfolded | {group} if unfold else self.unfolded - {group}
        self._fill()
        at = next(at for at, each in enumerate(self.table.rows) if each.each.group == group)
        if not unfold:
            self.table.move_to(at)

    def action_redo(self) -> None:
        """Redo the change that was undone last."""
        self.services.turn("redo")
