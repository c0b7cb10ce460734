"""Making and editing memories: in the form, in the person's editor, and on with drafts that were left."""

from memtui import actions
from memtui.core.base.errors import ConflictError, MemtuiError
from memtui.core.base.phrasing import ago
from memtui.core.memories import memory, scopes
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.present import editor, safe_text
from memtui.tui.dialogs.ask import Choice
from memtui.tui.model.memory_autosave import Draft, Drafts, key_of
from memtui.tui.screens.memories.navigation import Keys
from memtui.tui.screens.memories.rows import Pair


class Edits(Keys):
    """The part of the screen that opens the form."""

    def targets(self) -> list[Scope]:
        """The scopes that take memories."""
        return [scope for scope in self.found if scope.writable and not scope.problem]

    def do_memories_new(self) -> None:
        """From the template of a type, or an unfinished one."""
        drafts = {draft.key: draft for draft in Drafts(self.main.data.root).offered()}
        rows = self._words(list(drafts.values()))
        rows += [(kind, f"{kind:<10} {memory.TEMPLATES[kind].partition(chr(10))[0]}") for kind in memory.TYPES]
        place = self.place
        only = place.scopes[0] if place is not None and len(place.scopes) == 1 else None
        scope = only if only in self.targets() else scopes.home(self.found)

        def then(kind: str | None) -> None:
            if kind in drafts:
                self._go_on(drafts[kind], scope)
            elif kind is not None:
                self._form(None, scope, None, kind)

        current = next(iter(drafts), "") or (place.kind if place is not None and place.kind else "feedback")
        self.app.push_screen(Choice("New memory", rows, current), then)

    def do_memories_edit(self) -> None:
        """In the form; a draft that was left is taken up. One whose file is gone is offered first."""
        chosen = self.table.chosen()
        orphans = [draft for draft in Drafts(self.main.data.root).offered() if draft.path]
        if not orphans:
            self._edit(chosen[0])
            return

        def then(key: str | None) -> None:
            if key == "":
                self._edit(chosen[0])
            elif key is not None:
                self._go_on(next(draft for draft in orphans if draft.key == key), scopes.home(self.found))

        rows = [("", safe_text.line(row.memory.stem, 60)) for _, row in chosen[:1]]
        self.app.push_screen(Choice("Edit", rows + self._words(orphans)), then)

    def _edit(self, pair: Pair) -> None:
        scope, row = pair
        self._form(row.memory, scope, Drafts(self.main.data.root).of(row.memory.path), row.memory.type)

    def _words(self, drafts: list[Draft]) -> list[tuple[str, str]]:
        now = self.main.data.now()
        gone = {True: "your draft, its file is gone", False: "begun"}
        return [(d.key, f"go on with “{d.title}”, {gone[d.orphan]} {ago(d.time, now)}") for d in drafts]

    def _go_on(self, draft: Draft, home: Scope) -> None:
        scope = next((s for s in self.targets() if s.label == draft.scope), home)
        self._form(draft.memory() if draft.path else None, scope, draft, "")

    def _form(self, found: Memory | None, scope: Scope, draft: Draft | None, kind: str) -> None:
        from memtui.tui.screens.memories.form import Form
        from memtui.tui.screens.memories.values import too_large

        if found is not None and too_large(found):
            self.notify(
                actions.keyed("This file is too large for the form; {memories.editor} opens it in your editor."),
                severity="warning",
            )
            return

        def then(path: str | None) -> None:
            self._wanted = path or ""
            self.main.read()

        self.app.push_screen(Form(self.main, found, scope, self.targets(), kind, draft), then)

    def do_memories_editor(self) -> None:
        """The file in the person's editor, with the screen given over to it."""
        found = self.table.chosen()[0][1].memory
        data = self.main.data
        with self.app.suspend():
            after = editor.edited(data.env, found.stem, found.raw)
        if after == found.raw:
            self.main.say("Nothing was changed.")
            return
        self.save_text(found, after)

    def save_text(self, found: Memory, after: bytes) -> None:
        """Save a whole file; where it changed meanwhile, show both and ask. What is not saved becomes a draft."""
        from memtui.tui.dialogs.conflict import Conflict
        from memtui.tui.screens.memories.saving import saved_words

        drafts = Drafts(self.main.data.root)
        text = after.decode("utf-8", "surrogateescape")
        was = found.raw.decode("utf-8", "surrogateescape")
        draft = Draft(key_of(found.path), found.path, "", found.scope_label, self.main.data.now(), True)
        draft.values, draft.was, draft.whole = {"raw": text}, {"raw": was}, was
        store = self.main.data.store()
        try:
            made = store.edit(found, after, seen=True)
        except ConflictError:
            drafts.save(draft)
            theirs = memory.read_memory(found.path, found.scope_label)

            def then(answer: str | None) -> None:
                if answer == "mine":
                    drafts.drop(draft.key)
                    self.save_text(theirs, after)
                elif answer == "theirs":
                    drafts.drop(draft.key)
                    self.main.say("What is on the disk stays.")
                self.main.read()

            self.app.push_screen(Conflict(theirs, after), then)
        except MemtuiError:
            drafts.save(draft)
            raise
        else:
            self.main.say(saved_words(store, found, made))
            self.main.read()
