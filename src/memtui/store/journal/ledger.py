"""The journal as read: its transactions in order, which of them can be undone and redone, and what is in the trash."""

import dataclasses
import errno
import functools
import gc
import os
import stat
import threading
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from memtui.base import fastjson_hot, ids_hot
from memtui.base.errors import NotFoundError
from memtui.client import locate_hot
from memtui.inbox import format_hot

VERSION = 1
Record = Mapping[str, Any]
Row = Mapping[str, Any]
BLOCK = 1 << 18
# The last bytes that were read are compared on the next read, to see whether the file is still the same.
TAIL = 64
# After reading this many bytes at once, the garbage collector is told to leave them alone.
FREEZE_BYTES = 1 << 20
# Files that changes of many memories share.
SHARED = frozenset({locate_hot.INDEX_NAME, *format_hot.FILES.values()})
REVERSALS = frozenset({"undo", "redo"})
# By which key the row of a change tells its kind, as in `journal.KINDS`.
KIND_KEYS = ("before", "was", "trust", "cut", "entry", "pairs", "versions", "beside")
# Who makes changes that nobody asked for one by one: an undo without a name steps over them, and a redo outlives them.
MODEL = "model"
# The operation of what the model changed with tools of its own.
RUN = "run"
# Memories of a team that came. An undo would take them from the whole team, and no session got them yet.
FROM_TEAM = "team"


def readable(record: Record) -> bool:
    """Return whether an intent is of this version and has only known kinds of changes: nothing else is acted on."""
    rows = record.get("changes")
    is_known = record.get("v") == VERSION and isinstance(rows, list) and all(map(_is_row, rows))
    return is_known and all(map(_is_digest, record.get("drop", [])))


def _is_row(row: object) -> bool:
    return isinstance(row, dict) and str(row.get("path")).startswith("/") and any(key in row for key in KIND_KEYS)


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and len(value) == 64 and not value.strip("0123456789abcdef")


_process_id = functools.cache(lambda _: ids_hot.digest(os.urandom(16), 8))


def here(by: str) -> str:
    """Return an id of the place where a change is made: one for a terminal's commands, else the process's own."""
    if by == "cli":
        return ids_hot.digest(f"{os.uname().nodename} {os.getsid(0)}", 8)
    return _process_id(os.getpid())


class MemoryWrite(NamedTuple):
    """A memory's file that a change wrote: hashes, times (ns) before and after; `whole`: not only lines that follow."""

    path: str
    before: str
    after: str
    times: tuple[int, int]
    whole: bool


@dataclasses.dataclass
class Transaction:
    """One operation. `state`: done, undone, purged, back (taken back), intent (in progress); `of`: the transaction that
    an undo, redo, restore or purge is about; `reversal`: its last undo or redo."""

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
        """The place where it was made, as `here` returns it."""
        seat = self.record.get("seat")
        return seat if isinstance(seat, str) else ""

    @property
    def group(self) -> str:
        """The name that it shares with the others that were made together with it; empty if it was made alone."""
        name = self.record.get("group")
        return name if isinstance(name, str) else ""

    @functools.cached_property
    def writes(self) -> list[MemoryWrite]:
        """The memories that it wrote, in its order."""
        files = []
        for row in self.record["changes"]:
            path = row["path"]
            if not locate_hot.is_memory_name(path[path.rfind("/") + 1 :]):
                continue
            if "before" in row:
                was, now = row.get("times", (0, 0))
                files.append(MemoryWrite(path, row["before"] or "", row["after"] or "", (was or 0, now or 0), True))
            elif "anchor" in row and row.get("was") and row.get("now"):
                files.append(MemoryWrite(path, row["was"], row["now"], (0, 0), False))
        return files

    @property
    def origins(self) -> dict[str, str]:
        """By the paths of memories that it made, those that they had before."""
        removed = [file.path for file in self.writes if not file.after]
        created = [file.path for file in self.writes if not file.before]
        heirs = self.record.get("became")  # of a consolidation, which makes and removes many files in one step
        if heirs:
            return {heirs[path]: path for path in reversed(removed) if heirs.get(path) in created}
        return {created[0]: removed[0]} if len(removed) == len(created) == 1 else {}

    @property
    def is_change(self) -> bool:
        """Whether it is a change of its own, not an undo or redo of another."""
        return self.op not in REVERSALS

    @property
    def latest(self) -> "Transaction":
        """Its last undo or redo, or itself if there was none."""
        return self.reversal or self


class Ledger:
    """The journal as read: `transactions`, `undoable` and `redoable` ids (next last), `trashed`, `skipped` lines."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._reset()

    def _reset(self) -> None:
        self.transactions: dict[str, Transaction] = {}
        self.undoable: list[str] = []
        self.redoable: list[str] = []
        self.trashed: dict[str, None] = {}
        self.purged: set[str] = set()
        self.skipped = 0
        self._at = 0
        self._file = (0, 0)
        self._tail = b""

    def follow(self) -> "Ledger":
        """Read what was appended, or all if the file was replaced or cut. A missing file is empty. Raises OSError."""
        with self._lock:
            try:
                fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            except FileNotFoundError:
                self._reset()
                return self
            try:
                status = os.fstat(fd)
                if not stat.S_ISREG(status.st_mode):
                    raise OSError(errno.EINVAL, "not a regular file", self.path)
                size = len(self._tail)
                same = (status.st_dev, status.st_ino) == self._file
                if not same or os.pread(fd, size, self._at - size) != self._tail:
                    self._reset()
                    self._file = (status.st_dev, status.st_ino)
                before = self._at
                self._read_appended(fd)
            finally:
                os.close(fd)
            if self._at - before > FREEZE_BYTES:
                gc.freeze()  # else each collection goes through all of it, and a key press waits for that
            return self

    def _read_appended(self, fd: int) -> None:
        rest = b""
        while block := os.pread(fd, BLOCK, self._at + len(rest)):
            *lines, tail = (rest + block).split(b"\n")
            for line in lines:
                self._read_line(line, b"\n")
            rest = tail
        # A last line without a line end is complete, still being written, or torn; only a complete one is read.
        if rest and fastjson_hot.loads_dict(rest):
            self._read_line(rest, b"")

    def _read_line(self, line: bytes, end: bytes) -> None:
        if line.strip() and not self._add(fastjson_hot.loads_dict(line)):
            self.skipped += 1
        self._at += len(line) + len(end)
        self._tail = (self._tail + line + end)[-TAIL:]

    def _add(self, record: dict[str, Any]) -> bool:
        key, state = record.get("id"), record.get("state")
        if record.get("v") != VERSION or not isinstance(key, str):
            return False
        if state == "intent":
            if not readable(record):
                return False
            rows = record["changes"]
            when, op, by, summary = (str(record.get(name, "")) for name in ("time", "op", "by", "summary"))
            paths = list(dict.fromkeys(row["path"] for row in rows))
            transaction = Transaction(key, when, op, by, summary, paths, record.get("of"), "intent", record)
            self.transactions[key] = transaction
            return True
        other = self.transactions.get(key)
        if other is None or state not in {"done", "back"}:
            return False
        if other.state == "intent":
            other.state = state
            if state == "done":
                self._done(other)
        return True

    def _done(self, transaction: Transaction) -> None:
        of = transaction.of or ""
        target = self.transactions.get(of)
        if not transaction.is_change:
            if target is not None:
                undone = transaction.op == "undo"
                _remove(self.undoable if undone else self.redoable, of)
                (self.redoable if undone else self.undoable).append(of)
                target.state, target.reversal = "undone" if undone else "done", transaction
                self._trash(target, undone=undone)
        elif transaction.op == "purge":
            keys_gone = [key for key in transaction.record.get("gone", ()) if isinstance(key, str)]
            for key in (of, *keys_gone):
                self.purged.add(key)
                self.trashed.pop(key, None)
                _remove(self.undoable, key)
                _remove(self.redoable, key)
                if key in self.transactions:
                    self.transactions[key].state = "purged"
        elif transaction.op != FROM_TEAM:
            self.undoable.append(transaction.id)
            if transaction.by != MODEL:
                self.redoable.clear()
            self._trash(transaction, undone=False)

    def _trash(self, transaction: Transaction, *, undone: bool) -> None:
        """Update `trashed`: a delete adds to it, a restore removes from it, an undo does the reverse."""
        if transaction.op == "delete":
            key, inside = transaction.id, not undone
        elif transaction.op == "restore" and transaction.of:
            key, inside = transaction.of, undone
        else:
            return
        if inside and key not in self.purged:
            self.trashed[key] = None
        else:
            self.trashed.pop(key, None)

    def all(self) -> list[Transaction]:
        """Return the transactions, oldest first, as a copy: another thread may call `follow` meanwhile."""
        return list(self.transactions.values())

    def changes(self) -> list[Transaction]:
        return [step for step in reversed(self.all()) if step.is_change and step.state != "intent"]

    def later(self, transaction: Transaction) -> Transaction | None:
        """Return the newest undoable change after one of the files that it wrote as a whole, or None."""
        own = {row["path"] for row in transaction.record["changes"] if "before" in row or "cut" in row}
        after = map(self.transactions.__getitem__, reversed(self.undoable[self.undoable.index(transaction.id) + 1 :]))
        return next((step for step in after if own.intersection(step.paths)), None)

    def available(self, op: str) -> list[str]:
        """Return the ids of the transactions that can be undone or redone, the next one last."""
        return self.redoable if op == "redo" else self.undoable

    def next_step(
        self, op: str, key: str | None = None, is_past: Callable[[Transaction], bool] = lambda _: False
    ) -> list[Transaction]:
        """Return what the next undo or redo is about, or `key`, a change or group; undo passes those that `is_past`."""
        if key is not None:
            group = [self.transactions[transaction_id] for transaction_id in reversed(self.available(op))]
            return [transaction_id for transaction_id in group if transaction_id.group == key] or [self._named(op, key)]
        step: list[Transaction] = []
        for transaction_id in map(self.transactions.__getitem__, reversed(self.available(op))):
            if op == "undo" and (transaction_id.by == MODEL or is_past(transaction_id)):
                continue
            if step and (not step[0].group or transaction_id.group != step[0].group):
                break
            step.append(transaction_id)
        if not step:
            raise NotFoundError(f"There is nothing to {op}.")
        return step

    def _named(self, op: str, key: str) -> Transaction:
        transaction = self.transactions.get(key)
        if transaction is None or key not in self.available(op):
            why = {"undone": "was undone already", "purged": "was deleted for good"} if op == "undo" else {}
            reason = why.get(transaction.state, f"can't be {op}ne") if transaction else "is not in the journal"
            raise NotFoundError(f"The change {key[-6:]} {reason}.", "`memtui undo --list` lists the changes.")
        return transaction


@functools.cache
def shared(path: str) -> Ledger:
    """Return the one ledger of a journal in this process, so that the journal is read once."""
    return Ledger(path)


def _remove(keys: list[str], key: str) -> None:
    """Remove the last occurrence from a list: searched from the end, where it mostly is."""
    for place in range(len(keys) - 1, -1, -1):
        if keys[place] == key:
            del keys[place]
            return
