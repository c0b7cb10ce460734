"""What the forms of the inbox edit: a draft before it becomes a memory, the text of a todo, the outcome of a change."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from rich.text import Text

from memtui.base import fastjson, ids
from memtui.base.phrasing import some
from memtui.review.waiting_entries import Waiting
from memtui.store import memory
from memtui.store.memory import TYPES
from memtui.store.plan import is_index
from memtui.tidy import changeset, composed_files
from memtui.tidy.changeset import Proposal
from memtui.tidy.composed_files import Applied
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.dialogs.subject import CHOICE, TEXT, FormField, Options, Saved, Shape, Subject, Typed
from memtui.tui.model import autosave
from memtui.tui.model.autosave import Autosave
from memtui.tui.model.data import Data
from memtui.tui.screens.inbox import change_text
from memtui.tui.screens.inbox.change_text import ChangeFacts
from memtui.views import safe_text

# The fields of a draft that its form edits besides the text.
LINES, CHOICES = ("name", "description", "trigger"), ("type", "scope")
FIELDS = (*LINES, *CHOICES)
GONE = "It is gone: it was decided on or removed meanwhile. What you typed stays here to be copied."
OUTDATED = "A file that this was made from has changed since. What you typed stays here to be copied."
Values = Mapping[str, str]


class EntrySubject(Subject):
    """A draft or a todo. `values` returns what the form shows of an entry: its `body`, and for a draft also name,
    description, type and scope (of the options `scopes`). `check` returns which file would be written, `save` writes
    it; both raise MemtuiError."""

    def __init__(
        self,
        data: Data,
        item: Waiting,
        values: Callable[[Waiting], Values],
        *,
        title: str,
        verb: str,
        check: Callable[[Waiting, Values], str],
        save: Callable[[Waiting, Values], None],
        scopes: Options = (),
    ) -> None:
        self.data, self.item = data, item
        self._values, self._check, self._save = values, check, save
        initial = values(item)
        self.autosave = autosave.kept(data.root, item.id) or Autosave(item.id, self._base())
        self.shape = Shape(title, verb, "this entry", GONE, left=autosave.left("inbox.edit"))
        options: dict[str, Options] = {"type": [(kind_name, kind_name) for kind_name in TYPES], "scope": scopes}
        self.fields: Sequence[FormField] = (
            *(FormField(key, safe_text.line(initial[key])) for key in LINES if key in initial),
            *(FormField(key, initial[key], CHOICE, options=options[key]) for key in CHOICES if key in initial),
            FormField("body", safe_text.clean(initial["body"]), TEXT),
        )

    def _base(self) -> str:
        """Return a digest of what a person can edit. Counts that the extractor updates are no change."""
        fields = {key: self.item.entry.fields.get(key, "") for key in (*FIELDS, "request")}
        return ids.digest(fastjson.dumps({**fields, "text": self.item.text}))

    def check(self, typed: Typed) -> Text:
        return safe_text.styled(self._check(self.item, typed.values))

    def there(self) -> str | None:
        """Find the entry as it is now, one without an id by its place; return its digest, None if it is gone."""
        before, entries = self.item, self.data.waiting((self.item.kind,), every=True)
        same = [entry for entry in entries if entry.key == before.key]
        if not same and not before.entry.fields.get("id"):
            place = (before.path, before.entry.start)
            same = [e for e in entries if (e.path, e.entry.start) == place and not e.entry.fields.get("id")]
        if not same:
            return None
        self.item = same[0]
        return self._base()

    def compared(self, typed: Typed) -> tuple[bytes, bytes]:
        theirs = self._values(self.item)
        return _lines(theirs), _lines({**theirs, **typed.changed})

    def save(self, typed: Typed) -> Saved:
        self._save(self.item, {**self._values(self.item), **typed.changed})
        return Saved(self.item.id)


def _lines(values: Values) -> bytes:
    words = "".join(f"{key}: {values[key]}\n" for key in FIELDS if key in values)
    return f"{words}{chr(10) * bool(words)}{values['body'].rstrip()}".encode("utf-8", "replace")


class OutcomeSubject(Subject):
    """The one file that a proposal writes, beside the texts that it is made of. `applied` gets what saving made."""

    def __init__(self, data: Data, facts: ChangeFacts, name: str, applied: Callable[[Applied], object]) -> None:
        self.data, self.facts, self._applied = data, facts, applied
        self.proposal = proposal = facts.proposal
        (self.output,) = proposal.written
        data_before = self.output.after or b""
        self.memory = memory.from_bytes(self.output.path, "", data_before)
        self.whole = is_index(self.output.path) or self.memory.broken is not None or not self.memory.has_frontmatter
        self.autosave = autosave.kept(data.root, name) or Autosave(name, proposal.id)
        words = safe_text.line(changeset.title(proposal), 100)
        self.shape = Shape(
            words[:1].upper() + words[1:],
            proposal.kind if proposal.kind == "merge" else "make it",
            "this change",
            OUTDATED,
            across=200,
            beside=change_text.texts(proposal),
            left=autosave.left("inbox.edit"),
            preview=self.preview,
        )
        self.fields: Sequence[FormField] = [
            FormField("description", safe_text.line(self.memory.description)),
            FormField("body", self.memory.body.strip("\n"), TEXT),
        ]
        if self.whole:
            self.fields = [FormField("raw", data_before.decode("utf-8", "surrogateescape"), TEXT, "whole file")]

    def _bytes(self, typed: Typed) -> bytes:
        """Return the file as it was typed. Raises MemtuiError."""
        if self.whole:
            return typed.values["raw"].encode("utf-8", "surrogateescape")
        changed = dict(typed.changed)
        if "body" in changed:
            changed["body"] = "\n" + changed["body"].strip("\n") + "\n"
        return memory.with_fields(self.memory, changed) if changed else self.memory.raw

    def check(self, typed: Typed) -> Text:
        removed = list(map(changeset.name, self._edited(typed).gone))
        deleted = f"; {some(removed)} {'is' if len(removed) == 1 else 'are'} deleted" if removed else ""
        return Text(safe_text.line(f"writes {changeset.name(self.output.path)}{deleted}"))

    def _edited(self, typed: Typed) -> Proposal:
        data = self._bytes(typed)
        return self.proposal if data == self.output.after else self.proposal.edited(self.output.path, data)

    def preview(self, typed: Typed) -> Preview:
        """Return the preview of the change with the outcome that was typed: what it drops first. Raises MemtuiError."""
        edited = self._edited(typed)
        weighed = composed_files.weigh(self.data.store().files(), edited)
        if weighed.refused is not None:
            raise weighed.refused.error
        facts = replace(self.facts, proposal=edited, weighed=weighed)
        lost = change_text.count_lost(facts)
        title = f"{lost}; this will be written" if lost else "1 change: this will be written"
        return Preview(title, change_text.previewed([facts]), "make 1 change")

    def there(self) -> str | None:
        """Return the proposal's id as long as the files that it was made from are as they were; None if they aren't."""
        return self.proposal.id if self.proposal.is_current else None

    def compared(self, typed: Typed) -> tuple[bytes, bytes]:
        return self.output.after or b"", self._bytes(typed)

    def save(self, typed: Typed) -> Saved:
        applied = composed_files.apply(self.data.store(), [self._edited(typed)])
        if applied.refused:
            raise applied.refused[0].error
        self._applied(applied)
        return Saved(self.proposal.id)
