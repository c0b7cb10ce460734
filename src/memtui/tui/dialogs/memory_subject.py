"""A memory as the subject of a form: its fields and text. Hidden fields, comments and order stay as they are."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from memtui import actions
from memtui.core.base import ids
from memtui.core.base.errors import MemtuiError, NotFoundError, UsageError
from memtui.core.frontmatter import document
from memtui.core.frontmatter import head as memory_head
from memtui.core.memories import memory, references, scopes, triggers
from memtui.core.memories.memory import TEMPLATES, TYPES, Memory
from memtui.core.memories.scopes import Scope
from memtui.core.memories.store import Store
from memtui.present import memories as present
from memtui.present import safe_text
from memtui.present import triggers as present_triggers
from memtui.tui.dialogs.subject import CHOICE, NOTHING, TEXT, FormField, Saved, Shape, Subject, Typed
from memtui.tui.model import autosave
from memtui.tui.model.autosave import Autosave
from memtui.tui.model.data import Data
from memtui.tui.widgets.body import fits

if TYPE_CHECKING:
    from memtui.recall.replaying import StoreChange

GONE = "The file was deleted or renamed: ^s asks what to do with your text."
TOO_LARGE = "This file is too large for the form; {memories.editor} opens it in your editor."
# Fields that nobody edits by hand.
FIXED = {"originSessionId", "node_type", "modified", "updated"}
# Fields with an input of their own, and the one that the name replaces.
OWN = {"name", "description", "type", "title"}
# The field of the triggers, and what it says while it is empty.
TRIGGERS, WHEN = "triggers", "when is it needed? in other words than its own; several with ;"
# The most cells of a scope's name, before what it is.
SCOPE_NAME = 16


def too_large(found: Memory) -> bool:
    """Return whether a memory is too large for the form."""
    return not fits(found.body) or len(found.raw) > memory.MAX_BYTES


def values_of(found: Memory) -> dict[str, str]:
    """Return the values that the form shows of a memory: its text fields, nested ones by dotted path, and its body."""
    values = {"name": found.stem, "description": memory.text_of(found.fields, "description"), "type": found.type}
    for prefix, table in (("", found.fields), ("metadata.", found.fields.get("metadata"))):
        for key, value in table.items() if isinstance(table, dict) else ():
            if isinstance(value, str) and key not in OWN | FIXED and "\n" not in value and "." not in key:
                values[prefix + key] = value
    return {**values, "body": found.body.strip("\n")}


def bytes_of(found: Memory, changed: Mapping[str, str]) -> bytes:
    """Return the memory's file with the changed values, except the name. Raises MemtuiError."""
    if "raw" in changed:
        return changed["raw"].encode("utf-8", "surrogateescape")
    fields = {key: value for key, value in changed.items() if key not in {"name", TRIGGERS}}
    if "body" in fields:  # the form does not show the blank lines around it
        lead = found.body[: len(found.body) - len(found.body.lstrip("\n"))]
        fields["body"] = lead + fields["body"].strip("\n") + "\n"
    return memory.with_fields(found, fields) if fields else found.raw


def typed_over(found: Memory, *, raw: bool) -> Autosave:
    """Return an empty autosave for changes of a memory as it was read; `raw`: of its whole file."""
    whole = found.raw.decode("utf-8", "surrogateescape")
    about = (found.path, found.scope_label, raw, whole)
    return Autosave(autosave.name_of(found.path), ids.digest(found.raw), 0.0, {}, {}, *about)


def saved_words(store: Store, was: Memory, saved: Memory, *, beside: bool = False) -> str:
    """Return what a save did, in words; `beside`: to what is kept beside the memory, too. It also trusts a memory of
    the repository: the person saw all of it. A new name is that of the file, by which deliveries are counted."""
    if saved.raw == was.raw and saved.path == was.path:
        return f"Saved. {actions.takes_back()}" if beside else NOTHING
    renamed = saved.path != was.path
    done = f"Saved, renamed to {safe_text.line(saved.stem, 60)}" if renamed else "Saved"
    rest = " Links, index and deliveries follow." if renamed else ""
    if not store.is_trusted(was):
        undoes = f"{actions.key_of('app.undo')} undoes {'all of this' if renamed else 'both'}."
        return f"{done}, and trusted, because you saw all of it.{rest} {undoes}"
    return f"{done}.{rest} {actions.takes_back()}"


class MemorySubject(Subject):
    """The subject of a form: an existing memory, or a deleted one as `Autosave.memory` returns it. `save` returns its
    path."""

    def __init__(self, data: Data, found: Memory, kept: Autosave | None) -> None:
        self.data, self.found = data, found
        self._there: Memory | None = found
        self.shared = False  # whether a person agreed that a team gets what changes
        raw = found.broken is not None or (kept is not None and kept.raw)
        self.autosave = (_as_raw(kept) if raw and not kept.raw else kept) if kept else typed_over(found, raw=raw)
        notice = ""
        if raw:
            notice = f"The frontmatter can't be read as fields ({found.broken}): this is the whole file."
        elif not found.has_frontmatter:
            notice = "This file has no frontmatter: a description or a type gives it some."
        left = autosave.left("memories.new" if self.autosave.orphan else "memories.edit")
        scope = scopes.of_memory(data.env, data.cwd, found)
        name = f"{present.scope_name(scope, data.facts.project)}: {found.stem}" if scope is not None else found.stem
        about = (name, "save", found.stem, GONE, "memory")
        self.shape = Shape(*about, is_file=True, notice=notice, editor=found.stem, left=left, changes=self.changes)
        values = {"raw": found.raw.decode("utf-8", "surrogateescape")} if raw else values_of(found)
        self.fields: Sequence[FormField] = [_field(key, value) for key, value in values.items()]
        self.triggers: list[str] = []
        if not raw and scope is not None and not self.autosave.orphan:
            file = references.relative(scope, found.path)
            known = triggers.of_memory(data.root, scope.directory, file, found, data.now())
            self.triggers = [each.text for each in known]
            self.fields = [*self.fields[:-1], _trigger_field(self.triggers), self.fields[-1]]

    def check(self, typed: Typed) -> Text:
        """Return no words: the title of the form names the file. Raises UsageError for triggers that can't be kept."""
        add, remove = self._trigger_changes(typed)
        _check_triggers(add, len(self.triggers) - len(remove))
        return Text("")

    def there(self) -> str | None:
        """Read the file again and return its digest, None if it is gone."""
        try:
            self._there = memory.read_memory(self.found.path, self.found.scope_label)
        except NotFoundError:
            self._there = None
            return None
        return ids.digest(self._there.raw)

    def compared(self, typed: Typed) -> tuple[bytes, bytes]:
        """Return the file as it is, and as it would be saved."""
        there = self._there or self.found
        return there.raw, bytes_of(there, typed.changed)

    def changes(self, typed: Typed) -> "list[StoreChange]":
        """Return what saving would do. Raises MemtuiError."""
        from memtui.recall.replaying import StoreChange  # not needed to open the form

        scope = self.data.store().scope(self.found.scope_label)
        file, data = references.relative(scope, self.found.path), bytes_of(self.found, typed.changed)
        data = _with_triggers(data, self._trigger_changes(typed)[0])
        name = typed.changed.get("name", "")
        if not name or references.check_name(name) == self.found.stem:
            return [StoreChange(scope.label, scope.directory, file, data)]
        new = file.removesuffix(self.found.stem + ".md") + references.check_name(name) + ".md"
        return [
            StoreChange(scope.label, scope.directory, file, None),
            StoreChange(scope.label, scope.directory, new, references.set_name(data, references.check_name(name))),
        ]

    def save(self, typed: Typed) -> Saved:
        """Write the changes, a new name included, as one step of undo."""
        name, store = typed.changed.get("name", ""), self.data.store()
        store.shared = self.shared
        if self._there is None:
            return self._write_again(typed, store)
        with store.journal.together():
            after = bytes_of(self._there, typed.changed)
            in_file = typed.changed.keys() - {"name", TRIGGERS}
            saved = store.edit(self._there, after, seen=True) if in_file else self._there
            saved = store.rename(saved, name, seen=True) if name else saved
            add, remove = self._trigger_changes(typed)
            beside = bool(add or remove) and triggers.change(store, saved, add, remove)
        if saved.broken is None:
            return Saved(saved.path, saved_words(store, self._there, saved, beside=beside))
        self.found, self.autosave = saved, typed_over(saved, raw=self.autosave.raw)
        broken = safe_text.line(saved.broken, 200)
        return Saved(saved.path, wrong=f"Saved, but it is still broken, so it is not delivered: {broken}.")

    def _trigger_changes(self, typed: Typed) -> tuple[list[str], list[str]]:
        """Return the triggers that were added, and those that were removed."""
        if TRIGGERS not in typed.changed:
            return [], []
        lines = present_triggers.from_text(typed.changed[TRIGGERS], self.triggers)
        return [each for each in lines if each not in self.triggers], [
            each for each in self.triggers if each not in lines
        ]

    def _write_again(self, typed: Typed, store: Store) -> Saved:
        name = references.check_name(typed.changed.get("name", self.found.stem))
        data = bytes_of(self.found, typed.changed)
        if name != self.found.stem:
            data = references.set_name(data, name)
        saved = store.add(store.scope(self.found.scope_label), name, data)
        return Saved(saved.path, "Saved, its file is there again. " + actions.takes_back())


class NewMemorySubject(Subject):
    """The subject of a form: a new memory from the template of a type, in one of several scopes. `save` returns
    its path."""

    def __init__(self, data: Data, scope: Scope, scopes: Sequence[Scope], kind: str, kept: Autosave | None) -> None:
        self.data = data
        self.scopes = {each.label: each for each in (scope, *scopes)}
        self.autosave = kept or Autosave(autosave.OF_MEMORY + ids.new_id(data.now()), scope=scope.label)
        if self.autosave.values.get("scope") not in self.scopes:
            self.autosave.values.pop("scope", None)
        notice = "Template lines you leave unchanged are not saved."
        left = autosave.left("memories.new")
        about = ("New memory", "save", "memory", "", "memory")
        self.shape = Shape(*about, notice=notice, editor="memory", left=left, first="name", changes=self.changes)
        kind = kind if kind in TEMPLATES else "feedback"
        places = present.scopes_explained(list(self.scopes.values()), data.facts.project, SCOPE_NAME, data.tilde)
        self.fields: Sequence[FormField] = [
            FormField("name", ""),
            FormField("description", ""),
            _field("type", kind),
            FormField("scope", scope.label, CHOICE, options=places),
            _trigger_field(()),
            FormField("body", TEMPLATES[kind].strip("\n"), TEXT, templates=TEMPLATES),
        ]

    def is_empty(self, typed: Typed) -> bool:
        """Return whether nothing but a template is typed."""
        given = typed.values
        templates = {text.strip() for text in TEMPLATES.values()}
        lines = given["name"] + given["description"] + given[TRIGGERS]
        return not lines.strip() and given["body"].strip() in {"", *templates}

    def check(self, typed: Typed) -> Text:
        """Return which file will be made. Raises UsageError for triggers that can't be kept."""
        _check_triggers(_lines(typed), 0)
        scope = self.scopes[typed.values["scope"]]
        try:
            file = _stem_of(typed.values["name"]) + ".md"
        except MemtuiError:
            file = "a new file"
        has_none = not any(each.kind == "project" and each.exists for each in self.scopes.values())
        why = "; the repository has no memories" if scope.kind == "auto" and has_none else ""
        return Text(safe_text.line(f"{file} in {present.scope_name(scope, self.data.facts.project)}{why}"))

    def changes(self, typed: Typed) -> "list[StoreChange]":
        """Return the memory that saving would make, whatever its name will be. Raises MemtuiError."""
        from memtui.recall.replaying import StoreChange

        scope = self.scopes[typed.values["scope"]]
        try:
            stem = _stem_of(typed.values["name"])
        except MemtuiError:
            stem = "new-memory"
        data = _with_triggers(self._bytes(typed), _lines(typed))
        return [StoreChange(scope.label, scope.directory, f"{stem}.md", data)]

    def save(self, typed: Typed) -> Saved:
        """Create the memory, without unchanged lines of the template."""
        store, data, lines = self.data.store(), self._bytes(typed), _lines(typed)
        with store.journal.together():
            saved = store.add(self.scopes[typed.values["scope"]], _stem_of(typed.values["name"]), data)
            if lines:
                triggers.change(store, saved, lines)
        return Saved(saved.path, f"Saved. {actions.takes_back()}")

    @staticmethod
    def _bytes(typed: Typed) -> bytes:
        given = typed.values
        body = memory.without_template(given["body"])
        about = given["description"].strip() or memory_head.first_line(body)
        if not about:
            raise UsageError("There is nothing to save yet", "Write the text or a description")
        name = " ".join(given["name"].split()).removesuffix(".md")
        return memory.new_memory_bytes(name, about, given["type"], body if body.strip() else about)


def _field(key: str, value: str) -> FormField:
    if key == "type":
        return FormField(key, value, CHOICE, options=[(each, each or "untyped") for each in (*TYPES, value)])
    return FormField(key, value, TEXT if key in {"body", "raw"} else "line", key.removeprefix("metadata."))


def _trigger_field(lines: Sequence[str]) -> FormField:
    return FormField(TRIGGERS, present_triggers.as_text(lines), placeholder=WHEN)


def _check_triggers(add: Sequence[str], others: int) -> None:
    if add:
        triggers.check_number(others + len([triggers.checked(each) for each in add]))


def _lines(typed: Typed) -> list[str]:
    """Return the triggers of a new memory."""
    return present_triggers.from_text(typed.values[TRIGGERS], ())


def _with_triggers(data: bytes, lines: Sequence[str]) -> bytes:
    """Return a memory's bytes with triggers in its frontmatter beside those that it has, for a look ahead."""
    doc = document.parse(data)
    return doc.with_field((TRIGGERS,), [*triggers.in_frontmatter(doc.fields), *lines]).raw if lines else data


def _stem_of(name: str) -> str:
    """Return the file's stem for the name of a new memory: the name itself if it is valid as it is, else in lower case
    with dashes. Raises UsageError."""
    typed = name.strip().removesuffix(".md")
    if all(char.isalnum() or char in "-_." for char in typed) and typed == typed.lower():
        return references.check_name(typed)
    return memory.slugify(typed)


def _as_raw(kept: Autosave) -> Autosave:
    """Return an autosave of fields as one of the whole file, for a file whose fields can't be read any more."""
    was = kept.memory()
    whole_file = typed_over(was, raw=True)
    whole_file.time = kept.time
    whole_file.values = {"raw": bytes_of(was, kept.values).decode("utf-8", "surrogateescape")}
    whole_file.was = {"raw": whole_file.whole}
    return whole_file
