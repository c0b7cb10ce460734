"""The commands that create and edit memories: in the form, in the person's editor, or from an autosave."""

from typing import TYPE_CHECKING

from memtui import actions
from memtui.core.base.errors import ConflictError, MemtuiError
from memtui.core.base.phrasing import ago
from memtui.core.memories import memory, references, scopes
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.core.places import locate
from memtui.present import editor, safe_text
from memtui.tui.dialogs.ask import Choice, sure
from memtui.tui.model import autosave
from memtui.tui.model.autosave import Autosave
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.screens.memories.reading import MemoryReader
from memtui.tui.screens.memories.rows import Pair
from memtui.tui.screens.memories.table import MemoryTable
from memtui.tui.screens.memories.tree import ScopeTree
from memtui.tui.services import Command, Services, first_of

if TYPE_CHECKING:
    from memtui.tui.dialogs.subject import Subject

# What a memory of each type says.
TYPES = {
    "user": "about you: role, expertise, preferences",
    "feedback": "a rule: how you want the work done",
    "project": "a fact or goal of the project",
    "reference": "where something is, and what it is good for",
    "tool": "a tool: how to call it, what to look out for",
}


class MemoryEditing:
    """The commands, on the list, the tree and the reader of the screen."""

    def __init__(self, services: Services, table: MemoryTable, places: ScopeTree, reader: MemoryReader) -> None:
        self.services, self.list, self.places, self.reader = services, table, places, reader

    def table(self, screen: ListScreen[Pair]) -> dict[str, Command]:
        """Return command by action id."""
        changeable = lambda: "" if self._is_block() else self.list.why_read_only()
        why_not = first_of(self.list.why_none, screen.one_by_one, changeable)
        return {
            "memories.new": Command(self.new),
            "memories.edit": Command(self.edit, lambda: "" if self._only_orphans() else why_not()),
            "memories.editor": Command(self.editor, why_not),
        }

    def _is_block(self) -> bool:
        return all(scope.kind == "model" for scope, _ in self.list.chosen())

    def _unlisted(self) -> dict[str, Autosave]:
        """Return by name the autosaves of memories that are in no list."""
        return {each.name: each for each in autosave.offered(self.services.data.root)}

    def _orphans(self) -> dict[str, Autosave]:
        """Return by name the autosaves of memories whose file is gone."""
        return {name: each for name, each in self._unlisted().items() if each.path}

    def _only_orphans(self) -> bool:
        return not self.list.chosen() and bool(self._orphans())

    async def new(self) -> None:
        """Create a memory from the template of a type, or continue an unsaved one."""
        kept = self._unlisted()
        rows = self._choices(kept)
        rows += [(kind, f"{kind:<10} {TYPES[kind]}") for kind in memory.TYPES]
        place = self.places.row
        only = place.scopes[0] if place is not None and len(place.scopes) == 1 else None
        scope = only if only in self.reader.targets() else scopes.home(self.reader.found)
        current = next(iter(kept), "") or (place.kind if place is not None and place.kind else "feedback")
        answer = await self.services.ask(Choice("New memory", rows, current))
        if answer in kept:
            await self._continue(kept[answer], scope)
        elif answer is not None:
            await self._create(scope, answer, None)

    async def edit(self) -> None:
        """Edit in the form, continuing an autosave if there is one. Autosaves of deleted files are offered first."""
        chosen, orphans = self.list.chosen(), self._orphans()
        if chosen and self._is_block():
            await self._change_block(chosen[0][1].memory.stem)
            return
        answer: str | None = ""
        if orphans:
            rows = [("", safe_text.line(row.memory.stem, 60)) for _, row in chosen[:1]]
            answer = await self.services.ask(Choice("Edit", rows + self._choices(orphans)))
        if answer == "":
            found = chosen[0][1].memory
            await self._change(found, autosave.kept(self.services.data.root, autosave.name_of(found.path)))
        elif answer is not None:
            await self._continue(orphans[answer], scopes.home(self.reader.found))

    def _choices(self, kept: dict[str, Autosave]) -> list[tuple[str, str]]:
        now = self.services.data.now()
        gone = {True: "your unsaved text, its file is gone", False: "started"}
        return [
            (name, f"continue “{each.title}”, {gone[each.orphan]} {ago(each.time, now)}") for name, each in kept.items()
        ]

    async def _continue(self, kept: Autosave, home: Scope) -> None:
        if kept.path:
            await self._change(kept.memory(), kept)
        else:
            await self._create(next((s for s in self.reader.targets() if s.label == kept.scope), home), "", kept)

    async def _create(self, scope: Scope, kind: str, kept: Autosave | None) -> None:
        from memtui.tui.dialogs.memory_subject import NewMemorySubject

        await self._form(NewMemorySubject(self.services.data, scope, self.reader.targets(), kind, kept))

    async def _change(self, found: Memory, kept: Autosave | None) -> None:
        from memtui.tui.dialogs.memory_subject import TOO_LARGE, MemorySubject, too_large

        if too_large(found):
            self.services.warn(actions.keyed(TOO_LARGE))
        elif await self._others_may_get(found):
            subject = MemorySubject(self.services.data, found, kept)
            subject.shared = True
            await self._form(subject)

    async def _change_block(self, name: str) -> None:
        from memtui.tui.dialogs.block_subject import BlockSubject
        from memtui.tui.dialogs.draft_form import DraftForm

        await self.services.ask(DraftForm(BlockSubject(self.services.data, name), self.services))
        self.services.read()

    async def _others_may_get(self, found: Memory) -> bool:
        """Ask before a memory that a team shares is changed."""
        if found.scope_label.partition(":")[0] != locate.TEAM:
            return True
        answer = await self.services.ask(sure(f"{references.SHARED} Go on?", "Change it for all"))
        return bool(answer)

    async def _form(self, subject: "Subject") -> None:
        from memtui.tui.dialogs.draft_form import DraftForm

        self.reader.expected = await self.services.ask(DraftForm(subject, self.services)) or ""
        self.services.read()

    async def editor(self) -> None:
        """Edit the whole file in the person's editor, which gets the terminal meanwhile."""
        found = self.list.chosen()[0][1].memory
        if not await self._others_may_get(found):
            return
        with self.services.suspend():
            after = editor.edited(self.services.data.env, found.stem, found.raw)
        if after == found.raw:
            from memtui.tui.dialogs.subject import NOTHING

            self.services.say(NOTHING)
        elif self._is_block():
            self._save_block(found, after)
        else:
            await self._save(found, after)

    def _save_block(self, found: Memory, after: bytes) -> None:
        from memtui.subconscious import blocks, places

        data = self.services.data
        known = blocks.Blocks(data.root, data.slug, data.now)
        try:
            before = places.clean(found.raw.decode("utf-8", "replace"))
            known.replace(found.stem, after.decode("utf-8", "replace"), data.journal(), before)
            self.services.say(f"Changed {found.stem}. {actions.takes_back()}")
        finally:
            self.services.read()

    async def _save(self, found: Memory, after: bytes) -> None:
        """Save a whole file; if it was changed meanwhile, show both versions and ask. Autosave what is not saved."""
        from memtui.tui.dialogs.ask import MINE, THEIRS, conflict
        from memtui.tui.dialogs.memory_subject import saved_words, typed_over

        root, store = self.services.data.root, self.services.data.store()
        store.shared = True  # it was asked about
        kept = typed_over(found, raw=True)
        kept.values, kept.was = {"raw": after.decode("utf-8", "surrogateescape")}, {"raw": kept.whole}
        kept.time = self.services.data.now()
        try:
            saved = store.edit(found, after, seen=True)
        except ConflictError:
            kept.save(root)
            theirs = memory.read_memory(found.path, found.scope_label)
            answer = await self.services.ask(conflict(theirs.stem, theirs.raw, after))
            if answer in {MINE, THEIRS}:
                autosave.drop(root, kept.name)
            if answer == MINE:
                await self._save(theirs, after)
            elif answer == THEIRS:
                self.services.say("Kept the version on disk.")
        except MemtuiError:
            kept.save(root)
            raise
        else:
            self.services.say(saved_words(store, found, saved))
        self.services.read()
