"""The journal: every change to a person's files is one transaction that survives a crash and can be undone.

Write ahead: the contents before and after go to `trash/` under their hash, then one line says what is intended, then
the files change one by one, then a line says that it is done. A process killed anywhere in between leaves an intent
that the next one finishes or takes back. Lines of journal.jsonl (docs/file-formats.md): an intent, and its end.
"""

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from memtui.core import changes as ch
from memtui.core import clock, delivery, fastjson, fs, ids, inbox, recovery
from memtui.core.changes import Change, FileChange, TextEdit, TrustEdit
from memtui.core.errors import ConflictError, MemtuiError, NotFoundError
from memtui.core.history import Ledger, Transaction, readable

VERSION = 1
LOCK_SECONDS = 10.0


class Journal:
    """The journal of one memtui root. `by` names the writer in the records, `now` is the clock (seconds)."""

    def __init__(self, root: str, by: str = "cli", now: Callable[[], float] = clock.now) -> None:
        self.root = root
        self.by = by
        self.now = now
        self.path = root + "/journal.jsonl"
        self.trash = root + "/trash"
        self.lock_path = root + "/run/store.lock"
        self._group = ""

    # Contents

    def image_path(self, digest: str) -> str:
        """Where a content lies in the trash."""
        return f"{self.trash}/{digest}"

    def image(self, digest: str) -> bytes:
        """A kept content. Raises NotFoundError once it was purged, MemtuiError if it can't be read."""
        try:
            data = fs.read_bytes(self.image_path(digest))
        except FileNotFoundError as error:
            raise NotFoundError("The old content was purged from the trash.", "It can't be brought back.") from error
        except OSError as error:
            raise ch.storage_error(error, self.image_path(digest)) from error
        if ids.digest(data) != digest:
            raise MemtuiError(f"{self.image_path(digest)} is damaged", "It can't be brought back; nothing was changed.")
        return data

    def _keep(self, data: bytes | None) -> str | None:
        if data is None:
            return None
        digest = ids.digest(data)
        path = self.image_path(digest)
        try:
            # One that is there but damaged (a lying disk) is written anew.
            if ch.read(path) != data:
                fs.write_atomic(path, data)
        except OSError as error:
            raise ch.storage_error(error, path) from error
        return digest

    # Records

    def _intent(
        self, transaction: str, op: str, changes: Sequence[Change], summary: str, **more: Any
    ) -> dict[str, Any]:
        """The intent's record; the images are written. Raises ConflictError if a file is not as the changes expect."""
        contents: dict[str, bytes | None] = {}
        rows: list[dict[str, Any]] = []
        for change in changes:
            path = change.path
            if isinstance(change, TrustEdit):
                for trusted in change.texts:
                    self._keep(trusted)
                given = {"removed": dict(change.removed), "added": dict(change.added), "always": list(change.always)}
                rows.append({"path": path, "trust": {"directory": change.directory, **given}})
                continue
            if path not in contents:
                try:
                    contents[path] = ch.read(path)
                except OSError as error:
                    raise ch.storage_error(error, path) from error
            present = contents[path]
            if isinstance(change, FileChange):
                if present != change.before:
                    raise ch.conflict(path, taken=change.before is None)
                contents[path] = change.after
                row: dict[str, Any] = {"path": path, "before": self._keep(change.before)}
                row["after"] = self._keep(change.after)
                row |= {} if change.mode is None else {"mode": change.mode}
                rows.append(row | ({} if change.times == (None, None) else {"times": list(change.times)}))
                continue
            text = inbox.decode(present or b"")
            contents[path] = after = inbox.encode(change.apply(text)) or None
            rows.append(
                {
                    "path": path,
                    "removed": self._keep(inbox.encode(change.removed)),
                    "added": self._keep(inbox.encode(change.added)),
                    "anchor": None if change.anchor is None else self._keep(inbox.encode(change.anchor)),
                    "at": change.at,
                    **({} if change.mode is None else {"mode": change.mode}),
                    "was": ids.digest(present) if present else None,
                    "now": ids.digest(after) if after else None,
                    "count": change.count(text),
                }
            )
        head = {"v": VERSION, "id": transaction, "time": clock.iso(self.now()), "state": "intent", "by": self.by}
        return {**head, "op": op, "summary": summary, **more, "changes": rows}

    def changes_of(self, record: Mapping[str, Any]) -> list[Change]:
        """The changes of an intent. Raises NotFoundError if a content was purged."""
        found: list[Change] = []
        for row in record["changes"]:
            if "trust" in row:
                given = row["trust"]
                always = (given["always"][0], given["always"][1])
                found.append(TrustEdit(row["path"], given["directory"], given["removed"], given["added"], always))
            elif "was" in row:
                removed, added = (inbox.decode(self.image(row[key])) for key in ("removed", "added"))
                anchor = None if row["anchor"] is None else inbox.decode(self.image(row["anchor"]))
                found.append(TextEdit(row["path"], removed, added, anchor, row.get("at"), row.get("mode")))
            else:
                before, after = (row[key] and self.image(row[key]) for key in ("before", "after"))
                times = row.get("times", (None, None))
                found.append(FileChange(row["path"], before, after, row.get("mode"), (times[0], times[1])))
        return found

    def _append(self, record: Mapping[str, Any]) -> None:
        try:
            fs.append(self.path, fastjson.dumps(dict(record)).encode() + b"\n", durable=True)
        except OSError as error:
            raise ch.storage_error(error, self.path) from error

    def _end(self, transaction: str, state: str, **more: Any) -> None:
        self._append({"v": VERSION, "id": transaction, "time": clock.iso(self.now()), "state": state, **more})

    def _size(self) -> int:
        try:
            return os.stat(self.path).st_size
        except OSError:
            return 0

    # Transactions

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock on all changes, with what a killed process left behind put right. Raises MemtuiError."""
        lock = fs.Lock(self.lock_path, LOCK_SECONDS)
        try:
            lock.__enter__()
        except OSError as error:
            raise ch.storage_error(error, self.lock_path) from error
        try:
            self._recover()
            yield
        finally:
            lock.__exit__()

    def run(self, op: str, changes: Sequence[Change], summary: str, **more: Any) -> str:
        """Make all the changes or none, as one undo step; the transaction's id.

        `more` goes into the record as it is. Raises ConflictError if a file is not as a change expects it, MemtuiError
        if one can't be written; either way nothing is changed.
        """
        with self.locked():
            return self._run(op, changes, summary, **({"group": self._group} if self._group else {}), **more)

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """What is changed inside is one step for undo and redo."""
        self._group = ids.new_id(self.now())
        try:
            yield
        finally:
            self._group = ""

    def _run(self, op: str, changes: Sequence[Change], summary: str, **more: Any) -> str:
        transaction = ids.new_id(self.now())
        size = self._size()
        changes = [_as_it_was(change) for change in changes]
        record = self._intent(transaction, op, changes, summary, **more)
        try:
            self._append(record)
        except BaseException:
            self._cut(size)  # a part of the line may stand there
            raise
        path = self.root
        try:
            for change in changes:
                path = change.path
                _make(change)
        except BaseException as error:
            self._take_back(record, changes, size)
            if isinstance(error, OSError):
                raise ch.storage_error(error, path) from error
            raise
        # Without room for this line the next start finds all changes made, and writes it.
        with contextlib.suppress(MemtuiError):
            self._end(transaction, "done")
        return transaction

    def _take_back(self, record: Mapping[str, Any], changes: Sequence[Change], size: int) -> None:
        """Undo the changes that were made; if even that fails the intent stays for the next start."""
        try:
            made = [
                change
                for change, state in zip(changes, recovery.states(record, changes), strict=True)
                if state == "made"
            ]
            for change in reversed(made):
                with contextlib.suppress(ConflictError):
                    _make(change.inverse())
        except OSError:
            return
        try:
            self._end(record["id"], "back")
        except MemtuiError:
            self._cut(size)

    def _cut(self, size: int) -> None:
        """Take the last line off again; that needs no space on a full disk."""
        with contextlib.suppress(OSError):
            os.truncate(self.path, size)

    # After a crash

    def unfinished(self) -> dict[str, Any] | None:
        """The intent without an end that a killed process left, or that another one is at work on."""
        try:
            for line in delivery.lines_backwards(self.path):
                record = fastjson.loads_dict(line)
                if record.get("v") == VERSION and record.get("state") in {"done", "back"}:
                    return None
                if record.get("state") == "intent" and isinstance(record.get("id"), str) and readable(record):
                    return record
        except OSError:
            return None
        return None

    def recover(self) -> None:
        """Finish or take back what a killed process left. Raises MemtuiError; does nothing if nothing is left."""
        if self.unfinished() is not None:
            with self.locked():
                pass

    def _recover(self) -> None:
        record = self.unfinished()
        if record is None:
            return
        recovery.sweep(self.trash, record)
        transaction = record["id"]
        left = []
        try:
            for digest in record.get("drop", ()):
                fs.unlink(self.image_path(digest))
            changes = self.changes_of(record)
            states = recovery.states(record, changes)
            last = max((i for i, state in enumerate(states) if state == "made"), default=-1)
            # A foreign content after the last change that was made: it was never ours to overwrite.
            forward = all(state == "open" for state in states[last + 1 :])
            if forward:
                todo = changes[last + 1 :]
            else:
                made = [change for change, state in zip(changes, states, strict=True) if state == "made"]
                todo = [change.inverse() for change in reversed(made)]
            for change in todo:
                try:
                    _make(change)
                except ConflictError as error:
                    left.append(error.message)
        except OSError as error:
            raise ch.storage_error(error, error.filename or self.root) from error
        except NotFoundError as error:  # someone emptied the trash
            forward, left = False, [error.message]
        self._end(transaction, "done" if forward and not left else "back", **({"left": left} if left else {}))

    # Undo

    def ledger(self) -> Ledger:
        """All transactions, and which of them can be undone or redone."""
        return Ledger.read(self.path)

    def undo(self, transaction: str | None = None) -> Transaction:
        """Take back the last operation that still stands, or the one named. Raises NotFoundError if there is none,
        ConflictError naming the file if one was changed since."""
        with self.locked():
            ledger = self.ledger()
            found = [ledger.to_undo(transaction)] if transaction else ledger.together(ledger.undoable)
            for each in found or [ledger.to_undo()]:
                changes = [change.inverse() for change in reversed(self.changes_of(each.record))]
                self._again("undo", each, changes)
            return _as_one(found)

    def redo(self) -> Transaction:
        """Make the operation undone last again. Raises as `undo`."""
        with self.locked():
            ledger = self.ledger()
            found = ledger.together(ledger.redoable)
            for each in found or [ledger.to_redo()]:
                self._again("redo", each, self.changes_of(each.record))
            return _as_one(found)

    def _again(self, op: str, found: Transaction, changes: Sequence[Change]) -> None:
        try:
            self._run(op, changes, found.summary, of=found.id)
        except ConflictError as error:
            raise ConflictError(
                f"Can't {op} “{found.summary}”: {error.message}", "That file was changed since; nothing was written."
            ) from error

    def purge(self, op_summary: str, drop: Sequence[str], **more: Any) -> str:
        """Remove contents from the trash for good, which no undo brings back; the transaction's id."""
        with self.locked():
            transaction = ids.new_id(self.now())
            self._append(self._intent(transaction, "purge", [], op_summary, drop=list(drop), **more))
            try:
                for digest in drop:
                    fs.unlink(self.image_path(digest))
            except OSError as error:
                raise ch.storage_error(error, self.trash) from error
            self._end(transaction, "done")
            return transaction


def _as_one(found: Sequence[Transaction]) -> Transaction:
    """The first, its summary naming how many there were."""
    first = found[0]
    return first if len(found) == 1 else dataclasses.replace(first, summary=f"{first.op} {len(found)} memories")


def _as_it_was(change: Change) -> Change:
    """A file that goes, or may go with its last lines, keeps its permission bits for its return, and every content that
    goes its time."""
    if isinstance(change, TextEdit) and change.mode is None and not change.added:
        with contextlib.suppress(OSError):
            return dataclasses.replace(change, mode=os.stat(change.path).st_mode & 0o7777)
    if isinstance(change, FileChange) and change.before is not None:
        with contextlib.suppress(OSError):
            found = os.stat(change.path)
            mode = found.st_mode & 0o7777 if change.after is None and change.mode is None else change.mode
            return dataclasses.replace(change, mode=mode, times=(found.st_mtime_ns, change.times[1]))
    return change


def _make(change: Change) -> None:
    if isinstance(change, FileChange):
        ch.replace(change)
    elif isinstance(change, TrustEdit):
        ch.retrust(change)
    else:
        ch.rewrite(change)
