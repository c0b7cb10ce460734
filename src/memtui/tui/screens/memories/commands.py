"""The commands that change memories: those of the list work on all marked ones, as one step of undo."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from memtui import actions
from memtui.base import clock
from memtui.base.errors import ConflictError, MemtuiError
from memtui.base.phrasing import age, ago, some
from memtui.store import memory, scopes
from memtui.store.memory import Memory
from memtui.store.scopes import Scope
from memtui.store.status import Row
from memtui.tui.dialogs.ask import Choice, Line, report, sure
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.model import autosave
from memtui.tui.model.autosave import Autosave
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.screens.memories.detail import glance_text, trust_text
from memtui.tui.screens.memories.reader import MemoryReader
from memtui.tui.screens.memories.rows import MemoryTable, Pair
from memtui.tui.screens.memories.tree import ScopeTree
from memtui.tui.services import AT_ONCE, Command, Services, first_of
from memtui.views import memories as present
from memtui.views import safe_text

if TYPE_CHECKING:
    from memtui.store.store import Store
    from memtui.tui.dialogs.subject import Subject

NAMES_SHOWN = 5
# Cells of a scope's name before its path.
MOST_NAME = 28
OTHER_REPOSITORY = "Into the repository of another project: run memtui there."
# What a memory of each type says.
TYPES = {
    "user": "about you: role, expertise, preferences",
    "feedback": "a rule: how you want the work done",
    "project": "a fact or goal of the project",
    "reference": "where something is, and what it is good for",
    "tool": "a tool: how to call it, what to look out for",
}
TYPE_ROWS = [(kind, f"{kind:<10} {TYPES[kind]}") for kind in memory.TYPES]


def _names(chosen: list[Pair]) -> str:
    """Return the names of a few memories, if they differ, else how many there are."""
    names = {row.memory.stem for _, row in chosen}
    if len(chosen) > NAMES_SHOWN or len(names) < len(chosen):
        return present.counted([scope.label for scope, _ in chosen])
    return ", ".join(safe_text.line(row.memory.stem, 60) for _, row in chosen)


class MemoryCommands:
    """The commands, on the list, the tree and the reader of the screen."""

    def __init__(self, services: Services, table: MemoryTable, places: ScopeTree, reader: MemoryReader) -> None:
        self.services, self.list, self.places, self.reader = services, table, places, reader

    def table(self, screen: ListScreen[Pair]) -> dict[str, Command]:
        some_chosen = first_of(self.list.why_none, screen.no_row)
        changeable = first_of(some_chosen, self.list.why_read_only)
        one = first_of(some_chosen, screen.one_by_one, lambda: "" if self._is_block() else self.list.why_read_only())
        return {
            "memories.history": Command(self.show_versions, first_of(some_chosen, screen.one_by_one)),
            "memories.new": Command(self.new),
            "memories.edit": Command(self.edit, one),
            "memories.editor": Command(self.editor, one),
            "memories.remove": Command(self.remove, changeable),
            "memories.pin": Command(self.pin, changeable),
            "memories.purge": Command(self.purge, changeable),
            "memories.restore": Command(self.restore),
            "memories.retype": Command(self.retype, changeable),
            "memories.move": Command(self.move, changeable),
            "memories.copy": Command(self.copy, some_chosen),
            "memories.trust": Command(self.trust, first_of(some_chosen, self._why_no_trust)),
        }

    async def _each(self, change: "Callable[[Store, Memory], object]", words: str, *, for_good: bool = False) -> None:
        """Change every chosen memory as one step of undo, and report. `for_good`: there is no undo."""
        store, table = self.services.data.store(), self.list
        places = [scope for scope, _ in table.chosen()]
        if not await self._may_change(places):
            return
        store.shared = any(scope.is_shared for scope in places)
        try:
            pairs, progress = table.chosen(), self.services.progress
            go_on = lambda count: progress.go_on(count, len(pairs))
            act = lambda pair: change(store, pair[1].memory)
            outcome = await progress.run(lambda: store.each(pairs, act, go_on), len(pairs))
            table.marks -= {row.memory.path for (_, row), _ in outcome.done}
            if not table.marks:
                table.clear_marks()
            place = self.places.row
            result = outcome.done[0][1] if outcome.done else None
            if outcome.total == 1 and isinstance(result, Memory) and place is not None:
                is_listed = result.scope_label in {scope.label for scope in place.scopes}
                self.reader.expected = result.path if is_listed else ""
            self.reader.drop_missing(row.memory.path for (_, row), _ in outcome.done)
        finally:
            self.services.read()
        name_of = lambda pair: (pair[1].memory, self.reader.name_of(pair[0]))
        await report(self.services, outcome, words, name_of, for_good=for_good)

    async def _may_change(self, places: list[Scope]) -> bool:
        from memtui.store import references

        if not any(scope.is_shared for scope in places):
            return True
        return await self._is_sure(f"{references.SHARED} Go on?", "Change it for all")

    async def _is_sure(self, question: str, yes: str) -> bool:
        answer = await self.services.ask(sure(question, yes))
        return bool(answer)

    def _attempt(self, change: "Callable[[], object]", words: str) -> None:
        """Run one change, show `words`, read again, and put the cursor on the memory that it returned."""
        result = self.services.make(change, words)
        if isinstance(result, Memory):
            self.reader.expected = result.path

    # remove

    async def remove(self) -> None:
        """Remove the chosen memories: they go to the trash; many, or those of several projects, after asking."""
        labels = [scope.label for scope, _ in self.list.chosen()]
        question = f"Remove {present.counted(labels)}? They go to the trash."
        if not present.must_ask(labels) or await self._is_sure(question, "Remove"):
            await self._each(lambda store, mem: store.delete(mem), "Removed")

    async def purge(self) -> None:
        """Delete the chosen memories for good, after asking."""
        question = f"Delete {_names(self.list.chosen())} for good? This can't be undone."
        if await self._is_sure(question, "Delete for good"):
            await self._each(lambda store, mem: store.erase(mem), "Deleted for good", for_good=True)

    async def restore(self) -> None:
        """Show the trash, and restore a memory from it, or delete it for good."""
        data, store = self.services.data, self.services.data.store()
        few = len(data.ledger.trashed) <= AT_ONCE
        items = {item.id: item for item in (store.trash() if few else await asyncio.to_thread(store.trash))}
        if not items:
            self.services.say("The trash is empty.")
            return
        rows = [
            (item.id, f"{age(clock.parse(item.time), data.now()):>4}  {item.memory.stem}, {item.scope_label}")
            for item in items.values()
        ]
        about = lambda trash_id: glance_text(Row(items[trash_id].memory, ""))
        chosen = await self.services.ask(Choice("Trash", rows, about=about, verb="restore or delete"))
        if chosen is None:
            return
        name = safe_text.line(items[chosen].memory.stem, 60)
        ways = [("restore", "Restore it"), ("purge", "Delete it for good: this can't be undone")]
        way = await self.services.ask(Choice(name, ways))
        if way == "restore":
            self._attempt(lambda: store.restore(chosen), f"Restored: {name}.")
        elif way == "purge":
            store.purge(chosen)
            self.services.say(f"Deleted for good: {name}.")
            self.services.read()

    async def show_versions(self) -> None:
        """Show the versions of a memory; one of them can be restored."""
        from memtui.tui.dialogs import history

        scope, row = self.list.chosen()[0]
        if scope.kind == "model":
            await history.show_block(self.services, row.memory.stem)
        else:
            self.reader.expected = await history.show_memory(self.services, scope, row.memory.path)

    # type, pin, scope

    async def retype(self) -> None:
        current = self.list.chosen()[0][1].memory.type
        kind = await self.services.ask(Choice(f"Change the type of {_names(self.list.chosen())}", TYPE_ROWS, current))
        if kind and all(row.memory.type == kind for _, row in self.list.chosen()):
            self.services.say(f"Its type is {kind} already.")
        elif kind:
            self.list.marks -= {row.memory.path for _, row in self.list.chosen() if row.memory.type == kind}
            await self._each(lambda store, mem: store.edit(mem, {"type": kind}, op="retype"), f"Made {kind}")

    async def pin(self) -> None:
        """Pin the chosen memories, so that recall counts them more; unpin them if all are pinned."""
        from memtui.recall import fields

        off = all(fields.read(row.memory.raw, row.file, ()).pinned for _, row in self.list.chosen())
        verb, value = ("unpin", "") if off else ("pin", "true")
        await self._each(
            lambda store, mem: store.edit(mem, {"pinned": value}, op="pin", verb=verb, keep_time=True),
            "Unpinned" if off else "Pinned",
        )

    async def _ask_scope(self, verb: str, *, without: str = "") -> Scope | None:
        """Ask for a scope. Ask again before memories that are not trusted get into one whose memories need no trust."""
        chosen, data = self.list.chosen(), self.services.data
        targets = {scope.label: scope for scope in self.reader.targets() if scope.label != without}
        rows = present.scopes_explained(list(targets.values()), data.facts.project, MOST_NAME)
        label = await self.services.ask(Choice(f"{verb} {_names(chosen)} to", rows, below=OTHER_REPOSITORY))
        scope, store = targets.get(label or ""), data.store()
        if scope is None or scope.needs_trust:
            return scope
        untrusted = [pair for pair in chosen if not store.is_trusted(pair[1].memory)]
        question = present.not_trusted(_names(untrusted), len(untrusted), self.reader.name_of(scope))
        return scope if not untrusted or await self._is_sure(question, f"{verb} all the same") else None

    async def move(self) -> None:
        here = {scope.label for scope, _ in self.list.chosen()}
        scope = await self._ask_scope("Move", without=here.pop() if len(here) == 1 else "")
        if scope is not None:
            await self._each(lambda store, mem: store.move(mem, scope), f"Moved to {self.reader.name_of(scope)}")

    async def copy(self) -> None:
        """Copy the chosen memories to another scope, or one under another name in its own."""
        chosen = self.list.chosen()
        scope = await self._ask_scope("Copy")
        if scope is None:
            return
        if len(chosen) > 1 or chosen[0][0].label != scope.label:
            await self._each(lambda store, mem: store.copy(mem, scope), f"Copied to {self.reader.name_of(scope)}")
            return
        original = chosen[0][1].memory
        name = await self.services.ask(Line("Name of the copy", f"{original.stem}-2", verb="copy"))
        if name:
            store = self.services.data.store()
            self._attempt(lambda: store.copy(original, scope, name), f"Copied to {name}.")

    # trust

    def _why_no_trust(self) -> str:
        if any("U" in row.letters for _, row in self.list.chosen()):
            return ""
        words = "Nothing to trust here. `memtui trust` has more. {inbox.approve} approves drafts: {app.inbox}."
        return actions.keyed(words)

    async def trust(self) -> None:
        """Show the chosen memories that are not trusted, or what changed in them, and trust these bytes."""
        from memtui.store import trust_grants

        data, untrusted = self.services.data, [(s, row) for s, row in self.list.chosen() if "U" in row.letters]
        directory = untrusted[0][0].directory
        names = [row.file for scope, row in untrusted if scope.directory == directory]
        contents = trust_grants.read(directory, names)
        title = f"Trust {some([safe_text.line(name.removesuffix('.md'), 60) for name in names])}: sessions get this"
        if await self.services.ask(Preview(title, trust_text(data, directory, contents), "trust")):
            words = f"Trusted from now on: {_names(untrusted)}."
            grant = partial(trust_grants.grant, data.root, directory, contents, by="tui", now=data.now)
            self._attempt(grant, words)

    # the form and the editor

    def _is_block(self) -> bool:
        return all(scope.kind == "model" for scope, _ in self.list.chosen())

    async def new(self) -> None:
        """Create a memory from the template of a type, or go on with an unsaved one that no listed memory has."""
        data, place = self.services.data, self.places.row
        autosaves = {saved.name: saved for saved in autosave.offered(data.root)}
        why = {True: "your unsaved text, its file is gone", False: "started"}
        rows = [
            (name, f"continue “{saved.title}”, {why[saved.orphan]} {ago(saved.time, data.now())}")
            for name, saved in autosaves.items()
        ]
        rows += TYPE_ROWS
        only = place.scopes[0] if place is not None and len(place.scopes) == 1 else None
        answer = await self.services.ask(Choice("New memory", rows, start=next(iter(autosaves), "feedback")))
        if answer in autosaves and autosaves[answer].path:
            await self._change(autosaves[answer].memory(), autosaves[answer])
            return
        scope = only if only in self.reader.targets() else scopes.home(self.reader.scopes, answer or "")
        if answer in autosaves:
            scope = next((s for s in self.reader.targets() if s.label == autosaves[answer].scope), scope)
            await self._create(scope, "", autosaves[answer])
        elif answer is not None:
            await self._create(scope, answer, None)

    async def edit(self) -> None:
        """Edit in the form, going on with an autosave if there is one."""
        chosen = self.list.chosen()[0][1].memory
        if self._is_block():
            from memtui.tui.dialogs.memory_subject import BlockSubject

            await self._form(BlockSubject(self.services.data, chosen.stem))
            self.reader.expected = ""  # a block has no file that the cursor could go to
        else:
            await self._change(chosen, autosave.kept(self.services.data.root, autosave.name_of(chosen.path)))

    async def _create(self, scope: Scope, kind: str, autosave: Autosave | None) -> None:
        from memtui.tui.dialogs.memory_subject import NewMemorySubject

        await self._form(NewMemorySubject(self.services.data, scope, self.reader.targets(), kind, autosave))

    async def _change(self, memory: Memory, autosave: Autosave | None) -> None:
        from memtui.tui.dialogs.memory_subject import TOO_LARGE, MemorySubject, too_large

        if too_large(memory):
            self.services.warn(actions.keyed(TOO_LARGE))
        elif await self._may_change([scope for scope in self.reader.scopes if scope.label == memory.scope_label]):
            subject = MemorySubject(self.services.data, memory, autosave)
            subject.shared = True
            await self._form(subject)

    async def _form(self, subject: "Subject") -> None:
        from memtui.tui.dialogs.draft_form import DraftForm

        self.reader.expected = await self.services.ask(DraftForm(subject, self.services)) or ""
        self.services.read()

    async def editor(self) -> None:
        """Edit the whole file in the person's editor, which gets the terminal meanwhile."""
        from memtui.views import editor

        scope, row = self.list.chosen()[0]
        if not await self._may_change([scope]):
            return
        with self.services.suspend():
            after = editor.edited(self.services.data.env, row.memory.stem, row.memory.raw)
        if after == row.memory.raw:
            from memtui.tui.dialogs.subject import NOTHING

            self.services.say(NOTHING)
        elif self._is_block():
            self._save_block(row.memory, after)
        else:
            await self._save(row.memory, after)

    def _save_block(self, memory: Memory, after: bytes) -> None:
        from memtui.models.subconscious import block_files, blocks

        data = self.services.data
        parts = blocks.Blocks(data.root, data.slug, data.now)
        before, text = block_files.clean(memory.raw.decode("utf-8", "replace")), after.decode("utf-8", "replace")
        change = partial(parts.replace, memory.stem, text, data.journal(), before)
        self.services.make(change, f"Changed {memory.stem}.")

    async def _save(self, mem: Memory, after: bytes) -> None:
        """Save a whole file; if it was changed meanwhile, show both versions and ask. Autosave what is not saved."""
        from memtui.tui.dialogs.ask import MINE, THEIRS, conflict
        from memtui.tui.dialogs.memory_subject import saved_words, typed_over

        root, store = self.services.data.root, self.services.data.store()
        store.shared = True  # it was asked about
        other = typed_over(mem, raw=True)
        other.values, other.was = {"raw": after.decode("utf-8", "surrogateescape")}, {"raw": other.whole}
        other.time = self.services.data.now()
        try:
            saved = store.edit(mem, after, seen=True)
        except ConflictError:
            other.save(root)
            theirs = memory.read_memory(mem.path, mem.scope_label)
            answer = await self.services.ask(conflict(theirs.stem, theirs.raw, after))
            if answer in {MINE, THEIRS}:
                autosave.drop(root, other.name)
            if answer == MINE:
                await self._save(theirs, after)
            elif answer == THEIRS:
                self.services.say("Kept the version on disk.")
        except MemtuiError:
            other.save(root)
            raise
        else:
            self.services.say(saved_words(store, mem, saved))
        self.services.read()
