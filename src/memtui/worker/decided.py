"""Learn from decisions on drafts: read from the journal which drafts the person approved or rejected, and fit the
correction of the classifier to them (extract/personal.py).

The decisions are kept (core/review/taught.py), also those that the journal has forgotten since; one that was undone is
taken back.
"""

import os

from memtui.core.base import fastjson, fs
from memtui.core.base.errors import MemtuiError
from memtui.core.inbox import format as inbox_format
from memtui.core.inbox import refused
from memtui.core.journal.changes.text_edit import TextEdit
from memtui.core.journal.journal import Journal
from memtui.core.journal.ledger import Ledger, Transaction
from memtui.core.review import learned, taught
from memtui.core.settings import config
from memtui.extract import decisions, personal

# Decisions that are kept, the newest.
MOST = 2000
UPDATES, FORGOTTEN = "/" + inbox_format.FILES["updates"], "/" + inbox_format.REJECTED
OPS = {"approve", "reject"}
# The stamp of the journal as it was read last.
READ = "/run/decided"


def learn(root: str) -> personal.Correction | None:
    """Learn from what was decided since the last time; None if nothing was, or another worker is at it. Raises
    OSError."""
    if config.value(config.load(root), None, "extract_learn") is not True:
        return None
    stamp = fs.stamp(root + "/journal.jsonl")
    if not os.path.exists(decisions.path(root)) or stamp == _read(root):
        return None
    try:
        with fs.Lock(root + "/run/worker-decisions.lock", 0.0):
            made = _learn(root)
            fs.write_atomic(root + READ, str(stamp).encode(), durable=False)
            return made
    except fs.LockTimeoutError:
        return None


def _read(root: str) -> int:
    """Return the stamp of the journal as it was read last."""
    try:
        return int(fs.read_bytes(root + READ, 40))
    except (OSError, ValueError):
        return -1


def _learn(root: str) -> personal.Correction | None:
    before = taught.load(learned.decisions_path(root))
    reset = before.get("reset")
    since = reset if isinstance(reset, str) else ""
    known = taught.labels_of(before)
    labels = dict(known)
    journal = Journal(root, by="worker")
    for each in Ledger(journal.path).follow().transactions.values():
        if each.op in OPS and each.is_change and each.time > since:
            _take(labels, journal, each)
    labels = dict(list(labels.items())[-MOST:])
    if labels == known:
        return None
    made = personal.fit(decisions.decided(root, labels), _validation())
    row = {"v": taught.VERSION, "labels": labels, "reset": since}
    fs.write_atomic(learned.weights_path(root), fastjson.dumps(personal.data(made)).encode(), durable=False)
    fs.write_atomic(learned.decisions_path(root), fastjson.dumps(row).encode(), durable=False)
    return made


def _take(labels: dict[str, str], journal: Journal, each: Transaction) -> None:
    """Take in the decisions of a transaction, or take them back if it was undone."""
    try:
        changes = [change for change in journal.changes_of(each.record) if isinstance(change, TextEdit)]
    except (MemtuiError, OSError, ValueError):
        return  # its contents are gone: what was known of it stays
    rows = [row for change in changes if change.path.endswith(FORGOTTEN) for row in change.added.splitlines()]
    never = any(refused.is_never(fastjson.loads_dict(row)) for row in rows)
    label = decisions.APPROVED if each.op == "approve" else decisions.NEVER if never else decisions.REJECTED
    for change in changes:
        if not change.path.endswith(UPDATES):
            continue
        for entry in inbox_format.parse(change.removed):
            if each.state == "done":
                labels.pop(entry.id, None)
                labels[entry.id] = label
            elif each.state == "undone":
                labels.pop(entry.id, None)


def _validation() -> list[personal.Validated]:
    try:
        return personal.validation()
    except (OSError, ValueError):
        return []
