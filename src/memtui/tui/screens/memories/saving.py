"""How the form of a memory saves: over a file that changed or is gone meanwhile only after asking, and never half."""

from collections.abc import Callable

from memtui import actions
from memtui.core.base import ids
from memtui.core.base.errors import MemtuiError, NotFoundError, UsageError
from memtui.core.frontmatter import head as memory_head
from memtui.core.memories import memory, references
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.core.memories.store import Store
from memtui.present import safe_text
from memtui.tui.dialogs import secret
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.conflict import BACK, THEIRS, Conflict
from memtui.tui.dialogs.dialog import Typed
from memtui.tui.model.data import Data
from memtui.tui.model.memory_autosave import Draft
from memtui.tui.screens.memories.values import bytes_of

ANEW, KEEP, DROP = "anew", "keep", "drop"
GONE = (
    (ANEW, "Write it anew, as it stands in the form"),
    (KEEP, "Keep mine as a draft: {memories.new} offers it"),
    (DROP, "Drop mine"),
)


def stem_of(name: str) -> str:
    """The file's stem for the name of a new memory: the name itself where that will do, else in lower case with dashes.
    Raises UsageError."""
    typed = name.strip().removesuffix(".md")
    if all(char.isalnum() or char in "-_." for char in typed) and typed == typed.lower():
        return references.check_name(typed)
    return memory.slugify(typed)


def saved_words(store: Store, was: Memory, made: Memory) -> str:
    """What a save did. What came with the repository is trusted with it, since the person saw all of it."""
    if made.raw == was.raw and made.path == was.path:
        return "Nothing was changed, so nothing is saved."
    if not store.is_trusted(was):
        return actions.keyed("Saved, and trusted now, since you saw all of it. {app.undo} takes back both.")
    return "Saved. " + actions.takes_back()


class Saving(Typed[str | None]):
    """The part of the form that writes."""

    found: Memory | None
    data: Data
    draft: Draft
    scopes: dict[str, Scope]
    done_words = ""
    # What stood in the form when it could not be saved.
    refused: dict[str, str] | None = None

    def say(self, text: str) -> None:
        """What there is to say."""
        raise NotImplementedError

    def read(self) -> dict[str, str]:
        """What stands in the form."""
        raise NotImplementedError

    def changed(self) -> dict[str, str]:
        """The fields that the person changed."""
        raise NotImplementedError

    def saved(self, made: Memory) -> None:
        """It is written."""
        raise NotImplementedError

    def finish(self, path: str | None) -> None:
        """Close, with no draft left."""
        raise NotImplementedError

    def action_leave(self) -> None:
        """Close, with the draft kept."""
        raise NotImplementedError

    def action_save(self) -> None:
        """Save, unless something is wrong with it."""
        self.keep_now()
        before = self.found.raw.decode("utf-8", "replace") if self.found is not None else ""
        if secret.asks(self, "\n".join(self.changed().values()), before, self.action_save):
            return
        self._try(self._create if self.found is None else self._save)

    def _try(self, write: Callable[[], Memory | None]) -> None:
        try:
            made = write()
        except MemtuiError as error:
            self.say(". ".join(part.rstrip(".") for part in (error.message, error.hint) if part) + ".")
            self.refused = self.read()
        else:
            if made is not None:
                self.saved(made)

    def _create(self) -> Memory:
        given = self.read()
        body = memory.without_template(given["body"])
        about = given["description"].strip() or memory_head.first_line(body)
        if not about:
            raise UsageError("Nothing is made: nothing is written yet", "Write the text or a description")
        stem = stem_of(given["name"])
        name = " ".join(given["name"].split()).removesuffix(".md")
        data = memory.new_memory_bytes(name, about, given["type"], body if body.strip() else about)
        self.done_words = "Saved. " + actions.takes_back()
        return self.data.store().add(self.scopes[given["scope"]], stem, data)

    def _save(self) -> Memory | None:
        """The memory; None if the file changed or went meanwhile and the person is asked."""
        assert self.found is not None
        try:
            there = memory.read_memory(self.found.path, self.found.scope_label)
        except NotFoundError:
            self._ask_gone(self.found)
            return None
        if ids.digest(there.raw) != self.draft.base:
            self._ask(there)
            return None
        return self._write(there)

    def _write(self, there: Memory) -> Memory:
        changed = self.changed()
        name = changed.pop("name", "")
        store = self.data.store()
        with store.together():
            made = store.edit(there, bytes_of(there, changed), seen=True) if changed else there
            made = store.rename(made, name, seen=True) if name else made
        self.done_words = saved_words(store, there, made)
        return made

    def _ask(self, there: Memory) -> None:
        changed = {key: value for key, value in self.changed().items() if key != "name"}
        mine = bytes_of(there, changed) if changed else there.raw

        def then(answer: str | None) -> None:
            if answer == THEIRS:
                self.finish(there.path)
            elif answer != BACK and answer is not None:
                self._try(lambda: self._write_over(there))

        self.app.push_screen(Conflict(there, mine), then)

    def _write_over(self, shown: Memory) -> Memory | None:
        """Write over what was shown; what came after that is shown first."""
        there = memory.read_memory(shown.path, shown.scope_label)
        if there.raw != shown.raw:
            self._ask(there)
            return None
        return self._write(there)

    def _ask_gone(self, was: Memory) -> None:
        def then(answer: str | None) -> None:
            if answer == ANEW:
                self._try(lambda: self._write_anew(was))
            elif answer == KEEP:
                self.action_leave()
            elif answer == DROP:
                self.finish(None)

        name = safe_text.line(was.stem, 60)
        ways = [(answer, actions.keyed(words)) for answer, words in GONE]
        self.app.push_screen(Choice(f"{name} is gone: somebody deleted or renamed its file.", ways), then)

    def _write_anew(self, was: Memory) -> Memory:
        changed = self.changed()
        name = references.check_name(changed.pop("name", was.stem))
        data = bytes_of(was, changed) if changed else was.raw
        store: Store = self.data.store()
        if name != was.stem:
            data = references.renamed(data, name)
        self.done_words = "Saved, its file is there again. " + actions.takes_back()
        return store.add(self.scopes[was.scope_label], name, data)
