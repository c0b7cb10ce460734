"""The commands on memories: those that change them work on all marked ones, as one step of undo."""

import asyncio
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from memtui import keymap
from memtui.base import clock_hot, paths_hot
from memtui.base.errors import MemtuiError, UsageError
from memtui.base.phrasing_hot import age, ago, many, some
from memtui.store import memory, scopes
from memtui.store.memory import Memory
from memtui.store.scopes import Scope
from memtui.store.status import Row
from memtui.tui.dialogs.ask import YES, Choice, Line, report, sure
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.model import autosave
from memtui.tui.model.autosave import Autosave
from memtui.tui.screens.memories.detail import drafts_text, glance_text
from memtui.tui.screens.memories.reader import MemoryReader, Pair
from memtui.tui.screens.memories.rows import MemoryTable, ScopeTree
from memtui.tui.services import Command, Services, first_of
from memtui.tui.texts import TABLES
from memtui.views import memories as present
from memtui.views import rules, safe_text

if TYPE_CHECKING:
    from memtui.store.store import Store
    from memtui.tui.dialogs.subject import Subject

    Change = Callable[[Store, Memory], object]

IN_INBOX = {"X", "U"}  # letters of flags that a row of the Inbox cures
AUTOSAVES_NAMED = 4  # the most autosaves that are named at the start
MOST_NAME = 28  # cells of a scope's name before its path
OTHER_REPOSITORY = "Into the repository of another project: run memtui there."
KINDS = "Markdown, a file or a folder (also an export of memtui), a CLAUDE.md, or a claude-mem database."
HINT = "a path, such as ~/notes"
BELOW = "What it would bring is shown first. It waits in the Inbox until you approve it."
# What a memory of each type says.
TYPE_ROWS = [(kind, f"{kind:<10} {TABLES['memory types'][kind]}") for kind in memory.TYPES]


def _names(chosen: list[Pair]) -> str:
    """Return the name of a memory; of several how many there are."""
    if len(chosen) > 1:
        return present.counted([scope.label for scope, _ in chosen])
    return safe_text.line(chosen[0][1].memory.stem, 60)


class MemoryCommands:
    """The commands of a `screen`, Memories, on its list, tree and reader. `steps`: followed links, as (from, to)."""

    def __init__(self, screen: Any) -> None:
        self.screen = screen
        self.services: Services = screen.services
        self.list: MemoryTable = screen.table
        self.places: ScopeTree = screen.places
        self.reader: MemoryReader = screen.reader
        self.steps: list[tuple[str, str]] = []

    def table(self) -> dict[str, Command]:
        some_chosen, one_by_one = first_of(self.list.why_none, self.screen.no_row), self.screen.one_by_one
        changeable = first_of(some_chosen, self.list.why_read_only)
        one = first_of(some_chosen, one_by_one, lambda: "" if self._is_block() else self.list.why_read_only())
        commands = {
            "history": Command(self.show_versions, first_of(some_chosen, one_by_one)),
            "new": Command(self.new),
            "edit": Command(self.edit, one),
            "editor": Command(self.editor, first_of(changeable, one_by_one)),
            "remove": Command(self.remove, changeable),
            "pin": Command(self.pin, changeable),
            "purge": Command(self.purge, changeable),
            "restore": Command(self.restore),
            "retype": Command(self.retype, changeable),
            "move": Command(self.move, changeable),
            "follow": Command(self.follow, first_of(some_chosen, self._why_no_link)),
            "import": Command(self.import_drafts),
            "export": Command(self.export, self._why_no_export),
        }
        return {f"memories.{verb}": command for verb, command in commands.items()}

    def name_autosaves(self) -> None:
        """Say which memories have unsaved text, and the key that goes on with each."""
        if autosaves := autosave.of_memories(self.services.data.root):
            new, edit = keymap.key_of("memories.new"), keymap.key_of("memories.edit")
            ways = [f"{saved.title} ({edit if saved.path and not saved.orphan else new})" for saved in autosaves]
            self.services.say(f"{many(len(autosaves), 'unsaved text')}: {some(ways, AUTOSAVES_NAMED)}.")

    def breaks(self) -> dict[str, rules.Break]:
        """Return the moments at which a rule of this memory was broken, by key, newest first."""
        pair = self.list.row
        held_by_path = {pair[1].memory.path: pair[1].held} if pair is not None else {}
        return {broken.key: broken for broken in rules.breaks(held_by_path)}

    def links(self) -> dict[str, str]:
        """Return the paths, with words, of the memories that this one links to, then of others that link to it."""
        return dict(self.screen.details.links(self.list.row)) if self.list.row is not None else {}

    def _why_no_link(self) -> str:
        nothing = "This memory links to no other that is there, and none links to it."
        return "" if self.links() or self.breaks() or self._is_flagged() else nothing

    def _is_flagged(self) -> bool:
        """Whether the memory is broken, or not trusted: the Inbox has a row of that."""
        return self.list.row is not None and bool(IN_INBOX & set(self.list.row[1].letters))

    async def follow(self) -> None:
        """Go to where a rule was broken, to a memory linked to or from this one, or to its row in the Inbox."""
        here, breaks, now = self.list.row_id, self.breaks(), self.services.data.now()
        words = {key: safe_text.line(f"broken {rules.broken(broken.moment, now)}") for key, broken in breaks.items()}
        ends = [*(words | self.links() | ({"inbox": "its row in the Inbox"} if self._is_flagged() else {})).items()]
        path = ends[0][0] if len(ends) == 1 else await self.services.ask(Choice("Follow", ends))
        if path == "inbox" and self.list.row is not None:
            self.services.go("inbox").show_query(self.list.row[1].memory.stem)
        elif broken := breaks.get(path or ""):
            activity = self.services.go("activity")
            activity.then = partial(activity.show_break, broken.moment.session, broken.key)
        elif path:
            self.steps.append((here, path))
            self.screen.read_memory(path)

    def step_back(self) -> bool:
        """Go back over the link followed last; if the cursor has left its end, forget all links and return False."""
        if self.steps and self.steps[-1][1] == self.list.row_id:
            self.screen.read_memory(self.steps.pop()[0])
            return True
        self.steps.clear()
        return False

    async def _each(self, change: "Change", words: str, *, for_good: bool = False, to: Sequence[Scope] = ()) -> None:
        """Change every chosen memory as one step of undo, and report. `for_good`: without undo; `to`: where to."""
        store, table = self.services.data.store(), self.list
        places = [*(scope for scope, _ in table.chosen()), *to]
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
            result = outcome.done[0][1] if outcome.done else None
            if outcome.total == 1 and isinstance(result, Memory) and self.places.row is not None:
                is_listed = result.scope_label in {scope.label for scope in self.places.row.scopes}
                self.reader.expected = result.path if is_listed else ""
            self.reader.drop_missing(row.memory.path for (_, row), _ in outcome.done)
        finally:
            self.services.read()
        name_of = lambda pair: (pair[1].memory, self.reader.name_of(pair[0]))
        await report(self.services, outcome, words, name_of, for_good=for_good)

    async def _may_change(self, places: list[Scope]) -> bool:
        from memtui.store import references

        is_shared = any(scope.is_shared for scope in places)
        return not is_shared or await self._is_sure(f"{references.SHARED} Go on?", "Change it for all")

    async def _is_sure(self, question: str, yes: str) -> bool:
        return await self.services.ask(sure(question, yes)) == YES

    async def remove(self) -> None:
        """Move the chosen memories to the trash; many, or those of several projects, after asking."""
        labels = [scope.label for scope, _ in self.list.chosen()]
        question = f"Remove {present.counted(labels)}? They go to the trash."
        if not present.must_ask(labels) or await self._is_sure(question, "Remove"):
            await self._each(lambda store, mem: store.delete(mem), "Removed")

    async def purge(self) -> None:
        question = f"Delete {_names(self.list.chosen())} for good? This can't be undone."
        if await self._is_sure(question, "Delete for good"):
            await self._each(lambda store, mem: store.erase(mem), "Deleted for good", for_good=True)

    async def restore(self) -> None:
        data, store = self.services.data, self.services.data.store()
        items = {item.id: item for item in await asyncio.to_thread(store.trash)}
        if not items:
            self.services.say("The trash is empty.")
            return
        ages = {key: f"{age(clock_hot.parse(item.time), data.now()):>4}" for key, item in items.items()}
        rows = [(key, f"{ages[key]}  {item.memory.stem}, {item.scope_label}") for key, item in items.items()]
        about = lambda trash_id: glance_text(Row(items[trash_id].memory, ""))
        chosen = await self.services.ask(Choice("Trash", rows, about=about, verb="restore"))
        if chosen is not None:
            words = f"Restored: {safe_text.line(items[chosen].memory.stem, 60)}."
            self.reader.expected = self.services.make(lambda: store.restore(chosen), words).path

    async def show_versions(self) -> None:
        from memtui.tui.dialogs import changes

        scope, row = self.list.chosen()[0]
        if scope.kind == "model":
            await changes.show_block_versions(self.services, row.memory.stem)
        else:
            self.reader.expected = await changes.show_versions(self.services, scope, row.memory.path)

    async def retype(self) -> None:
        current = self.list.chosen()[0][1].memory.type
        kind = await self.services.ask(Choice(f"Change the type of {_names(self.list.chosen())}", TYPE_ROWS, current))
        if kind and all(row.memory.type == kind for _, row in self.list.chosen()):
            self.services.say(f"Its type is {kind} already.")
        elif kind:
            self.list.marks -= {row.memory.path for _, row in self.list.chosen() if row.memory.type == kind}
            await self._each(lambda store, mem: store.edit(mem, {"type": kind}, op="retype"), f"Made {kind}")

    async def pin(self) -> None:
        """Pin the chosen memories, so that every session begins with them; unpin them if all are pinned."""
        from memtui.recall import fields

        off = all(fields.read(row.memory.raw, row.file, ()).pinned for _, row in self.list.chosen())
        words, verb, value = ("Unpinned", "unpin", "") if off else ("Pinned", "pin", "true")
        edit = lambda store, mem: store.edit(mem, {"pinned": value}, op="pin", verb=verb, keep_time=True)
        await self._each(edit, words)

    async def _choose(self, question: str, choices: Sequence[Scope], below: str = "") -> Scope | None:
        rows = present.scopes_explained(choices, self.services.data.facts.project, MOST_NAME)
        label = await self.services.ask(Choice(question, rows, below=below))
        return next((scope for scope in choices if scope.label == label), None)

    async def move(self) -> None:
        """Ask for another scope; again before memories that are not trusted get to where memories need no trust."""
        chosen, data = self.list.chosen(), self.services.data
        here = {scope.label for scope, _ in chosen}
        targets = [scope for scope in self.reader.targets if here != {scope.label}]
        scope, store = await self._choose(f"Move {_names(chosen)} to", targets, OTHER_REPOSITORY), data.store()
        if scope is None:
            return
        untrusted = [pair for pair in chosen if not (scope.needs_trust or store.is_trusted(pair[1].memory))]
        name = self.reader.name_of(scope)
        if untrusted:
            question = present.not_trusted(_names(untrusted), len(untrusted), name)
            if not await self._is_sure(question, "Move all the same"):
                return
        await self._each(lambda store, mem: store.move(mem, scope), f"Moved to {name}", to=[scope])

    def _whole(self, typed: str) -> str:
        """Return the path that a person typed: from the home directory with `~`, else from the working directory."""
        data, path = self.services.data, typed.strip()
        home = paths_hot.home(data.env)
        if home and (path == "~" or path.startswith("~/")):
            path = home + path[1:]
        return os.path.normpath(os.path.join(data.cwd, path)) if path else ""

    async def import_drafts(self) -> None:
        """Ask for a file or folder, show which drafts it would bring, and add them to the inbox."""
        from memtui.transfer import import_plan
        from memtui.views import drafts

        data, store = self.services.data, self.services.data.store()

        def check(typed: str) -> None:
            if typed and not os.path.lexists(self._whole(typed)):
                raise UsageError("There is no such file or folder.")

        question = Line("Import memories from", about=KINDS, below=BELOW, verb="import", check=check, hint=HINT)
        path = self._whole(await self.services.ask(question) or "")
        if not path:
            return
        project, name = os.path.basename(data.project_root), os.path.basename(path)
        source = await asyncio.to_thread(import_plan.read, path, project=project, config_dir=data.config_dir)
        plan = await asyncio.to_thread(import_plan.plan, store, source)
        go = f"add {many(len(plan.drafts), 'draft')}" if plan.drafts else ""
        if await self.services.ask(Preview(safe_text.line(f"{name}: {source.said}"), drafts_text(plan), go)):
            review = f"Press {keymap.key_of('app.inbox')} to review."
            self.services.make(partial(plan.write, store, name), f"{drafts.added(len(plan.drafts))}. {review}")

    def _why_no_export(self) -> str:
        place = self.places.row
        is_written_by_hand = place is not None and place.scope is not None and place.scope.kind == "instructions"
        return "These are instructions, no memories: copy the files." if is_written_by_hand else ""

    async def export(self) -> None:
        """Ask where to, and write the memories of a scope, that under the cursor of the tree, into a folder."""
        from memtui.transfer import export_folder
        from memtui.views import drafts

        data, scope = self.services.data, self.places.row.scope if self.places.row is not None else None
        if scope is None:
            memories = [scope for scope in self.reader.scopes if scope.kind != "instructions"]
            scope = await self._choose("Export which scope?", memories)
        if scope is None:
            return

        def check(typed: str) -> None:
            path = self._whole(typed)
            if path and os.path.lexists(path) and (not os.path.isdir(path) or os.listdir(path)):
                raise UsageError("There is a file or folder of that name.")

        export = await asyncio.to_thread(export_folder.collect, scope)
        default = data.tilde(f"{paths_hot.home(data.env) or data.cwd}/{export_folder.default_name(scope.shown)}")
        about = f"{drafts.exported(export)}. {' '.join(drafts.beside(export))}".strip()
        title, below = f"Export {safe_text.line(scope.shown)} to", drafts.elsewhere(export, "PATH")
        question = Line(title, default, about=about, below=below, verb="export", check=check)
        if path := self._whole(await self.services.ask(question) or ""):
            await asyncio.to_thread(export_folder.write, export, path)
            words = f"{many(export.memories, 'memory is', 'memories are')} in {data.tilde(path)}."
            self.services.say(safe_text.line(words))

    # the form and the editor

    def _is_block(self) -> bool:
        return all(scope.kind == "model" for scope, _ in self.list.chosen())

    async def new(self) -> None:
        """Create a memory of a type, or go on with an unsaved one that no listed memory has."""
        from memtui.tui.dialogs.memory_subject import NewMemorySubject

        data, place = self.services.data, self.places.row
        autosaves = {saved.name: saved for saved in autosave.offered(data.root)}
        rows = [(name, f"continue “{saved.title}”, {ago(saved.time, data.now())}") for name, saved in autosaves.items()]
        start = next(iter(autosaves), "feedback")
        answer = await self.services.ask(Choice("New memory", rows + TYPE_ROWS, start=start))
        unsaved = autosaves.get(answer or "")
        if unsaved is not None and unsaved.path:
            await self._change(unsaved.memory(), unsaved)
        elif answer is not None:
            targets = [scope for scope in self.reader.targets if scope.writable]
            kind = answer if unsaved is None else ""
            here = place.scope if place is not None and place.scope in targets else None
            scope = here or scopes.home(self.reader.scopes, kind)
            if unsaved is not None:
                scope = next((target for target in targets if target.label == unsaved.scope), scope)
            await self._form(NewMemorySubject(data, scope, targets, kind, unsaved))

    async def edit(self) -> None:
        chosen = self.list.chosen()[0][1].memory
        if self._is_block():
            from memtui.tui.dialogs.memory_subject import BlockSubject

            await self._form(BlockSubject(self.services.data, chosen.stem))
            self.reader.expected = ""  # a block has no file that the cursor could go to
        else:
            await self._change(chosen, autosave.kept(self.services.data.root, autosave.name_of(chosen.path)))

    async def _change(self, memory: Memory, autosave: Autosave | None) -> None:
        from memtui.tui.dialogs.memory_subject import TOO_LARGE, MemorySubject, too_large

        if too_large(memory):
            self.services.warn(keymap.keyed(TOO_LARGE))
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
        after = row.memory.raw
        while True:
            with self.services.suspend():
                after = editor.edited(self.services.data.env, row.memory.stem, after)
            if not (words := editor.problem(row.memory, after)):
                break
            question = Choice(safe_text.line(words), [editor.AGAIN, editor.KEEP, editor.BACK])
            answer = await self.services.ask(question) or "again"
            if answer != "again":
                after = row.memory.raw if answer == "back" else after
                break
        if after == row.memory.raw:
            from memtui.tui.dialogs.subject import NOTHING

            self.services.say(NOTHING)
        else:
            self._save(row.memory, after)

    def _save(self, mem: Memory, after: bytes) -> None:
        """Save a whole file; what can't be saved is autosaved, also if somebody else changed the file meanwhile."""
        from memtui.tui.dialogs.memory_subject import saved_words, typed_over

        store, unsaved = self.services.data.store(), typed_over(mem, raw=True)
        store.shared = True  # it was asked about
        unsaved.values, unsaved.was = {"raw": after.decode("utf-8", "surrogateescape")}, {"raw": unsaved.whole}
        unsaved.time = self.services.data.now()
        try:
            self.services.say(saved_words(store, mem, store.edit(mem, after, seen=True)))
        except MemtuiError as error:
            unsaved.save(store.root)
            error.hint = f"{error.hint} {autosave.left('memories.edit')}".strip()
            raise
        finally:
            self.services.read()
