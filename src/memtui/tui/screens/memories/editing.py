"""Making and editing memories: in the form, in the person's editor, and on with what was begun."""

from memtui import actions
from memtui.core.base.errors import ConflictError, MemtuiError
from memtui.core.base.phrasing import ago
from memtui.core.memories import memory, scopes
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.present import editor, safe_text
from memtui.tui.dialogs.ask import Choice
from memtui.tui.model.memory_autosave import Draft, Drafts, key_of
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.screens.memories.reading import MemoryReader
from memtui.tui.screens.memories.rows import Pair
from memtui.tui.screens.memories.table import MemoryTable
from memtui.tui.screens.memories.tree import ScopeTree
from memtui.tui.services import Command, Services, first_of


class MemoryEditing:
    """The commands that open the form or the editor, on the screen and what was read."""

    def __init__(self, services: Services, table: MemoryTable, places: ScopeTree, reader: MemoryReader) -> None:
        self.services, self.list, self.places, self.reader = services, table, places, reader

    def table(self, screen: ListScreen[Pair]) -> dict[str, Command]:
        """Action id to command."""
        why_not = first_of(self.list.why_none, screen.one_by_one, self.list.why_read_only)
        return {
            "memories.new": Command(self.new),
            "memories.edit": Command(self.edit, lambda: "" if self._only_orphans() else why_not()),
            "memories.editor": Command(self.editor, why_not),
        }

    @property
    def _drafts(self) -> Drafts:
        return Drafts(self.services.data.root)

    def _orphans(self) -> list[Draft]:
        """What was begun of memories whose file is gone."""
        return [draft for draft in self._drafts.offered() if draft.path]

    def _only_orphans(self) -> bool:
        return not self.list.chosen() and bool(self._orphans())

    async def new(self) -> None:
        """From the template of a type, or an unfinished one."""
        drafts = {draft.key: draft for draft in self._drafts.offered()}
        rows = self._words(list(drafts.values()))
        rows += [(kind, f"{kind:<10} {memory.TEMPLATES[kind].partition(chr(10))[0]}") for kind in memory.TYPES]
        place = self.places.row
        only = place.scopes[0] if place is not None and len(place.scopes) == 1 else None
        scope = only if only in self.reader.targets() else scopes.home(self.reader.found)
        current = next(iter(drafts), "") or (place.kind if place is not None and place.kind else "feedback")
        kind = await self.services.ask(Choice("New memory", rows, current))
        if kind in drafts:
            await self._go_on(drafts[kind], scope)
        elif kind is not None:
            await self._form(None, scope, None, kind)

    async def edit(self) -> None:
        """In the form; what was begun is taken up. What was begun of a file that is gone is offered first."""
        chosen, orphans = self.list.chosen(), {draft.key: draft for draft in self._orphans()}
        key: str | None = ""
        if orphans:
            rows = [("", safe_text.line(row.memory.stem, 60)) for _, row in chosen[:1]]
            key = await self.services.ask(Choice("Edit", rows + self._words(list(orphans.values()))))
        if key == "":
            scope, row = chosen[0]
            await self._form(row.memory, scope, self._drafts.of(row.memory.path), row.memory.type)
        elif key is not None:
            await self._go_on(orphans[key], scopes.home(self.reader.found))

    def _words(self, drafts: list[Draft]) -> list[tuple[str, str]]:
        now = self.services.data.now()
        gone = {True: "your draft, its file is gone", False: "begun"}
        return [(d.key, f"go on with “{d.title}”, {gone[d.orphan]} {ago(d.time, now)}") for d in drafts]

    async def _go_on(self, draft: Draft, home: Scope) -> None:
        scope = next((s for s in self.reader.targets() if s.label == draft.scope), home)
        await self._form(draft.memory() if draft.path else None, scope, draft, "")

    async def _form(self, found: Memory | None, scope: Scope, draft: Draft | None, kind: str) -> None:
        from memtui.tui.screens.memories.form import Form
        from memtui.tui.screens.memories.values import too_large

        if found is not None and too_large(found):
            words = "This file is too large for the form; {memories.editor} opens it in your editor."
            self.services.notify(actions.keyed(words), severity="warning")
            return
        form = Form(self.services, found, scope, self.reader.targets(), kind, draft)
        path = await self.services.ask(form)
        self.reader.expected = path or ""
        self.services.read()

    async def editor(self) -> None:
        """The file in the person's editor, with the screen given over to it."""
        found = self.list.chosen()[0][1].memory
        with self.services.suspend():
            after = editor.edited(self.services.data.env, found.stem, found.raw)
        if after == found.raw:
            self.services.say("Nothing was changed.")
        else:
            await self._save(found, after)

    async def _save(self, found: Memory, after: bytes) -> None:
        """Save a whole file; where it changed meanwhile, show both and ask. What is not saved is kept for later."""
        from memtui.tui.dialogs.conflict import Conflict
        from memtui.tui.screens.memories.saving import saved_words

        text = after.decode("utf-8", "surrogateescape")
        was = found.raw.decode("utf-8", "surrogateescape")
        draft = Draft(key_of(found.path), found.path, "", found.scope_label, self.services.data.now(), True)
        draft.values, draft.was, draft.whole = {"raw": text}, {"raw": was}, was
        store = self.services.data.store()
        try:
            made = store.edit(found, after, seen=True)
        except ConflictError:
            self._drafts.save(draft)
            theirs = memory.read_memory(found.path, found.scope_label)
            answer = await self.services.ask(Conflict(theirs, after))
            if answer in {"mine", "theirs"}:
                self._drafts.drop(draft.key)
            if answer == "mine":
                await self._save(theirs, after)
            elif answer == "theirs":
                self.services.say("What is on the disk stays.")
        except MemtuiError:
            self._drafts.save(draft)
            raise
        else:
            self.services.say(saved_words(store, found, made))
        self.services.read()
