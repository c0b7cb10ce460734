"""The outcome of a proposal as the subject of a form: what a memory becomes, beside the texts that it is made of."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from rich.text import Text

from memtui.consolidate import changeset, composing
from memtui.consolidate.changeset import FileOutput, Proposal, is_index, sha256
from memtui.consolidate.composing import Applied
from memtui.consolidate.files import MemoryFiles
from memtui.core.base.phrasing import some
from memtui.core.base.storage import read_or_none
from memtui.core.memories import memory
from memtui.present import safe_text
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.dialogs.subject import TEXT, FormField, Saved, Shape, Subject, Typed
from memtui.tui.model import autosave
from memtui.tui.model.autosave import Autosave
from memtui.tui.model.data import Data
from memtui.tui.screens.inbox import change_text
from memtui.tui.screens.inbox.change_text import ChangeFacts
from memtui.tui.widgets.body import fits

GONE = "A file that this was made from has changed since. What you typed stays here to be copied."


def autosave_name(found: Proposal) -> str:
    """Return the name of the autosave for the outcome of a proposal."""
    return "proposal-" + found.id


class OutcomeSubject(Subject):
    """The subject: the one file that a proposal writes. `applied` gets what saving made."""

    def __init__(self, data: Data, facts: ChangeFacts, applied: Callable[[Applied], object]) -> None:
        self.data, self.facts, self._applied = data, facts, applied
        self.proposal = proposal = facts.proposal
        (self.output,) = proposal.written
        self.found = memory.from_bytes(self.output.path, "", self.output.data or b"")
        self.whole = is_index(self.output.path) or self.found.broken is not None or not self.found.has_frontmatter
        name = autosave_name(proposal)
        self.autosave = autosave.kept(data.root, name) or Autosave(name, proposal.id)
        beside = [
            (change_text.named(proposal, each), change_text.content(each.data)) for each in change_text.inputs(proposal)
        ]
        words = safe_text.line(changeset.title(proposal), 100)
        title = words[:1].upper() + words[1:]
        self.shape = Shape(
            title,
            "make it",
            "this change",
            GONE,
            "outcome",
            across=200,
            beside=beside,
            left=autosave.left("inbox.edit"),
            preview=self.preview,
        )
        self.fields: Sequence[FormField] = self._fields()

    @staticmethod
    def why_not(proposal: Proposal) -> str:
        """Return why the outcome can't be edited here; empty if it can."""
        (output,) = proposal.written
        raw = (output.data or b"").decode("utf-8", "surrogateescape")
        return "" if fits(raw) else "It is too long to be changed here."

    def _fields(self) -> Sequence[FormField]:
        if self.whole:
            return [FormField("raw", (self.output.data or b"").decode("utf-8", "surrogateescape"), TEXT)]
        return [
            FormField("description", safe_text.line(self.found.description)),
            FormField("body", self.found.body.strip("\n"), TEXT),
        ]

    def _bytes(self, typed: Typed) -> bytes:
        """Return the file as it was typed. Raises MemtuiError."""
        if self.whole:
            return typed.values["raw"].encode("utf-8", "surrogateescape")
        changed = dict(typed.changed)
        if "body" in changed:
            changed["body"] = "\n" + changed["body"].strip("\n") + "\n"
        return memory.with_fields(self.found, changed) if changed else self.found.raw

    def check(self, typed: Typed) -> Text:
        """Return which memory would be written, and which ones go. Raises MemtuiError for what can't be saved."""
        edited = self._edited(typed)
        gone = list(map(changeset.name, edited.gone))
        goes = f"; {some(gone)} {'goes' if len(gone) == 1 else 'go'}" if gone else ""
        return Text(safe_text.line(f"writes {changeset.name(self.output.path)}{goes}"))

    def _edited(self, typed: Typed) -> Proposal:
        made = FileOutput(self.output.path, self._bytes(typed))
        if made == self.output:
            return self.proposal
        outputs = [made if each.path == self.output.path else each for each in self.proposal.outputs]
        return self.proposal.edited(outputs)

    def preview(self, typed: Typed) -> Preview:
        """Return the preview of the change with the outcome that was typed: what it drops first. Raises MemtuiError."""
        edited = self._edited(typed)
        weighed = composing.weigh(MemoryFiles(self.data.store()), edited)
        if weighed.refused is not None:
            raise weighed.refused.error
        facts = replace(self.facts, proposal=edited, weighed=weighed)
        lost = change_text.count_lost(facts)
        title = f"{lost}; this will be written" if lost else "1 change: this will be written"
        return Preview(title, change_text.previewed([facts]), "make 1 change")

    def there(self) -> str | None:
        """Return the proposal's id as long as the files that it was made from are as they were; None if they aren't."""
        for each in self.proposal.inputs:
            try:
                data = read_or_none(each.path)
            except OSError:
                return None
            if ("" if data is None else sha256(data)) != each.sha256:
                return None
        return self.proposal.id

    def compared(self, typed: Typed) -> tuple[bytes, bytes]:
        """Return what was proposed, and what was typed."""
        return self.output.data or b"", self._bytes(typed)

    def save(self, typed: Typed) -> Saved:
        """Make the change with the outcome that was typed."""
        found = composing.apply(self.data.store(), [self._edited(typed)])
        if found.refused:
            raise found.refused[0].error
        self._applied(found)
        return Saved(self.proposal.id)
