"""Change entries of an inbox in place, each as one step of undo; what others append meanwhile stays."""

import dataclasses
from collections.abc import Callable, Sequence

from memtui.base import clock_hot, ids_hot
from memtui.base.errors import UsageError
from memtui.base.phrasing_hot import cut, many
from memtui.inbox import drafts as inbox_drafts
from memtui.inbox import format_hot, guidance
from memtui.redact import redact
from memtui.review.waiting_entries import Waiting, from_the_end, hiding_step
from memtui.settings import config_hot
from memtui.store.journal import acts
from memtui.store.journal.changes import Change
from memtui.store.journal.journal import Journal
from memtui.store.journal.text_edit import ANCHOR_LINES, TextEdit

GIST = 60  # characters of an entry in the journal


def removal(item: Waiting) -> TextEdit:
    """Return the change that takes an entry out of its file; one before it without an end mark still ends there."""
    before = item.source[: item.entry.start]
    missing = format_hot.NO_ENTRY if format_hot.is_unfinished(before) else ""
    anchor = "".join([line + "\n" for line in before.split("\n")[:-1][-ANCHOR_LINES:]])  # finds its place again
    return TextEdit(item.path, item.entry.raw, missing, anchor, item.entry.start)


def _rewritten(item: Waiting, fields: dict[str, str], text: str) -> TextEdit:
    """Return the change that replaces an entry; hand-written text gets marks."""
    return dataclasses.replace(removal(item), added=format_hot.render(fields, text))


def _appended(directory: str, kind: str, fields: dict[str, str], text: str) -> TextEdit:
    return TextEdit(f"{directory}/{format_hot.FILES[kind]}", "", format_hot.render(fields, text))


def _removals(items: Sequence[Waiting]) -> list[TextEdit]:
    return [removal(item) for item in from_the_end(items)]


class Review:
    """The operations on entries, each one step that returns its id. All raise ConflictError if an entry changed."""

    def __init__(self, root: str, by: str = "cli", now: Callable[[], float] = clock_hot.now) -> None:
        self.root = root
        self.by = by
        self.now = now
        self.journal = Journal(root, by=by, now=now)

    def _run(self, op: str, changes: Sequence[Change], items: Sequence[Waiting], words: str = "") -> str:
        """Make changes as one transaction. `words` for the list of changes, if `op` has none; `{}`: what is changed."""
        nouns = {format_hot.NOUNS[item.kind] for item in items}
        several = many(len(items), *(nouns if len(nouns) == 1 else ("entry", "entries")))
        subject = f"“{_gist(items[0].text)}”" if len(items) == 1 else several
        summary = words.replace("{}", subject) or acts.summary(op, subject)
        return self.journal.run(op, changes, summary, entries=[item.id for item in items])

    def withdraw(self, items: Sequence[Waiting]) -> str:
        """Remove guidance before it is delivered."""
        return self._run("withdraw", _removals(items), items)

    def again(self, item: Waiting) -> tuple[str, str]:
        """Send guidance again as a new entry, without an expiry that is over; return its id and the transaction's."""
        now = self.now()
        fresh = {"id": ids_hot.new_id(now), "time": clock_hot.iso_seconds(now)}
        dropped = {"id", "time", "attempts"} | ({"expires"} if item.entry.expired(now) else set())
        fields = {**fresh, **{key: value for key, value in item.entry.fields.items() if key not in dropped}}
        fields.setdefault("from", self.by)
        transaction_id = self._run("guide", [_rewritten(item, fields, item.entry.text)], [item], "send {} again")
        return fresh["id"], transaction_id

    def reject(self, items: Sequence[Waiting], *, never: bool = False) -> str:
        """Remove drafts and todos, and remember what drafts said; with `never`, it is not extracted again."""
        changes: list[Change] = list(_removals(items))
        for item in [entry for entry in items if entry.kind == "updates"]:
            row = inbox_drafts.rejected_line(item.id, inbox_drafts.statement(item.entry), self.now(), never=never)
            changes.append(TextEdit(inbox_drafts.rejected_path(item.directory), "", row))
        return self._run("reject", changes, items)

    def snooze(self, items: Sequence[Waiting], until: float | None) -> str:
        """Hide entries until a time, None to show them again; a todo is kept, as the next session would replace it."""
        changes = []
        for item in items:
            fields = {key: value for key, value in self._fields(item).items() if key != "until"}
            fields |= {"state": "kept"} if item.kind == "items" else {}
            if until is not None:
                fields["until"] = clock_hot.iso_seconds(until)
            changes.append(_rewritten(item, fields, item.entry.text))
        return self._run("snooze", changes, items, hiding_step("{}", until, self.now()))

    def done(self, items: Sequence[Waiting]) -> str:
        """Remove pending items, as finished."""
        return self._run("done", _removals(items), items)

    def edit(self, item: Waiting, text: str) -> tuple[str, str]:
        """Change an entry's text, not its evidence; return its id (new if hand-written) and the transaction's."""
        if not text.strip():
            raise UsageError("The text is empty.", "To remove the entry, reject it, withdraw it or mark it done.")
        whole = text.strip("\n")
        if item.kind == "updates":
            whole = inbox_drafts.join_evidence(whole, item.evidence)
        fields = self._fields(item)
        return fields["id"], self._run("edit entry", [_rewritten(item, fields, whole)], [item], "edit {}")

    def guide(self, directory: str, fields: dict[str, str], text: str) -> tuple[str, str]:
        """Leave guidance in an inbox; return its id and the transaction's. Raises as `guidance.check`."""
        self._check_length(directory, fields, text)
        now = self.now()
        whole = {"id": ids_hot.new_id(now), "time": clock_hot.iso_seconds(now), **fields}
        change = _appended(directory, "guidance", whole, text)
        words = f"write note “{_gist(text)}”"
        return whole["id"], self.journal.run("guide", [change], words, entries=[whole["id"]])

    def reword(self, item: Waiting, directory: str, fields: dict[str, str], text: str) -> tuple[str, str]:
        """Change undelivered guidance, and its inbox; return its id and the transaction's. Raises as `guide`."""
        self._check_length(directory, fields, text)
        stable = {key: value for key, value in self._fields(item).items() if key in {"id", "time", "from"}}
        whole = {**stable, **{key: value for key, value in fields.items() if key not in stable}}
        changes: list[Change] = [_rewritten(item, whole, text)]
        if directory != item.directory:
            changes = [removal(item), _appended(directory, "guidance", whole, text)]
        return whole["id"], self._run("edit entry", changes, [item], "edit {}")

    def _check_length(self, directory: str, fields: dict[str, str], text: str) -> None:
        budget = config_hot.number(config_hot.load(self.root), "budget")
        guidance.check(budget, self.now(), text, fields, directory)

    def _fields(self, item: Waiting) -> dict[str, str]:
        if item.entry.fields.get("id"):
            return dict(item.entry.fields)
        extra = {key: value for key, value in item.entry.fields.items() if key != "state"}
        return {"id": ids_hot.new_id(self.now()), "time": clock_hot.iso_seconds(self.now()), "from": self.by, **extra}


def _gist(text: str) -> str:
    """Return the beginning of an entry's first line without secrets, for the journal, which outlives the entry."""
    return cut(" ".join(redact.redact(text)[0].strip().partition("\n")[0].split()), GIST)
