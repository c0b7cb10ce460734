"""What the journal tells: the transactions in order, which can be undone and redone, and what lies in the trash."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from memtui.core import fastjson, fs
from memtui.core.errors import NotFoundError

VERSION = 1


def readable(record: Mapping[str, Any]) -> bool:
    """Whether an intent has the shape that this version writes: nothing else may steer what recovery and undo do."""
    rows, drop = record.get("changes"), record.get("drop", [])
    if record.get("v") != VERSION or not isinstance(rows, list) or not isinstance(drop, list):
        return False
    return all(_is_digest(digest) for digest in drop) and all(_is_row(row) for row in rows)


def _is_row(row: object) -> bool:
    if not isinstance(row, dict) or not str(row.get("path")).startswith("/"):
        return False
    if "trust" in row:
        return _is_trust(row["trust"])
    if "was" in row:
        texts = all(_is_digest(row.get(key)) for key in ("removed", "added"))
        numbers = isinstance(row.get("count"), int) and isinstance(row.get("at", 0), int | None)
        return texts and numbers and (row.get("anchor") is None or _is_digest(row["anchor"]))
    times = row.get("times", [None, None])
    if not isinstance(times, list) or len(times) != 2 or not all(isinstance(time, int | None) for time in times):
        return False
    return all(row.get(key) is None or _is_digest(row[key]) for key in ("before", "after"))


def _is_trust(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("directory"), str):
        return False
    tables = (value.get("removed"), value.get("added"))
    if not all(isinstance(table, dict) and all(isinstance(name, str) for name in table.values()) for table in tables):
        return False
    always = value.get("always")
    return isinstance(always, list) and len(always) == 2 and all(isinstance(each, bool) for each in always)


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and len(value) == 64 and not value.strip("0123456789abcdef")


@dataclasses.dataclass
class Transaction:
    """One operation. `state`: done, undone, purged, back (taken back after a crash or an error) or intent (at work).

    `of` is the transaction that an undo, redo, restore or purge is about; `paths` are the files it changes.
    """

    id: str
    time: str
    op: str
    by: str
    summary: str
    paths: list[str]
    of: str | None
    state: str
    record: Mapping[str, Any] = dataclasses.field(repr=False)


class Ledger:
    """The journal, read: `transactions` oldest first, `skipped` lines that are torn or unknown."""

    def __init__(self) -> None:
        self.transactions: dict[str, Transaction] = {}
        self.undoable: list[str] = []
        self.redoable: list[str] = []
        self.trashed: dict[str, None] = {}
        self.purged: set[str] = set()
        self.skipped = 0

    @classmethod
    def read(cls, path: str) -> "Ledger":
        """Read a journal; a missing one is empty. Raises OSError."""
        ledger = cls()
        for line in fs.read_or_empty(path).split(b"\n"):
            if line.strip() and not ledger._take(fastjson.loads_dict(line)):
                ledger.skipped += 1
        return ledger

    def _take(self, record: dict[str, Any]) -> bool:
        key, state = record.get("id"), record.get("state")
        if record.get("v") != VERSION or not isinstance(key, str):
            return False
        if state == "intent":
            if not readable(record):
                return False
            rows = record["changes"]
            when, op, by, summary = (str(record.get(name, "")) for name in ("time", "op", "by", "summary"))
            paths = list(dict.fromkeys(row["path"] for row in rows))
            found = Transaction(key, when, op, by, summary, paths, record.get("of"), "intent", record)
            self.transactions[key] = found
            return True
        known = self.transactions.get(key)
        if known is None or state not in {"done", "back"}:
            return False
        if known.state == "intent":
            known.state = state
            if state == "done":
                self._done(known)
        return True

    def _done(self, found: Transaction) -> None:
        of = found.of or ""
        target = self.transactions.get(of)
        if found.op == "undo":
            _drop(self.undoable, of)
            self.redoable.append(of)
            if target is not None:
                target.state = "undone"
                self._trash(target, undone=True)
        elif found.op == "redo":
            _drop(self.redoable, of)
            self.undoable.append(of)
            if target is not None:
                target.state = "done"
                self._trash(target, undone=False)
        elif found.op == "purge":
            gone = [key for key in found.record.get("gone", ()) if isinstance(key, str)]
            for key in (of, *gone):
                self.purged.add(key)
                self.trashed.pop(key, None)
                _drop(self.undoable, key)
                _drop(self.redoable, key)
                if key in self.transactions:
                    self.transactions[key].state = "purged"
        else:
            self.undoable.append(found.id)
            self.redoable.clear()
            self._trash(found, undone=False)

    def _trash(self, found: Transaction, *, undone: bool) -> None:
        """Keep the list of what lies in the trash: a delete puts in, a restore takes out, an undo the reverse."""
        if found.op == "delete":
            key, inside = found.id, not undone
        elif found.op == "restore" and found.of:
            key, inside = found.of, undone
        else:
            return
        if inside and key not in self.purged:
            self.trashed[key] = None
        else:
            self.trashed.pop(key, None)

    def to_undo(self, key: str | None = None) -> Transaction:
        """The transaction that an undo takes back: the last that stands, or the one named. Raises NotFoundError."""
        if key is not None:
            found = self.transactions.get(key)
            if found is None or key not in self.undoable:
                why = {"undone": "was undone already", "purged": "was purged"}
                told = "is not in the journal" if found is None else why.get(found.state, "can't be undone")
                raise NotFoundError(f"{key} {told}", "See the history for what can be undone.")
            return found
        if not self.undoable:
            raise NotFoundError("There is nothing to undo.")
        return self.transactions[self.undoable[-1]]

    def together(self, keys: list[str]) -> list[Transaction]:
        """The last of `undoable` or `redoable` and those before it that were made together with it, the last first;
        empty for none."""
        found: list[Transaction] = []
        for key in reversed(keys):
            each = self.transactions[key]
            if found and (not found[0].record.get("group") or each.record.get("group") != found[0].record["group"]):
                break
            found.append(each)
        return found

    def to_redo(self) -> Transaction:
        """The transaction undone last. Raises NotFoundError."""
        if not self.redoable:
            raise NotFoundError("There is nothing to redo.")
        return self.transactions[self.redoable[-1]]


def _drop(keys: list[str], key: str) -> None:
    if key in keys:
        keys.remove(key)
