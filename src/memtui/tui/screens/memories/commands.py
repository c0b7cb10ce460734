"""The commands that change memories: each works on all marked ones, as one step of undo."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from memtui import actions
from memtui.core.memories import memory, references
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.present import memories as present
from memtui.present import safe_text
from memtui.tui.batch import BatchRunner, report
from memtui.tui.dialogs.ask import Choice, Line, sure
from memtui.tui.screens.memories.reading import MemoryReader
from memtui.tui.screens.memories.rows import Pair
from memtui.tui.screens.memories.table import MemoryTable
from memtui.tui.screens.memories.tree import ScopeTree
from memtui.tui.services import Command, Services, first_of

if TYPE_CHECKING:
    from memtui.core.memories.store import Store

NAMES_SHOWN = 5
# Cells of a scope's name before its path.
MOST_NAME = 28
OTHER_REPOSITORY = "Into the repository of another project: run memtui there."


def _names(chosen: list[Pair]) -> str:
    """Return the names of a few memories, if they differ, else how many there are."""
    names = {row.memory.stem for _, row in chosen}
    if len(chosen) > NAMES_SHOWN or len(names) < len(chosen):
        return present.counted([scope.label for scope, _ in chosen])
    return ", ".join(safe_text.line(row.memory.stem, 60) for _, row in chosen)


class MemoryCommands:
    """The commands, on the list, the tree and the reader of the screen."""

    def __init__(
        self, services: Services, table: MemoryTable, places: ScopeTree, reader: MemoryReader, bulk: BatchRunner
    ) -> None:
        self.services, self.list, self.places, self.reader, self.bulk = services, table, places, reader, bulk

    def table(self) -> dict[str, Command]:
        """Return command by action id."""
        some, changeable = self.list.why_none, first_of(self.list.why_none, self.list.why_read_only)
        return {
            "memories.remove": Command(self.trash, changeable),
            "memories.pin": Command(self.pin, changeable),
            "memories.purge": Command(self.purge, changeable),
            "memories.restore": Command(self.restore),
            "memories.retype": Command(self.retype, changeable),
            "memories.move": Command(self.move, changeable),
            "memories.copy": Command(self.copy, some),
            "memories.trust": Command(self.trust),
        }

    async def _each(self, change: "Callable[[Store, Memory], object]", words: str, *, for_good: bool = False) -> None:
        """Run a change on every chosen memory as one step of undo, report the outcome and read again. Memories that
        were not changed stay marked. `for_good`: there is no undo."""
        store, table = self.services.data.store(), self.list
        if not await self._others_may_get(store, table.chosen()):
            return
        try:
            outcome = await self.bulk.each(store, table.chosen(), lambda pair: change(store, pair[1].memory))
            table.marks -= {row.memory.path for (_, row), _ in outcome.done}
            if not table.marks:
                table.clear_marks()
            place = self.places.row
            result = outcome.done[0][1] if outcome.done else None
            if outcome.total == 1 and isinstance(result, Memory) and place is not None:
                shown = result.scope_label in {scope.label for scope in place.scopes}
                self.reader.expected = result.path if shown and not place.kind else ""
        finally:
            self.services.read()
        await report(self.services, outcome, words, self._named, for_good=for_good)

    async def _others_may_get(self, store: "Store", chosen: "list[Pair]") -> bool:
        """Ask before what a team shares is changed; a store that may do that knows then."""
        if not any(scope.is_shared for scope, _ in chosen):
            return True
        answer = await self.services.ask(sure(f"{references.SHARED} Go on?", "Change it for all"))
        store.shared = bool(answer)
        return store.shared

    def _named(self, pair: Pair) -> tuple[Memory, str]:
        return pair[1].memory, self.reader.name_of(pair[0])

    def _attempt(self, change: "Callable[[], object]", words: str) -> None:
        """Run one change, show `words`, read again, and put the cursor on the memory that it returned."""
        try:
            result = change()
            self.services.say(words)
            if isinstance(result, Memory):
                self.reader.expected = result.path
        finally:
            self.services.read()

    # trash

    async def trash(self) -> None:
        """Move the chosen memories to the trash; many, or those of several projects, after asking."""
        labels = [scope.label for scope, _ in self.list.chosen()]
        if present.must_ask(labels):
            question = sure(f"Move {present.counted(labels)} to the trash?", "Move to the trash")
            if not await self.services.ask(question):
                return
        await self._each(lambda store, found: store.delete(found), "Trashed")

    async def purge(self) -> None:
        """Delete the chosen memories for good, after asking."""
        chosen = self.list.chosen()
        question = f"Delete {_names(chosen)} for good? This can't be undone."
        if await self.services.ask(sure(question, "Delete for good")):
            await self._each(lambda store, found: store.erase(found), "Deleted for good", for_good=True)

    async def restore(self) -> None:
        """Open the trash."""
        from memtui.tui.screens.memories.trash import Trash

        path = await self.services.ask(Trash(self.services.data, self.reader.named))
        self.reader.expected = path or ""
        self.services.read()

    # type, pin, scope

    async def retype(self) -> None:
        """Change the type of the chosen memories."""
        current = self.list.chosen()[0][1].memory.type
        kind = await self.services.ask(Choice("Type", [(kind, kind) for kind in memory.TYPES], current))
        if kind and all(row.memory.type == kind for _, row in self.list.chosen()):
            self.services.say(f"It is {kind} already.")
        elif kind:
            await self._each(lambda store, found: store.retype(found, kind), f"Made {kind}")

    async def pin(self) -> None:
        """Pin the chosen memories, so that recall counts them more; unpin them if all are pinned."""
        from memtui.recall import fields

        off = all(fields.read(row.memory.raw, row.file, ()).pinned for _, row in self.list.chosen())
        verb, value = ("unpin", "") if off else ("pin", "true")
        await self._each(
            lambda store, found: store.edit(found, {"pinned": value}, op="pin", verb=verb, keep_time=True),
            "Unpinned" if off else "Pinned",
        )

    async def _ask_scope(self, question: str, *, without: str = "") -> Scope | None:
        targets = {scope.label: scope for scope in self.reader.targets() if scope.label != without}
        data = self.services.data
        rows = present.scopes_explained(list(targets.values()), data.facts.project, MOST_NAME, data.tilde)
        label = await self.services.ask(Choice(question, rows, below=OTHER_REPOSITORY))
        return targets.get(label or "")

    async def _is_sure(self, chosen: list[Pair], scope: Scope, verb: str) -> bool:
        """Ask before memories that are not trusted get into a scope whose memories need no trust."""
        store = self.services.data.store()
        untrusted = [] if scope.needs_trust else [pair for pair in chosen if not store.is_trusted(pair[1].memory)]
        if not untrusted:
            return True
        question = present.not_trusted(_names(untrusted), len(untrusted), self.reader.name_of(scope))
        answer = await self.services.ask(sure(question, f"{verb} all the same"))
        return bool(answer)

    async def move(self) -> None:
        """Move the chosen memories to another scope."""
        chosen = self.list.chosen()
        here = {scope.label for scope, _ in chosen}
        current = here.pop() if len(here) == 1 else ""
        scope = await self._ask_scope(f"Move {_names(chosen)} to", without=current)
        if scope is None or not await self._is_sure(chosen, scope, "Move"):
            return
        await self._each(lambda store, found: store.move(found, scope), f"Moved to {self.reader.name_of(scope)}")

    async def copy(self) -> None:
        """Copy the chosen memories to another scope, or one under another name in its own."""
        chosen = self.list.chosen()
        scope = await self._ask_scope(f"Copy {_names(chosen)} to")
        if scope is None or not await self._is_sure(chosen, scope, "Copy"):
            return
        if len(chosen) > 1 or chosen[0][0].label != scope.label:
            await self._each(lambda store, found: store.copy(found, scope), f"Copied to {self.reader.name_of(scope)}")
            return
        found = chosen[0][1].memory
        name = await self.services.ask(Line("Name of the copy", f"{found.stem}-2"))
        if name:
            store = self.services.data.store()
            self._attempt(lambda: store.copy(found, scope, name), f"Copied to {name}. {actions.takes_back()}")

    # trust

    async def trust(self) -> None:
        """Show the repository's memories and trust the chosen ones, or all (as they are now, or always), or none. From
        the list only if a chosen one is not trusted; from the scopes always."""
        from memtui.tui.dialogs.trust_choice import Trusting

        rows = self.list.chosen()
        if rows and not self.places.has_focus and not any("U" in row.letters for _, row in rows):
            revoke = "`memtui trust --remove` stops trusting it. " if rows[0][0].needs_trust else ""
            self.services.say(
                actions.keyed(f"Nothing to trust here. {revoke}{{inbox.accept}} accepts drafts: {{app.inbox}}.")
            )
            return
        shared = next((s for s, _ in rows if s.is_shared), None)
        own = (s for s in self.reader.found if s.kind == "project" and s.exists and not s.problem)
        scope = shared or next(own, None)
        if scope is None:
            self.services.say("This project has no memories of its own.")
            return
        chosen = [row.file for place, row in rows if place.label == scope.label]
        question = Trusting(self.services.data, scope.directory, chosen)
        answer = await self.services.ask(
            Choice(question.title, question.entries, question.current, about=question.about)
        )
        if answer:
            self._attempt(lambda: question.do(answer), question.done(answer))
