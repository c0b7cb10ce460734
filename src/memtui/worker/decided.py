"""Learn from decisions: the journal says which drafts the person approved, edited or rejected, and the correction of
the classifier (learn/personal.py) is fitted to them. One that was undone is taken back."""

import difflib
import os
from collections.abc import Iterable, Mapping

from memtui.base import fastjson, fs
from memtui.base.errors import MemtuiError
from memtui.inbox import format as inbox_format
from memtui.inbox import pending_update, refused
from memtui.learn import personal
from memtui.review import taught
from memtui.store import memory
from memtui.store.journal.changes import Change, FileChange
from memtui.store.journal.journal import Journal
from memtui.store.journal.ledger import Ledger, Transaction
from memtui.store.journal.text_edit import TextEdit

FORGOTTEN = "/" + inbox_format.REJECTED
EDIT = "edit entry"
# With at least this part of its words left a draft counts as approved as it was; words of a text that are compared.
UNCHANGED, MOST_WORDS = 0.98, 2000


def learn(root: str) -> personal.Correction | None:
    """Learn from what was decided since the last time, one process at a time; None if nothing was. Raises OSError."""
    stamp = fs.stamp(root + "/journal.jsonl")
    if not os.path.exists(taught.drafts_path(root)) or stamp == taught.read_until(root):
        return None
    correction = _learn(root)
    fs.write_atomic(taught.read_path(root), str(stamp).encode(), durable=False)
    return correction


def _learn(root: str) -> personal.Correction | None:
    before = taught.load(taught.decisions_path(root))
    reset = before.get("reset")
    since = reset if isinstance(reset, str) else ""
    labelled = taught.labels_of(before)
    labels = dict(labelled)
    journal = Journal(root, by="worker")
    edits: dict[str, Transaction] = {}  # the first edit of a draft, by its id
    for transaction in Ledger(journal.path).follow().transactions.values():
        if transaction.op == EDIT and transaction.state == "done":
            for name in transaction.record.get("entries") or ():
                edits.setdefault(str(name), transaction)
        elif transaction.op in taught.OPS and transaction.is_change and transaction.time > since:
            _take(labels, journal, transaction, edits)
    labels = dict(list(labels.items())[-taught.MOST :])
    if labels == labelled:
        return None
    try:
        validation = personal.validation()
    except (OSError, ValueError):
        validation = []
    weights = personal.fit(personal.decided(root, labels), validation)
    row = {"v": taught.VERSION, "labels": labels, "reset": since}
    fs.write_atomic(taught.weights_path(root), fastjson.dumps(personal.data(weights)).encode(), durable=False)
    fs.write_atomic(taught.decisions_path(root), fastjson.dumps(row).encode(), durable=False)
    return weights


def _take(labels: dict[str, str], journal: Journal, transaction: Transaction, edits: Mapping[str, Transaction]) -> None:
    """Take in the decisions of a transaction, or take them back if it was undone."""
    try:
        changes = journal.changes_of(transaction.record)
    except (MemtuiError, OSError, ValueError):
        return  # its contents are gone: what was known of it stays
    texts = [change for change in changes if isinstance(change, TextEdit)]
    rows = [row for change in texts if change.path.endswith(FORGOTTEN) for row in change.added.splitlines()]
    never = any(refused.is_never(fastjson.loads_dict(row)) for row in rows)
    label = taught.APPROVED if transaction.op == "approve" else taught.NEVER if never else taught.REJECTED
    entries = taught.drafts_in(changes)
    for entry in entries:
        if transaction.state == "done":
            labels.pop(entry.id, None)
            likeness = 1.0
            if transaction.op == "approve":
                text_now = _made(changes) if len(entries) == 1 else ""
                before, after = (
                    text.split()[:MOST_WORDS]
                    for text in (_drafted(journal, entry, edits), text_now or _words_of(entry))
                )
                likeness = difflib.SequenceMatcher(None, before, after, autojunk=False).ratio()
            labels[entry.id] = label if likeness >= UNCHANGED else taught.edited(likeness)
        elif transaction.state == "undone":
            labels.pop(entry.id, None)


def _made(changes: Iterable[Change]) -> str:
    """Return the description and the text of the memory that a draft became; empty if it became part of another."""
    for change in changes:
        if isinstance(change, FileChange) and change.after is not None and change.before is None:
            new = memory.from_bytes(change.path, "", change.after)
            return f"{new.description}\n{new.body}"
    return ""


def _drafted(journal: Journal, entry: inbox_format.Entry, edits: Mapping[str, Transaction]) -> str:
    """Return what a draft said before the person edited it."""
    edit = edits.get(entry.id)
    try:
        changes = journal.changes_of(edit.record) if edit is not None else []
    except (MemtuiError, OSError, ValueError):
        changes = []
    texts = [
        change.removed for change in changes if isinstance(change, TextEdit) and change.path.endswith(taught.UPDATES)
    ]
    first = next((row for text in texts for row in inbox_format.parse(text) if row.id == entry.id), entry)
    return _words_of(first)


def _words_of(entry: inbox_format.Entry) -> str:
    """Return the description and the text of the memory that a draft is."""
    first, _, rest = pending_update.split(entry.text)[0].partition("\n")
    return f"{first}\n{rest.strip() or first}"
