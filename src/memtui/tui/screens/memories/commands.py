"""What is done to memories: each a change of the store, on all marked ones at once, and one step to take back."""

from typing import TYPE_CHECKING

from memtui import actions
from memtui.core.base.errors import MemtuiError
from memtui.core.memories import memory
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.present import memories as present
from memtui.present import safe_text
from memtui.tui.batch import Bulk, report
from memtui.tui.dialogs.ask import Choice, Line, Sure
from memtui.tui.model.memory_autosave import Drafts
from memtui.tui.screens.memories.editing import Edits
from memtui.tui.screens.memories.rows import Pair

if TYPE_CHECKING:
    from collections.abc import Callable

    from memtui.core.memories.store import Store

ALWAYS = {
    "new",
    "attention",
    "never",
    "restore",
    "filter",
    "search",
    "sort",
    "reverse",
    "type_filter",
    "scope",
    "left",
    "right",
}
CHANGES = {"edit", "editor", "trash", "purge", "rename", "retype", "move"}
ONE = {"edit", "editor", "rename"}
NAMES_SHOWN = 5


class Changes(Edits):
    """The part of the screen that writes."""

    def why_not(self, action_id: str) -> str:
        """What needs a memory, one memory only, or a scope that may be written."""
        verb = action_id.partition(".")[2]
        if verb in {"mark_all", "range"}:
            return "" if self.table.rows else "There is nothing here to mark."
        if action_id.startswith("app.") or verb in ALWAYS | {"trust"}:
            return ""
        chosen = self.table.chosen()
        if verb == "edit" and not chosen and any(d.path for d in Drafts(self.main.data.root).offered()):
            return ""
        if not chosen and self.table.marks:
            return "The filter hides the marked ones: escape shows them."
        if not chosen:
            return "There is no memory under the cursor."
        if verb in ONE and len(chosen) > 1:
            return f"{len(chosen)} are marked, this goes one by one: escape unmarks."
        for scope, row in chosen if verb in CHANGES else ():
            if not scope.writable:
                return (
                    f"{row.memory.name} is one of your instructions, read-only here: change {row.memory.path} itself."
                )
        return ""

    def on_mount(self) -> None:
        """Nothing is at work yet."""
        self.bulk = Bulk(self)
        super().on_mount()

    def key_escape(self) -> None:
        """Stop what is at work, before anything else."""
        if not self.bulk.stop():
            super().key_escape()

    def _each(self, change: "Callable[[Store, Memory], object]", words: str) -> None:
        """Run a change on every chosen memory as one step, tell how it went, and read again. What was not changed
        stays marked."""
        self.main.start(self, self._each_in_turn(change, words), words)

    async def _each_in_turn(self, change: "Callable[[Store, Memory], object]", words: str) -> None:
        store = self.main.data.store()
        outcome = await self.bulk.each(store, self.table.chosen(), lambda pair: change(store, pair[1].memory))
        report(self.main, outcome, words, lambda pair: pair[1].memory)
        table = self.table
        table.marks -= {row.memory.path for (_, row), _ in outcome.done}
        if not table.marks:
            table.clear_marks()
        place = self.place
        made = outcome.done[0][1] if outcome.done else None
        if outcome.whole == 1 and isinstance(made, Memory) and place is not None:
            shown = made.scope_label in {scope.label for scope in place.scopes}
            self._wanted = made.path if shown and not place.kind else ""
        self.count()
        self.main.read()

    def attempt(self, change: "Callable[[], object]", words: str) -> None:
        """Run one change, tell how it went, read again, and stand on what came of it."""
        try:
            made = change()
        except MemtuiError as error:
            self.main.fail(error)
        else:
            self.main.say(words)
            if isinstance(made, Memory):
                self._wanted = made.path
        self.main.read()

    def _names(self, chosen: list[Pair]) -> str:
        """A few by their names, where these tell them apart; more by their number."""
        names = {row.memory.stem for _, row in chosen}
        if len(chosen) > NAMES_SHOWN or len(names) < len(chosen):
            return present.counted([scope.label for scope, _ in chosen])
        return ", ".join(safe_text.line(row.memory.stem, 60) for _, row in chosen)

    # away and back

    def do_memories_trash(self) -> None:
        """Move to the trash; many, or those of several projects, after asking."""
        chosen = self.table.chosen()
        labels = [scope.label for scope, _ in chosen]

        def then(answer: str | None) -> None:
            if answer:
                self._each(
                    lambda store, found: store.delete(found), actions.keyed("In the trash, {app.undo} brings back")
                )

        if present.asked_about(labels):
            question = f"Move {present.counted(labels)} to the trash?"
            self.app.push_screen(Sure(question, "Move to the trash"), then)
        else:
            then("yes")

    def do_memories_purge(self) -> None:
        """Delete for good, after asking."""
        chosen = self.table.chosen()

        def then(answer: str | None) -> None:
            if answer:
                self._each(lambda store, found: store.erase(found), "Gone for good")

        them = "it" if len(chosen) == 1 else "them"
        question = f"Delete {self._names(chosen)} for good? Nothing brings {them} back."
        self.app.push_screen(Sure(question, "Delete for good"), then)

    def do_memories_restore(self) -> None:
        """The trash."""
        from memtui.tui.screens.memories.trash import Trash

        def then(path: str | None) -> None:
            self._wanted = path or ""
            self.main.read()

        self.app.push_screen(Trash(self.main.data), then)

    # type, name, place

    def do_memories_retype(self) -> None:
        """Another type."""

        def then(kind: str | None) -> None:
            if kind and all(row.memory.type == kind for _, row in self.table.chosen()):
                self.main.say(f"It is {kind} already.")
            elif kind:
                self._each(lambda store, found: store.retype(found, kind), f"Made {kind}")

        current = self.table.chosen()[0][1].memory.type
        self.app.push_screen(Choice("Type", [(kind, kind) for kind in memory.TYPES], current), then)

    def do_memories_rename(self) -> None:
        """Another name."""
        found = self.table.chosen()[0][1].memory

        def then(name: str | None) -> None:
            if name and name != found.stem:
                store = self.main.data.store()
                self.attempt(lambda: store.rename(found, name), f"Renamed to {name}; links and index follow.")

        self.app.push_screen(Line(f"Rename {found.stem} to", found.stem), then)

    def _to_scope(self, question: str, then: "Callable[[Scope], None]", *, but: str = "") -> None:
        targets = [scope for scope in self.targets() if scope.label != but]
        rows = [(s.label, f"{s.label}  {s.root_path or ''}".rstrip()) for s in targets]

        def chosen(label: str | None) -> None:
            scope = next((s for s in targets if s.label == label), None)
            if scope is not None:
                then(scope)

        self.app.push_screen(Choice(question, rows), chosen)

    def do_memories_move(self) -> None:
        """To another scope."""
        chosen = self.table.chosen()
        here = {scope.label for scope, _ in chosen}
        self._to_scope(
            f"Move {self._names(chosen)} to",
            lambda scope: self._each(lambda s, found: s.move(found, scope), f"Moved to {scope.label}"),
            but=here.pop() if len(here) == 1 else "",  # where all of them are already
        )

    def do_memories_copy(self) -> None:
        """A copy in another scope, or beside it under another name."""
        chosen = self.table.chosen()

        def then(scope: Scope) -> None:
            if len(chosen) == 1 and chosen[0][0].label == scope.label:
                self._copy_beside(chosen[0][1].memory, scope)
            else:
                self._each(lambda store, found: store.copy(found, scope), f"Copied to {scope.label}")

        self._to_scope(f"Copy {self._names(chosen)} to", then)

    def _copy_beside(self, found: Memory, scope: Scope) -> None:
        def then(name: str | None) -> None:
            if name:
                store = self.main.data.store()
                self.attempt(lambda: store.copy(found, scope, name), f"Copied to {name}.")

        self.app.push_screen(Line("Name of the copy", f"{found.stem}-2"), then)

    # trust

    def do_memories_trust(self) -> None:
        """Trust the chosen memories after showing them; or all of the repository, for now or for good; or no more."""
        from memtui.tui.dialogs.trust_choice import Trusting

        scope = next((s for s in self.found if s.kind == "project" and s.exists and not s.problem), None)
        if scope is None:
            self.main.say("This project has no memories of its own.")
            return
        chosen = [row.file for place, row in self.table.chosen() if place.label == scope.label]
        asked = Trusting(self.main.data, scope.directory, chosen)

        def then(answer: str | None) -> None:
            if answer:
                self.attempt(lambda: asked.do(answer), asked.done(answer))

        self.app.push_screen(Choice(asked.title, asked.entries, asked.current, about=asked.about), then)
