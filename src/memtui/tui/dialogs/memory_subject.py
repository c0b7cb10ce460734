"""A memory, a new one, or a block of the model as the subject of a form, and which prompts would recall it."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from memtui import keymap
from memtui.base import ids_hot
from memtui.base.errors import NotFoundError, UsageError
from memtui.base.phrasing_hot import age
from memtui.redact import redact
from memtui.rules import rule_lines
from memtui.store import memory, references, scopes, triggers
from memtui.store.frontmatter import document, head_hot
from memtui.store.memory import TYPES, Memory
from memtui.store.scopes import Scope
from memtui.store.store import Store
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.dialogs.subject import CHOICE, NOTHING, TEXT, FormField, Saved, Subject, Typed, fits
from memtui.tui.model import autosave
from memtui.tui.model.autosave import Autosave
from memtui.tui.model.data import Data
from memtui.views import memories as present
from memtui.views import safe_text

if TYPE_CHECKING:
    from memtui.recall.prompt_replay import StoreChange
    from memtui.tui.services import Services

GONE = "The file was deleted or renamed: ^s asks what to do with your text."
TOO_LARGE = "This file is too large for the form; {memories.editor} opens it in your editor."
FIXED = {"originSessionId", "node_type", "modified", "updated"}  # fields that nobody edits by hand
OWN = {"name", "description", "type", "title"}  # fields with an input of their own, and the one that the name replaces
# The field of the triggers, and what it says while it is empty.
TRIGGERS, WHEN = "triggers", "other words to find it by; several with ;"
# The field of the rules, and what it says while it is empty.
RULES, NO_RULES = rule_lines.FIELD, f"what memtui counts; several with ;  {rule_lines.AS_IN}"
PROMPTS = 50  # prompts that are replayed
NO_PROMPTS = "No prompt that you typed in this project is in a transcript on this machine."


def too_large(mem: Memory) -> bool:
    return not fits(mem.body) or len(mem.raw) > memory.MAX_BYTES


def typed_over(memory: Memory, *, raw: bool) -> Autosave:
    """Return an empty autosave for changes of a memory as it was read; `raw`: of its whole file."""
    about = (memory.path, memory.scope_label, raw, _text(memory.raw))
    return Autosave(autosave.name_of(memory.path), ids_hot.digest(memory.raw), 0.0, {}, {}, *about)


def saved_words(store: Store, was: Memory, saved: Memory, *, beside: bool = False) -> str:
    """Return what a save did, in words; `beside`: to triggers, too. It also trusts what the person saw."""
    if saved.raw == was.raw and saved.path == was.path:
        return f"Saved. {keymap.takes_back()}" if beside else NOTHING
    renamed = saved.path != was.path
    sentence = f"Saved, renamed to {safe_text.line(saved.stem, 60)}" if renamed else "Saved"
    rest = " Links and index follow." if renamed else ""
    if not store.is_trusted(was):
        undoes = f"{keymap.key_of('app.undo')} undoes {'all of this' if renamed else 'both'}."
        return f"{sentence}, and trusted, because you saw all of it.{rest} {undoes}"
    return f"{sentence}.{rest} {keymap.takes_back()}"


class MemorySubject(Subject):
    """An existing or deleted memory. `shared`: a person agreed that a team gets what changes."""

    shared, is_file, is_recalled, gone = False, True, True, GONE

    def __init__(self, data: Data, memory: Memory, unsaved: Autosave | None) -> None:
        self.data, self.memory, self.name = data, memory, memory.stem
        self._on_disk: Memory | None = memory
        raw = memory.broken is not None or (unsaved is not None and unsaved.raw)
        unsaved = unsaved or typed_over(memory, raw=raw)
        self.autosave = _as_raw(unsaved) if raw and not unsaved.raw else unsaved
        if raw:
            self.notice = f"The frontmatter can't be read as fields ({memory.broken}): this is the whole file."
        elif not memory.has_frontmatter:
            self.notice = "This file has no frontmatter: a description or a type gives it some."
        self.action = "memories.new" if self.autosave.orphan else "memories.edit"
        scope = scopes.of_memory(data.env, data.cwd, memory)
        place = f" · {present.scope_name(scope, data.facts.project)}" if scope is not None else ""
        self.title = f"Edit {memory.stem}{place}"
        values = {"raw": _text(memory.raw)} if raw else _values_of(memory)
        self.fields: Sequence[FormField] = [_field(key, value) for key, value in values.items()]
        self.triggers: list[str] = []
        if not raw and scope is not None and not self.autosave.orphan:
            file = references.relative(scope, memory.path)
            self.triggers = [trigger.text for trigger in triggers.of_memory(data.root, scope.directory, file, memory)]
            rules = rule_lines.stated(memory.fields) if memory.has_frontmatter else None
            checks = [] if rules is None else [FormField(RULES, rules, label="rules", placeholder=NO_RULES)]
            self.fields = [*self.fields[:-1], *checks, _trigger_field(self.triggers), self.fields[-1]]

    def check(self, typed: Typed) -> Text:
        """Return no words: the title of the form names the file. Raises UsageError for what can't be kept."""
        if "name" in typed.changed:
            references.check_name(typed.changed["name"])
        rule_lines.rules_of_line(typed.changed.get(RULES, ""))
        add, remove = self._trigger_changes(typed)
        _check_triggers(add, len(self.triggers) - len(remove))
        return Text("")

    def there(self) -> str | None:
        try:
            self._on_disk = memory.read_memory(self.memory.path, self.memory.scope_label)
        except NotFoundError:
            self._on_disk = None
            return None
        return ids_hot.digest(self._on_disk.raw)

    def compared(self, typed: Typed) -> tuple[bytes, bytes]:
        mem = self._on_disk or self.memory
        return mem.raw, _bytes_of(mem, typed.changed)

    def changes(self, typed: Typed) -> "list[StoreChange]":
        """Return what saving would do. Raises MemtuiError."""
        scope = self.data.store().scope(self.memory.scope_label)
        file = references.relative(scope, self.memory.path)
        data = _with_triggers(_bytes_of(self.memory, typed.changed), self._trigger_changes(typed)[0])
        name = references.check_name(typed.changed.get("name") or self.memory.stem)
        if name == self.memory.stem:
            return [_change(scope, file, data)]
        new = file.removesuffix(self.memory.stem + ".md") + name + ".md"
        return [_change(scope, file, None), _change(scope, new, references.set_name(data, name))]

    def save(self, typed: Typed) -> Saved:
        name, store = typed.changed.get("name", ""), self.data.store()
        store.shared = self.shared
        if self._on_disk is None:
            return self._write_again(typed, store)
        with store.journal.together():
            in_file = typed.changed.keys() - {"name", TRIGGERS}
            after = _bytes_of(self._on_disk, typed.changed)
            saved = store.edit(self._on_disk, after, seen=True) if in_file else self._on_disk
            saved = store.rename(saved, name, seen=True) if name else saved
            add, remove = self._trigger_changes(typed)
            beside = bool(add or remove) and triggers.change(store, saved, add, remove)
        if saved.broken is None:
            return Saved(saved.path, saved_words(store, self._on_disk, saved, beside=beside))
        self.memory, self.autosave = saved, typed_over(saved, raw=self.autosave.raw)
        broken = safe_text.line(saved.broken, 200)
        return Saved(saved.path, wrong=f"Saved, but it is still broken, so it is not delivered: {broken}.")

    def _trigger_changes(self, typed: Typed) -> tuple[list[str], list[str]]:
        if TRIGGERS not in typed.changed:
            return [], []
        lines = present.triggers_from_text(typed.changed[TRIGGERS], self.triggers)
        added = [line for line in lines if line not in self.triggers]
        return added, [trigger for trigger in self.triggers if trigger not in lines]

    def _write_again(self, typed: Typed, store: Store) -> Saved:
        name = references.check_name(typed.changed.get("name", self.memory.stem))
        data = _bytes_of(self.memory, typed.changed)
        data = data if name == self.memory.stem else references.set_name(data, name)
        saved = store.add(store.scope(self.memory.scope_label), name, data)
        return Saved(saved.path, "Saved, its file is there again. " + keymap.takes_back())


class NewMemorySubject(Subject):
    """The subject of a form: a new memory in one of several scopes, saved to a path."""

    title, name, action, first, is_recalled = "New memory", "memory", "memories.new", "name", True

    def __init__(self, data: Data, scope: Scope, scopes: Sequence[Scope], kind: str, unsaved: Autosave | None) -> None:
        self.data = data
        self.scopes = {place.label: place for place in (scope, *scopes)}
        self.autosave = unsaved or Autosave(autosave.OF_MEMORY + ids_hot.new_id(data.now()), scope=scope.label)
        if self.autosave.values.get("scope") not in self.scopes:
            self.autosave.values.pop("scope", None)
        kind = kind if kind in TYPES else "feedback"
        places = present.scopes_explained(list(self.scopes.values()), data.facts.project)
        self.fields: Sequence[FormField] = [
            FormField("name", ""),
            FormField("description", ""),
            _field("type", kind),
            FormField("scope", scope.label, CHOICE, options=places),
            _trigger_field(()),
            FormField("body", "", TEXT),
        ]

    def is_empty(self, typed: Typed) -> bool:
        return not "".join(typed.values[key] for key in ("name", "description", TRIGGERS, "body")).strip()

    def check(self, typed: Typed) -> Text:
        _check_triggers(_lines(typed), 0)
        scope, name = self.scopes[typed.values["scope"]], typed.values["name"]
        file = references.file_stem(name) if name.strip() else ""
        if file and os.path.exists(f"{scope.directory}/{file}.md"):
            raise UsageError(f"There is a {file}.md already", "Give another name")
        has_none = not any(other.kind == "project" and other.exists for other in self.scopes.values())
        why = "; the repository has no memories" if scope.kind == "auto" and has_none else ""
        place = present.scope_name(scope, self.data.facts.project)
        return Text(safe_text.line(f"{f'{file}.md' if file else 'a new file'} in {place}{why}"))

    def changes(self, typed: Typed) -> "list[StoreChange]":
        """Return the memory that saving would make, whatever its name will be. Raises MemtuiError."""
        name = typed.values["name"]
        stem = references.file_stem(name) if references.is_name(name) else "new-memory"
        data = _with_triggers(self._bytes(typed, stem), _lines(typed))
        return [_change(self.scopes[typed.values["scope"]], f"{stem}.md", data)]

    def save(self, typed: Typed) -> Saved:
        store, stem, lines = self.data.store(), references.file_stem(typed.values["name"]), _lines(typed)
        data = self._bytes(typed, stem)
        with store.journal.together():
            saved = store.add(self.scopes[typed.values["scope"]], stem, data)
            if lines:
                triggers.change(store, saved, lines)
        return Saved(saved.path, f"Saved. {keymap.takes_back()}")

    @staticmethod
    def _bytes(typed: Typed, stem: str) -> bytes:
        values = typed.values
        body = values["body"]
        about = values["description"].strip() or head_hot.first_line(body)
        if not about:
            raise UsageError("There is nothing to save yet", "Write the text or a description")
        return memory.new_memory_bytes(stem, about, values["type"], body if body.strip() else about)


class BlockSubject(Subject):
    """The subject of the form: the text of a block of this project."""

    name, action, at_end = "this block", "memories.edit", True

    def __init__(self, data: Data, name: str) -> None:
        from memtui.models.subconscious import block_files_hot, blocks

        self.data, self.block, self.most = data, name, block_files_hot.MOST
        self.blocks = blocks.Blocks(data.root, data.slug, data.now)
        self.text = self.blocks.editable(name)
        of_project, hint = block_files_hot.BLOCKS[name]
        autosave_name = f"block-{data.slug if of_project else ''}-{name}"
        self.autosave = autosave.kept(data.root, autosave_name) or Autosave(autosave_name, ids_hot.digest(self.text))
        self.title = f"Edit the block {name}"
        self.fields: Sequence[FormField] = (FormField("body", safe_text.clean(self.text), TEXT, placeholder=hint),)

    def check(self, typed: Typed) -> Text:
        size = len(typed.values["body"].strip())
        if size > self.most:
            raise UsageError(f"{size - self.most:,} characters too many: a block has at most {self.most:,}.")
        kinds = redact.kinds_in(typed.values["body"], self.text)
        warned = f" {redact.suspicion(kinds, 'It')}. ^s asks before it is kept." if kinds else ""
        return Text(f"{size:,} of {self.most:,} characters.{warned}", style="yellow" if kinds else "dim")

    def there(self) -> str | None:
        self.text = self.blocks.editable(self.block)
        return ids_hot.digest(self.text)

    def compared(self, typed: Typed) -> tuple[bytes, bytes]:
        return self.text.encode(), typed.values["body"].strip().encode()

    def save(self, typed: Typed) -> Saved:
        changed = self.blocks.replace(self.block, typed.values["body"], self.data.journal(), self.text)
        return Saved(self.block, f"Changed {self.block}." if changed else NOTHING)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _values_of(mem: Memory) -> dict[str, str]:
    """Return the values that the form shows of a memory: its text fields, nested ones by dotted path, and its body."""
    values = {"name": mem.stem, "description": memory.text_of(mem.fields, "description"), "type": mem.type}
    for prefix, table in (("", mem.fields), ("metadata.", mem.fields.get("metadata"))):
        for key, value in table.items() if isinstance(table, dict) else ():
            if isinstance(value, str) and key not in OWN | FIXED and "\n" not in value and "." not in key:
                values[prefix + key] = value
    return {**values, "body": mem.body.strip("\n")}


def _bytes_of(mem: Memory, changed: Mapping[str, str]) -> bytes:
    """Return the memory's file with the changed values, except the name. Raises MemtuiError."""
    if "raw" in changed:
        return changed["raw"].encode("utf-8", "surrogateescape")
    fields = {key: value for key, value in changed.items() if key not in {"name", TRIGGERS, RULES}}
    if "body" in fields:  # the form does not show the blank lines around it
        lead = mem.body[: len(mem.body) - len(mem.body.lstrip("\n"))]
        fields["body"] = lead + fields["body"].strip("\n") + "\n"
    data = memory.with_fields(mem, fields) if fields else mem.raw
    rules = changed.get(RULES)
    return data if rules is None else rule_lines.with_rules(data, rule_lines.rules_of_line(rules), others=True)


def _field(key: str, value: str) -> FormField:
    if key == "type":
        return FormField(key, value, CHOICE, options=[(choice, choice or "untyped") for choice in (*TYPES, value)])
    if key in {"body", "raw"}:
        return FormField(key, value, TEXT, "whole file" if key == "raw" else "")
    return FormField(key, value, label=key.removeprefix("metadata."))


def _trigger_field(lines: Sequence[str]) -> FormField:
    return FormField(TRIGGERS, "; ".join(lines), placeholder=WHEN)


def _check_triggers(add: Sequence[str], others: int) -> None:
    if add:
        triggers.check_number(others + len([triggers.checked(trigger) for trigger in add]))


def _lines(typed: Typed) -> list[str]:
    return present.triggers_from_text(typed.values[TRIGGERS], ())


def _with_triggers(data: bytes, lines: Sequence[str]) -> bytes:
    """Return a memory's bytes with triggers in its frontmatter beside those that it has, for a look ahead."""
    doc = document.parse(data)
    return doc.with_field((TRIGGERS,), [*triggers.in_frontmatter(doc.fields), *lines]).raw if lines else data


def _change(scope: Scope, file: str, data: bytes | None) -> "StoreChange":
    from memtui.recall.prompt_replay import StoreChange  # not needed to open the form

    return StoreChange(scope.label, scope.directory, file, data)


def _as_raw(autosave: Autosave) -> Autosave:
    """Return an autosave of fields as one of the whole file, for a file whose fields can't be read any more."""
    was = autosave.memory()
    whole_file = typed_over(was, raw=True)
    whole_file.time = autosave.time
    try:
        data = _bytes_of(was, autosave.values)
    except UsageError:  # rules that are not typed to their end
        data = _bytes_of(was, {key: value for key, value in autosave.values.items() if key != RULES})
    whole_file.values = {"raw": _text(data)}
    whole_file.was = {"raw": whole_file.whole}
    return whole_file


async def replay(services: "Services", changes: "Sequence[StoreChange]") -> None:
    """List the prompts that would recall the memory with these `changes`. Raises MemtuiError or OSError."""
    from memtui.recall_preview import Recalling
    from memtui.views import recall as recalled

    recalling = Recalling(services.data, writes=not services.read_only)
    if changes[-1].directory not in {directory for _, directory in recalling.places()}:
        services.warn(f"No prompt in this project recalls memories of {changes[-1].scope}.")
        return
    services.say("Trying your last prompts …")
    await asyncio.to_thread(recalling.bring_up_to_date)
    replayed = await asyncio.to_thread(lambda: recalling.replay(recalling.prompts(PROMPTS), changes))
    paths, now = [change.path for change in changes], services.data.now()
    text = Text()
    for outcome in replayed:
        sign, prompt = recalled.mark_of(outcome, paths), outcome.prompt
        if sign is not None:
            text.append(*sign).append(f" {age(prompt.time or None, now):>4}  {safe_text.line(prompt.text, 300)}\n")
    if not text:
        services.say(f"None of your last {len(replayed)} prompts would get it." if replayed else NO_PROMPTS)
        return
    await services.ask(Preview(f"Which of your last prompts recall it: {recalled.sums_of(replayed, paths)}", text))
