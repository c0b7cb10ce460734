"""The journal: every change to a person's files is one transaction that survives a crash and can be undone.

Write ahead: the contents before and after go to `trash/` under their hash, then one line says what is intended, then
the files change one by one, then a line says that it is done. A process killed anywhere in between leaves an intent
that the next one finishes or takes back. Lines of journal.jsonl (docs/file-formats.md): an intent, and its end.
"""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from memtui.core.base import backwards, clock, fastjson, fs, ids
from memtui.core.base.errors import ConflictError, MemtuiError, NotFoundError
from memtui.core.base.storage import storage_error
from memtui.core.journal import actor, records, recovery
from memtui.core.journal.changes.change import Change
from memtui.core.journal.contents import Contents
from memtui.core.journal.ledger import Ledger
from memtui.core.journal.records import VERSION, readable
from memtui.core.places import catalog

LOCK_SECONDS = 10.0
BEGUN_PURGE = "What was begun is finished by the next memtui command."
BEGUN = "What was begun is taken back by the next memtui command."


class Journal:
    """The journal of one memtui root. `by` names the writer in the records, `now` is the clock (seconds), `ledger` what
    was read of it already."""

    def __init__(
        self, root: str, by: str = "cli", now: Callable[[], float] = clock.now, ledger: Ledger | None = None
    ) -> None:
        self.root = root
        self.contents = Contents(root)
        self.by = by
        self.now = now
        self.path = root + "/journal.jsonl"
        self.lock_path = root + "/run/store.lock"
        self._ledger = ledger or Ledger(self.path)
        self._group = ""

    # Records

    def _intent(
        self, transaction: str, op: str, changes: Sequence[Change], summary: str, **more: Any
    ) -> dict[str, Any]:
        """The intent's record; the images are written. Raises ConflictError if a file is not as the changes expect."""
        rows = records.rows(changes, self.contents.keep)
        head = {"v": VERSION, "id": transaction, "time": clock.iso(self.now()), "state": "intent", "by": self.by}
        return {**head, "seat": actor.here(self.by), "op": op, "summary": summary, **more, "changes": rows}

    def changes_of(self, record: Mapping[str, Any]) -> list[Change]:
        """The changes of an intent. Raises NotFoundError if a content was purged."""
        return records.changes_of(record, self.contents.read)

    def _append(self, record: Mapping[str, Any]) -> None:
        try:
            fs.append(self.path, fastjson.dumps(dict(record)).encode() + b"\n", durable=True)
        except OSError as error:
            raise storage_error(error, self.path) from error

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
            raise storage_error(error, self.lock_path) from error
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
            return self.run_locked(op, changes, summary, **({"group": self._group} if self._group else {}), **more)

    @contextlib.contextmanager
    def together(self, group: str = "") -> Iterator[None]:
        """Make all that is changed inside one step of undo and redo, with what was changed before in the same
        `group`."""
        self._group = group or ids.new_id(self.now())
        try:
            yield
        finally:
            self._group = ""

    def run_locked(self, op: str, changes: Sequence[Change], summary: str, **more: Any) -> str:
        """Do what `run` does, with the lock held already."""
        transaction = ids.new_id(self.now())
        size = self._size()
        changes = [change.remembering() for change in changes]
        record = self._intent(transaction, op, changes, summary, **more)
        try:
            self._append(record)
        except BaseException:
            self._cut(size)  # a part of the line may stand there
            raise
        path = self.root
        try:
            for number, change in enumerate(changes):
                path = change.path
                self._make(record, changes, number)
                if path.endswith(".md") and len(changes) <= catalog.AT_ONCE:
                    catalog.touch(self.root, path)
        except BaseException as error:
            whole = self._take_back(record, changes, size)
            told = storage_error(error, path) if isinstance(error, OSError) else error
            if not whole and isinstance(told, MemtuiError):
                told.hint = f"{told.hint} {BEGUN}".strip()
            if told is error:
                raise
            raise told from error
        # Without room for this line the next start finds all changes made, and writes it.
        with contextlib.suppress(MemtuiError):
            self._end(transaction, "done")
        return transaction

    def _make(self, record: Mapping[str, Any], changes: Sequence[Change], number: int) -> None:
        """Make one change. Raises as `Change.make`, but not for what fails once it is made, as cleaning up can."""
        try:
            changes[number].make()
        except OSError:
            recovery.sweep(self.contents.directory, record)
            if recovery.states(record, changes)[number] != "made":
                raise

    def _take_back(self, record: Mapping[str, Any], changes: Sequence[Change], size: int) -> bool:
        """Undo the changes that were made; False where even that fails and the intent stays for the next start."""
        try:
            for change in recovery.back(changes, recovery.states(record, changes)):
                with contextlib.suppress(ConflictError):
                    change.make()
        except OSError:
            return False
        try:
            self._end(record["id"], "back")
        except MemtuiError:
            return self._cut(size)
        return True

    def _cut(self, size: int) -> bool:
        """Take the last line off again; that needs no space on a full disk. Whether that worked."""
        try:
            os.truncate(self.path, size)
        except OSError:
            return False
        return True

    # After a crash

    def unfinished(self) -> dict[str, Any] | None:
        """The intent without an end that a killed process left, or that another one is at work on."""
        try:
            for _, line in backwards.lines(self.path, longest=-1):
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
        recovery.sweep(self.contents.directory, record)
        transaction = record["id"]
        left = []
        try:
            for digest in record.get("drop", ()):
                fs.unlink(self.contents.path(digest))
            changes = self.changes_of(record)
            forward, todo = recovery.rest(record, changes)
            for change in todo:
                try:
                    change.make()
                except ConflictError as error:
                    left.append(error.message)
        except OSError as error:
            raise storage_error(error, error.filename or self.root) from error
        except NotFoundError as error:  # someone emptied the trash
            forward, left = False, [error.message]
        self._end(transaction, "done" if forward and not left else "back", **({"left": left} if left else {}))

    # What was done

    def ledger(self) -> Ledger:
        """All transactions, and which of them can be undone or redone, as of now. Raises OSError."""
        return self._ledger.follow()

    def purge(self, op_summary: str, drop: Sequence[str], **more: Any) -> str:
        """Remove contents from the trash for good, which no undo brings back; the transaction's id."""
        with self.locked():
            transaction = ids.new_id(self.now())
            self._append(self._intent(transaction, "purge", [], op_summary, drop=list(drop), **more))
            try:
                for digest in drop:
                    fs.unlink(self.contents.path(digest))
            except OSError as error:
                told = storage_error(error, self.contents.directory)
                told.hint = f"{told.hint} {BEGUN_PURGE}"
                raise told from error
            with contextlib.suppress(MemtuiError):  # as for other changes, the next start writes it
                self._end(transaction, "done")
            return transaction
