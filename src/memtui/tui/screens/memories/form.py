"""A memory in a form: its fields and its text. Fields that are not shown, comments and order stay as they are.

What is typed is kept as a draft within half a second, so that neither a crash nor escape loses it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, Select, Static, TextArea
from textual.widgets.text_area import Selection

from memtui import actions
from memtui.core.base import ids
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import ago
from memtui.core.frontmatter import document
from memtui.core.memories import memory
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.present import editor, safe_text
from memtui.tui.dialogs.dialog import Keys, form_keys
from memtui.tui.model.memory_autosave import Draft, Drafts, key_of
from memtui.tui.screens.memories.saving import Saving, stem_of
from memtui.tui.screens.memories.values import bytes_of, values_of
from memtui.tui.widgets.body import Body, fits
from memtui.tui.widgets.field import Field, Labelled

if TYPE_CHECKING:
    from memtui.tui.services import Services

LOOK_SECONDS = 1.0
GONE = "The file is gone, somebody deleted or renamed it: ^s asks what becomes of yours."
# What a scope means for a memory that goes there.
WHERE = {
    "global": "for every project",
    "project": "in the repository, shared",
    "auto": "the client's own of this project",
    "agent": "the memory of a subagent",
}


class Form(Saving):
    """Ends with the path of what was saved; None if nothing was. `found` None makes a new memory in `scope`; it may be
    one whose file is gone, as `Draft.memory` has it."""

    DEFAULT_CSS = """
    Form > Vertical { width: 110; max-width: 100%; height: 100%; max-height: 46; padding: 0 1; background: $panel; }
    Form Select { width: 1fr; height: 1; }
    Form Body { height: 1fr; margin-top: 1; }
    Form .told { height: auto; max-height: 4; color: $text-warning; }
    Form .where { height: 1; color: $text-muted; padding-left: 14; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "save", priority=True),
        Binding("ctrl+o", "editor", "editor", priority=True),
        Binding("ctrl+g", "discard", "discard", priority=True),
        Binding("escape", "leave", "later"),
    ]

    def __init__(
        self,
        main: "Services",
        found: Memory | None,
        scope: Scope,
        scopes: Sequence[Scope],
        kind: str,
        kept: Draft | None,
    ) -> None:
        super().__init__()
        self.memtui, self.data = main, main.data
        self.found = found
        self.scopes = {each.label: each for each in (scope, *scopes)}
        self.drafts = Drafts(self.data.root)
        raw = found is not None and found.broken is not None
        if raw and kept is not None and not kept.raw:
            kept = _as_raw(kept)
        raw = raw or (kept is not None and kept.raw)
        if found is None:
            kind = kind if kind in memory.TEMPLATES else "feedback"
            self.was = {"name": "", "description": "", "type": kind, "scope": scope.label}
            self.was["body"] = memory.TEMPLATES[kind].strip("\n")
            draft = Draft(ids.new_id(self.data.now()), scope=scope.label)
        else:
            self.was = values_of(found, raw=raw)
            draft = _draft(found, raw=raw)
        self.kept = kept
        self.draft = kept or draft
        # What was typed goes over what it was typed over: only fields that the person changed are saved.
        self.values = {**self.was, **self.draft.values}
        self.told = self._first_words()
        self._done = False
        self._path: str | None = None

    def _first_words(self) -> str:
        if self.kept is not None:
            words = f"Your draft of {ago(self.kept.time, self.data.now())} is here again; ^g discards it."
            changed = self.found is not None and self.draft.base != ids.digest(self.found.raw)
            return words + (" The file changed since: saving shows both." if changed else "")
        if self.draft.raw and self.found is not None:
            return f"The frontmatter can't be read as fields ({self.found.broken}): this is the whole file."
        if self.found is not None and not self.found.has_frontmatter:
            return "This file has no frontmatter: a description or a type gives it some."
        return "" if self.found is not None else "What you leave of the template's lines is not saved."

    def body(self) -> ComposeResult:
        """A line a field, the text, what there is to say, and the keys."""
        with Vertical():
            title = "New memory" if self.found is None else self.found.ref
            yield Static(safe_text.styled(title, "bold"))
            for key, value in self.values.items():
                if key in {"body", "raw"}:
                    continue
                label = key.removeprefix("metadata.")
                if key in {"type", "scope"}:
                    options = list(dict.fromkeys([*memory.TYPES, value] if key == "type" else self.scopes))
                    pairs = [(safe_text.styled(each or "untyped"), each) for each in options]
                    chosen = value if value in options else options[0]
                    yield Labelled(label, Select(pairs, value=chosen, allow_blank=False, compact=True, name=key))
                else:
                    yield Labelled(label, Field(safe_text.same_length(value), name=key))
            if self.found is None:
                yield Static(classes="where")
            yield Body(self.values["raw" if self.draft.raw else "body"], show_line_numbers=False, compact=True)
            yield Static(classes="told")

    def keys(self) -> Keys:
        """As in every form, and the person's editor."""
        return form_keys("save", editor=True)

    def on_mount(self) -> None:
        """Start where something is to be typed."""
        # What the widgets make of a value (line ends, pictures of control characters) is no change of the person's.
        self._made = self.read()
        self._base = {**self._made, **(self.kept.was if self.kept is not None else {})}
        first = "Input" if self.found is None else "Body"
        self.query(first).first().focus()
        self._begin()
        self.say(self.told)
        self._where()
        self.set_interval(LOOK_SECONDS, self._look)

    def say(self, text: str) -> None:
        """What there is to say, above the keys."""
        self.query_one(".told", Static).update(safe_text.styled(text))

    def read(self) -> dict[str, str]:
        """What stands in the form."""
        found = {str(line.name): line.value for line in self.query(Input) if line.name}
        found |= {str(each.name): str(each.value) for each in self.query(Select) if each.name}
        return {**found, "raw" if self.draft.raw else "body": self.query_one(Body).text}

    def changed(self) -> dict[str, str]:
        """The fields that the person changed, as typed."""
        return {key: value for key, value in self.read().items() if value != self._base.get(key)}

    @on(Input.Changed)
    @on(Select.Changed)
    def _where(self) -> None:
        """Which file a new memory becomes, and who reads that."""
        if self.found is not None or self._done or not self.query(".where"):
            return
        given = self.read()
        scope = self.scopes[given["scope"]]
        try:
            file = stem_of(given["name"]) + ".md"
        except MemtuiError:
            file = "…"
        why = WHERE.get(scope.kind, "")
        if scope.kind == "auto" and not any(each.kind == "project" and each.exists for each in self.scopes.values()):
            why += ", the repository keeps none"
        words = Text(safe_text.line(f"{file} in {scope.label}: {why}"), no_wrap=True, overflow="ellipsis")
        self.query_one(".where", Static).update(words)

    # drafts

    @on(Input.Changed)
    @on(Select.Changed)
    @on(TextArea.Changed)
    def _typed(self) -> None:
        self.keep_soon()
        if self.refused is not None and self.read() != self.refused:
            self.refused = None  # why it could not be saved is no longer so
            self.say(self.told)

    @on(Select.Changed)
    def _type_chosen(self, event: Select.Changed) -> None:
        """A template that was not touched follows the type."""
        body = self.query_one(Body)
        if self.found is None and event.select.name == "type" and body.text + "\n" in memory.TEMPLATES.values():
            body.text = memory.TEMPLATES.get(str(event.value), "").strip("\n")
            self._begin()

    def _begin(self) -> None:
        """What is typed first takes the place of the template's first line."""
        body = self.query_one(Body)
        first = body.document.get_line(0)
        if first in memory.TEMPLATE_LINES:
            body.selection = Selection((0, 0), (0, len(first)))

    def keep(self) -> None:
        """Keep what was typed; nothing is kept where nothing was changed."""
        if self._done:
            return
        changed = self.changed()
        if self.found is None and self._untouched():
            changed = {}
        # Of a new memory everything is kept: no file holds the rest.
        self.draft.values = self.read() if self.found is None and changed else changed
        self.draft.was = {key: self._base.get(key, "") for key in self.draft.values}
        self.draft.time = self.data.now()
        try:
            if changed:
                self.drafts.save(self.draft)
            else:
                self.drafts.drop(self.draft.key)
        except OSError as error:
            self.say(f"What you type can't be kept: {error.strerror}.")

    def _untouched(self) -> bool:
        """Whether there is nothing in the form of a new memory but a template."""
        given = self.read()
        templates = {text.strip() for text in memory.TEMPLATES.values()}
        typed = given["name"].strip() or given["description"].strip()
        return not typed and given["body"].strip() in {"", *templates}

    def on_unmount(self) -> None:
        """However it ends."""
        if not self._done and self.query(Body):
            self.keep()

    def action_leave(self) -> None:
        """Close; what was typed is kept for the next time."""
        self.keep_now()
        self._done = True
        if self.draft.values:
            again = "n" if self.found is None or self.draft.orphan else "e"
            self.memtui.say(f"Your draft is kept: {again} goes on with it.")
        self.dismiss(self._path)

    def action_discard(self) -> None:
        """Close, and forget what was typed."""
        self.finish(self._path)

    def finish(self, path: str | None) -> None:
        """Close; the draft goes."""
        self._done = True
        try:
            self.drafts.drop(self.draft.key)
        except OSError as error:
            self.memtui.say(f"The draft can't be removed: {error.strerror}.")
        self.dismiss(path)

    # the file

    def saved(self, made: Memory) -> None:
        """Close; or stay, where the file is broken still."""
        if made.broken is None:
            self.memtui.say(self.done_words)
            self.finish(made.path)
            return
        self._path = made.path
        self.found = made
        try:
            self.drafts.drop(self.draft.key)
        except OSError as error:
            self.memtui.say(f"The draft can't be removed: {error.strerror}.")
        self.draft = _draft(made, raw=self.draft.raw)
        self._base = self.read()
        self.say(f"Saved, but it is still broken, so it is not delivered: {safe_text.line(made.broken, 200)}.")

    def _look(self) -> None:
        """Tell when the file changes under the form."""
        if self.found is None or self._done:
            return
        now = self._now()
        if not now:
            self.say(GONE)
        elif now != self.draft.base:
            self.say("The file was changed by somebody else meanwhile: saving shows both.")

    def _now(self) -> str:
        assert self.found is not None
        try:
            return ids.digest(memory.read_memory(self.found.path).raw)
        except MemtuiError:
            return ""

    def action_editor(self) -> None:
        """The text in the person's editor, and back into the form."""
        body = self.query_one(Body)
        name = self.found.stem if self.found is not None else "memory"
        try:
            with self.app.suspend():
                after = editor.edited(self.data.env, name, body.text.encode("utf-8", "surrogateescape"))
        except MemtuiError as error:
            self.say(f"{error.message} {error.hint}")
            return
        text = after.decode("utf-8", "surrogateescape")
        if fits(text) and document.parse(after).broken != "not a text file in UTF-8":
            body.text = text
        else:
            key = actions.key_of("memories.editor")
            self.say(f"That text does not fit into the form: save the file itself in your editor ({key}).")


def _draft(found: Memory, *, raw: bool) -> Draft:
    """The draft for a memory as it was read."""
    whole = found.raw.decode("utf-8", "surrogateescape")
    return Draft(key_of(found.path), found.path, ids.digest(found.raw), found.scope_label, raw=raw, whole=whole)


def _as_raw(kept: Draft) -> Draft:
    """A draft of fields as one of the whole file, where the fields can't be read any more."""
    was = kept.memory()
    changed = {key: value for key, value in kept.values.items() if key != "name"}
    made = _draft(was, raw=True)
    made.time = kept.time
    made.values = {"raw": bytes_of(was, changed).decode("utf-8", "surrogateescape")}
    made.was = {"raw": made.whole}
    return made
