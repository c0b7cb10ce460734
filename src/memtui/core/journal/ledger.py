"""The journal as read: the transactions in order, which of them can be undone and redone, what lies in the trash."""

import dataclasses
import errno
import functools
import gc
import os
import stat
import threading
from collections.abc import Mapping
from typing import Any

from memtui.core.base import fastjson
from memtui.core.base.errors import NotFoundError
from memtui.core.journal.records import VERSION, readable

BLOCK = 1 << 18
# So many of the last bytes that were read tell whether the file is still the same one.
TAIL = 64
MUCH = 1 << 20
TURNS = frozenset({"undo", "redo"})


@dataclasses.dataclass
class Transaction:
    """One operation. `state`: done, undone, purged, back (taken back after a crash or an error) or intent (at work).

    `of` is the transaction that an undo, redo, restore or purge is about; `paths` are the files it changes. `actor`
    is where it was made, `reversal` the last undo or redo of it.
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
    reversal: "Transaction | None" = dataclasses.field(default=None, repr=False)

    @property
    def actor(self) -> str:
        """The place where it was made, as `actor.here` names it; empty for one of an older version."""
        found = self.record.get("seat")
        return found if isinstance(found, str) else ""

    @property
    def is_change(self) -> bool:
        """Whether it is a change, and not the undoing of one."""
        return self.op not in TURNS

    @property
    def latest(self) -> "Transaction":
        """The last that was done about it: itself, or its last undo or redo."""
        return self.reversal or self


class Ledger:
    """The journal, read: `transactions` oldest first, `skipped` lines that are torn or unknown. It remembers how far it
    read: `follow` reads what was appended since."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._one = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self.transactions: dict[str, Transaction] = {}
        self.undoable: list[str] = []
        self.redoable: list[str] = []
        self.trashed: dict[str, None] = {}
        self.purged: set[str] = set()
        self.skipped = 0
        self._at = 0
        self._file = (0, 0)
        self._tail = b""

    @classmethod
    def read(cls, path: str) -> "Ledger":
        """Read a journal; a missing one is empty. Raises OSError."""
        return cls(path).follow()

    def follow(self) -> "Ledger":
        """Read what was appended; all of it, where the file is another one, or was cut. Raises OSError."""
        with self._one:
            try:
                fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            except FileNotFoundError:
                self._forget()
                return self
            try:
                found = os.fstat(fd)
                if not stat.S_ISREG(found.st_mode):
                    raise OSError(errno.EINVAL, "not a regular file", self.path)
                size = len(self._tail)
                same = (found.st_dev, found.st_ino) == self._file
                if not same or os.pread(fd, size, self._at - size) != self._tail:
                    self._forget()
                    self._file = (found.st_dev, found.st_ino)
                before = self._at
                self._read_on(fd)
            finally:
                os.close(fd)
            if self._at - before > MUCH:
                gc.freeze()  # else each collection goes through all of it, and a key waits for that
            return self

    def _read_on(self, fd: int) -> None:
        rest = b""
        while block := os.pread(fd, BLOCK, self._at + len(rest)):
            *lines, left = (rest + block).split(b"\n")
            for line in lines:
                self._line(line)
                self._passed(line + b"\n")
            rest = left
        # A last line without its end is finished later, or was torn, unless all of it is there.
        if rest and fastjson.loads_dict(rest):
            self._line(rest)
            self._passed(rest)

    def _line(self, line: bytes) -> None:
        if line.strip() and not self._take(fastjson.loads_dict(line)):
            self.skipped += 1

    def _passed(self, data: bytes) -> None:
        self._at += len(data)
        self._tail = (self._tail + data)[-TAIL:]

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
        if not found.is_change:
            if target is not None:
                undone = found.op == "undo"
                _drop(self.undoable if undone else self.redoable, of)
                (self.redoable if undone else self.undoable).append(of)
                target.state, target.reversal = "undone" if undone else "done", found
                self._trash(target, undone=undone)
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

    def all(self) -> list[Transaction]:
        """The transactions as of now: another thread may read on meanwhile."""
        return list(self.transactions.values())

    def changes(self) -> list[Transaction]:
        """The changes that were made, newest first."""
        return [each for each in reversed(self.all()) if each.is_change and each.state != "intent"]

    def available(self, op: str) -> list[str]:
        """The transactions that can be undone or redone, by id, the next last."""
        return self.redoable if op == "redo" else self.undoable

    def next_step(self, op: str, key: str | None = None) -> list[Transaction]:
        """The transactions that an undo takes back, or a redo makes again, in that order: the last and those before it
        that were made together with it; of an undo, or the one named. Raises NotFoundError."""
        if key is not None:
            return [self._named(key)]
        keys = self.available(op)
        if not keys:
            raise NotFoundError(f"There is nothing to {op}.")
        found: list[Transaction] = []
        for each in map(self.transactions.__getitem__, reversed(keys)):
            if found and (not found[0].record.get("group") or each.record.get("group") != found[0].record["group"]):
                break
            found.append(each)
        return found

    def _named(self, key: str) -> Transaction:
        found = self.transactions.get(key)
        if found is None or key not in self.undoable:
            why = {"undone": "was undone already", "purged": "was purged"}
            told = "is not in the journal" if found is None else why.get(found.state, "can't be undone")
            raise NotFoundError(f"{key} {told}", "See the history for what can be undone.")
        return found


@functools.cache
def shared(path: str) -> Ledger:
    """The one ledger of a journal in this process, so that it is read once."""
    return Ledger(path)


def _drop(keys: list[str], key: str) -> None:
    """Take it out of a list; it mostly is the last."""
    for place in range(len(keys) - 1, -1, -1):
        if keys[place] == key:
            del keys[place]
            return
