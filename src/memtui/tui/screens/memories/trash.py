"""The trash dialog: restores trashed memories, or deletes them for good."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from memtui.core.base import clock
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import age, many
from memtui.core.memories.trash import TrashItem
from memtui.present import memories as present
from memtui.present import safe_text
from memtui.tui import key_bindings
from memtui.tui.batch import AT_ONCE, BatchRunner, report
from memtui.tui.dialogs.ask import sure
from memtui.tui.dialogs.dialog import Dialog, Keys, keyed
from memtui.tui.model.data import Data
from memtui.tui.screens.memories.text import MAX_BODY, glance_text
from memtui.tui.services import HowFar, services_of
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.rows import Column, RowList

if TYPE_CHECKING:
    from memtui.core.memories.store import Store

COLUMNS = (
    Column("name"),
    Column("scope", 14, from_width=40),
    Column("description", from_width=60),
    Column("age", 5, right=True),
)


class Trash(Dialog[str | None]):
    """The dialog, which ends with the path of the memory restored last, empty if none was. `named` returns what to call
    the scope with a label."""

    DEFAULT_CSS = """
    Trash Detail { height: 45%; }
    Trash .foot { color: $text-muted; }
    """
    high: ClassVar[bool] = True
    heading = "Trash"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "back"),
        key_bindings.elsewhere("list.mark", "mark"),
        key_bindings.elsewhere("memories.remove", "purge"),
    ]

    def __init__(self, data: Data, named: Callable[[str], str]) -> None:
        super().__init__()
        self.data, self.named = data, named
        self.restored = ""
        self.bulk = BatchRunner(self)
        self.table = RowList[TrashItem](COLUMNS, self._draw, lambda item: item.id, empty="reading …", id="trash")
        self.foot, self.detail = Static(classes="foot"), Detail()

    def body(self) -> ComposeResult:
        """Yield a list and the text of the memory under the cursor."""
        yield self.table
        yield self.foot
        yield self.detail

    def on_mount(self) -> None:
        """Focus the list and read the trash."""
        self.table.focus()
        self._fill()

    def _fill(self, leave: bool = False) -> None:
        """Read the trash, a large one in a worker; `leave`: close the dialog if nothing is in it."""
        if len(self.data.ledger.trashed) <= AT_ONCE:
            self._show(self.data.store().trash(), leave)
        else:
            self._fill_in_worker(leave)

    @work(group="trash", exclusive=True)
    async def _fill_in_worker(self, leave: bool) -> None:
        try:
            items = await asyncio.to_thread(self.data.store().trash)
        except (MemtuiError, OSError) as error:
            self._tell(safe_text.line(getattr(error, "message", str(error)), 200))
        else:
            self._show(items, leave)

    def _show(self, items: list[TrashItem], leave: bool) -> None:
        self.table.empty = "The trash is empty."
        self.table.show(items)
        self._tell(many(len(items), "memory", "memories"))
        self._show_text()
        if leave and not items:
            self.dismiss(self.restored)

    def _tell(self, words: str) -> None:
        self.foot.update(Text(words, no_wrap=True))

    @on(RowList.Moved, "#trash")
    def _show_text(self) -> None:
        """Show the text, so that nobody has to restore a memory to see which it is."""
        item = self.table.row
        text = Text("Nothing selected.", "dim")
        if item is not None:
            text = Text().append(safe_text.line(item.memory.path) + "\n", "dim")
            text.append_text(glance_text(item.memory, MAX_BODY))
        self.detail.show(item.id if item else "", text)

    def keys(self) -> Keys:
        """Return the keys for the last line."""
        keys = (("{list.mark}", "mark"), ("{memories.remove}", "delete for good"))
        return keyed((("enter", "restore"), *keys, ("tab", "read on"), ("escape", "back")))

    def _draw(self, item: TrashItem) -> list[Text]:
        found = item.memory
        return [
            Text(safe_text.line(found.stem, 200)),
            Text(safe_text.line(self.named(item.scope_label), 60), style="dim"),
            Text(safe_text.line(found.description, 400), style="dim"),
            Text(age(clock.parse(item.time), self.data.now()), style="dim"),
        ]

    @on(RowList.Opened, "#trash")
    def action_restore(self) -> None:
        """Restore the chosen memories, as one step of undo."""
        store = self.data.store()

        def restore(item: TrashItem) -> None:
            self.restored = store.restore(item.id).path

        services_of(self).start(self, self._each(store, self.table.chosen(), restore, "Restored"), "memories.restore")

    def action_mark(self) -> None:
        """Mark or unmark the memory under the cursor."""
        self.table.toggle_mark()

    def action_purge(self) -> None:
        """Delete the chosen memories for good, after asking."""
        services_of(self).start(self, self._purge(self.table.chosen()), "memories.purge")

    async def _purge(self, chosen: list[TrashItem]) -> None:
        if not chosen or self.bulk.running:
            return
        one = len(chosen) == 1
        labels = [item.scope_label for item in chosen]
        names = safe_text.line(chosen[0].memory.stem, 60) if one else present.counted(labels)
        question = f"Delete {names} for good? This can't be undone."
        if await services_of(self).ask(sure(question, "Delete for good")):
            store = self.data.store()
            await self._each(store, chosen, lambda item: store.purge(item.id), "Deleted for good", for_good=True)

    async def _each(
        self,
        store: "Store",
        chosen: list[TrashItem],
        change: Callable[[TrashItem], object],
        words: str,
        *,
        for_good: bool = False,
    ) -> None:
        """Run a change on each, report the outcome and read again. Memories that were not changed stay marked."""
        if chosen and not self.bulk.running:
            outcome = await self.bulk.each(store, chosen, change)
            self.table.marks -= {item.id for item, _ in outcome.done}
            self._fill(leave=True)
            await report(
                services_of(self),
                outcome,
                words,
                lambda item: (item.memory, self.named(item.scope_label)),
                for_good=for_good,
            )

    def on_how_far(self, message: HowFar) -> None:
        """Show the progress of the changes."""
        self._tell(message.words)

    def action_leave(self) -> None:
        """Stop the changes that are running, else close the dialog."""
        if not self.bulk.stop():
            self.dismiss(self.restored)
