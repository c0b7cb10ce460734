"""The journal (docs/file-formats.md): every change is a transaction that survives a crash and can be undone.

Contents are stored by hash; a line records the intent, the files change, another line records the end."""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from memtui.base import clock_hot, fastjson_hot, fs_hot, ids_hot, reverse_lines_hot
from memtui.base.errors import ConflictError, MemtuiError, NotFoundError
from memtui.base.storage import read_or_none, storage_error, storing, sync_disks
from memtui.client import process_hot
from memtui.store import catalog_hot, index_requests
from memtui.store.journal.changes import Change, ChangedFiles, FileChange, KeepContent, Patch, ReadContent
from memtui.store.journal.ledger import KIND_KEYS, VERSION, Ledger, Record, Row, here, readable
from memtui.store.journal.own_files import BesideEdit, EntryEdit, PairsEdit, SeenEdit, TrustEdit
from memtui.store.journal.text_edit import TextEdit

LOCK_SECONDS = 10.0
# From so many changes on, the disk gets them together: each one alone waits for it some three times.
MANY = 50
BEGUN_PURGE = "The next memtui command finishes the change."
BEGUN = "The next memtui command reverts the unfinished change."
# The operations that take back what others wrote, where what a person has seen changes with them.
TAKES_BACK = frozenset({"delete", "restore"})
_KINDS = (FileChange, TextEdit, TrustEdit, Patch, EntryEdit, PairsEdit, SeenEdit, BesideEdit)
KINDS: Mapping[str, type[Change]] = {kind.key: kind for kind in _KINDS}
Now = Callable[[], float]


class Journal:
    """The journal of a memtui root: `by` names the writer, `now` is the clock, `ledger` what was read already."""

    def __init__(self, root: str, by: str = "cli", now: Now = clock_hot.now, ledger: Ledger | None = None) -> None:
        self.root = root
        self.contents = ContentStore(root)
        self.by = by
        self.now = now
        self.path = root + "/journal.jsonl"
        self.lock_path = root + "/run/store.lock"
        self._ledger = ledger or Ledger(self.path)
        self._shared: dict[str, Any] = {}  # what all changes made together have in their record

    def _intent(self, name: str, op: str, changes: Sequence[Change], summary: str, **more: Any) -> dict[str, Any]:
        """Return the intent's record, with its contents stored. Raises ConflictError if a file is not as expected."""
        many = len(changes) >= MANY
        rows = rows_of(changes, partial(self.contents.keep, durable=not many, all_of_them=not many))
        if many and any("before" not in row or row["before"] for row in rows):
            with storing(self.contents.directory):
                sync_disks([self.contents.directory])
        head = {"v": VERSION, "id": name, "time": clock_hot.iso(self.now()), "state": "intent", "by": self.by}
        return {**head, "seat": here(self.by), "op": op, "summary": summary, **more, "changes": rows}

    def changes_of(self, record: Mapping[str, Any]) -> list[Change]:
        """Return the changes of an intent. Raises NotFoundError if a content was purged."""
        return changes_of(record, self.contents.read)

    def _append(self, *records: Mapping[str, Any]) -> None:
        lines = b"".join(fastjson_hot.dumps(dict(record)).encode() + b"\n" for record in records)
        with storing(self.path):
            fs_hot.append(self.path, lines, durable=True)

    def _ended(self, transaction: str, state: str, **more: Any) -> dict[str, Any]:
        return {"v": VERSION, "id": transaction, "time": clock_hot.iso(self.now()), "state": state, **more}

    def _end(self, transaction: str, state: str, **more: Any) -> None:
        self._append(self._ended(transaction, state, **more))

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock on all changes, after recovery from a killed process. Raises MemtuiError."""
        with contextlib.ExitStack() as stack:
            with storing(self.lock_path):
                stack.enter_context(fs_hot.Lock(self.lock_path, LOCK_SECONDS))
            self._recover()
            yield

    def run(self, op: str, changes: Sequence[Change], summary: str, **more: Any) -> str:
        """Make all changes or none, as one undo step with `more` in its record. Raises ConflictError, MemtuiError."""
        with self.locked():
            return self.run_locked(op, changes, summary, **{**self._shared, **more})

    @contextlib.contextmanager
    def together(self, group: str = "", entries: Sequence[str] = ()) -> Iterator[None]:
        """Make all changes inside one step of undo, with those of `group`; `entries`: what is decided with them."""
        before = self._shared
        self._shared = {**before, **({"entries": [*entries]} if entries else {})}
        self._shared["group"] = group or before.get("group") or ids_hot.new_id(self.now())
        try:
            yield
        finally:
            self._shared = before

    def run_locked(self, op: str, changes: Sequence[Change], summary: str, **more: Any) -> str:
        """Do what `run` does, with the lock held already."""
        transaction = ids_hot.new_id(self.now())
        size = os.path.getsize(self.path) if os.path.exists(self.path) else 0
        changes = [change.with_metadata() for change in changes]
        record = self._intent(transaction, op, changes, summary, **more)
        try:
            self._append(record)
        except BaseException:
            self._cut(size)  # a part of the line may have been written
            raise
        path = self.root
        try:
            ahead = _written_ahead(changes)
            for number, change in enumerate(changes):
                path = change.path
                self._make(record, ahead, number)
                if path.endswith(".md") and len(changes) <= catalog_hot.AT_ONCE:
                    catalog_hot.touch(self.root, path)
            _sync(ahead)
        except BaseException as error:
            taken_back = self._take_back(record, changes, size)
            reported = storage_error(error, path) if isinstance(error, OSError) else error
            if not taken_back and isinstance(reported, MemtuiError):
                reported.hint = f"{reported.hint} {BEGUN}".strip()
            if reported is error:
                raise
            raise reported from error
        # If there is no room for this line, the next process finds all changes made and writes it.
        with contextlib.suppress(MemtuiError):
            self._end(transaction, "done")
        index_requests.request(self.root, [change.about for change in changes])
        return transaction

    def record(self, op: str, changes: Sequence[FileChange], summary: str, **more: Any) -> None:
        """Note changes that another program has made already, so that they can be undone. Raises MemtuiError."""
        with self.locked():
            record = self._intent(ids_hot.new_id(self.now()), op, [], summary, **more)
            files = ChangedFiles({change.path: change.before for change in changes})
            record["changes"] = rows_of(changes, self.contents.keep, files)
            self._append(record, self._ended(record["id"], "done"))

    def _make(self, record: Mapping[str, Any], changes: Sequence[Change], number: int) -> None:
        """Make one change. Raises as `Change.make`, except for what fails after the change is made, as cleanup can."""
        try:
            changes[number].make()
        except OSError:
            self._sweep(record)
            if not _made(record, changes)[number]:
                raise

    def _take_back(self, record: Mapping[str, Any], changes: Sequence[Change], size: int) -> bool:
        """Undo the changes that were made. Return False if that fails too; the next process then takes them back."""
        try:
            back = _written_ahead(_rollback(changes, _made(record, changes)))
            for change in back:
                with contextlib.suppress(ConflictError):
                    change.make()
            _sync(back)
        except OSError:
            return False
        finally:
            if len(changes) >= MANY:
                self._sweep(record)
        try:
            self._end(record["id"], "back")
        except MemtuiError:
            return self._cut(size)
        return True

    def _cut(self, size: int) -> bool:
        """Remove the last line again, which works on a full disk too. Return whether it was removed."""
        try:
            os.truncate(self.path, size)
        except OSError:
            return False
        return True

    def unfinished(self) -> dict[str, Any] | None:
        """Return the intent without an end, which a killed process left or another process is working on."""
        try:
            for _, line in reverse_lines_hot.lines(self.path, longest=-1):
                record = fastjson_hot.loads_dict(line)
                if record.get("v") == VERSION and record.get("state") in {"done", "back"}:
                    return None
                if record.get("state") == "intent" and isinstance(record.get("id"), str) and readable(record):
                    return record
        except OSError:
            return None
        return None

    def recover(self) -> None:
        """Finish or take back what a killed process left, if anything. Raises MemtuiError."""
        if self.unfinished() is not None:
            with self.locked():
                pass

    def _recover(self) -> None:
        record = self.unfinished()
        if record is None:
            return
        self._sweep(record)
        transaction = record["id"]
        untouched = []
        try:
            self.contents.remove(record.get("drop", ()))
            changes = self.changes_of(record)
            made = _made(record, changes)
            all_made = all(made)
            # Not finished instead: a command that failed half-way told the person that it failed.
            back = _written_ahead([] if all_made else _rollback(changes, made))
            for change in back:
                try:
                    change.make()
                except ConflictError as error:
                    untouched.append(error.message)
            _sync(back)
        except OSError as error:
            raise storage_error(error, error.filename or self.root) from error
        except NotFoundError as error:  # someone emptied the trash
            all_made, untouched = False, [error.message]
        state, more = "done" if all_made and not untouched else "back", {"left": untouched} if untouched else {}
        self._end(transaction, state, **more)

    def _sweep(self, record: Mapping[str, Any]) -> None:
        """Remove the temporary files of killed processes, and beside what changes those of this one."""
        names: dict[str, dict[str, None]] = {}
        for place in (self.contents.directory + "/", *(row["path"] for row in record["changes"])):
            directory, name = os.path.split(place)
            names.setdefault(directory, {})[name] = None
        for directory, of in names.items():
            with contextlib.suppress(OSError):
                for file in os.listdir(directory):
                    target, pid = fs_hot.temporary_of(file) or ("", 0)
                    if not pid or not (target in of or target.startswith(tuple(of))):
                        continue
                    if not process_hot.alive(pid) or (pid == os.getpid() and "" not in of):
                        fs_hot.unlink(f"{directory}/{file}")

    def ledger(self) -> Ledger:
        """Read what was appended; return all transactions and which of them can be undone or redone. Raises OSError."""
        return self._ledger.follow()

    def purge(self, summary: str, drop: Sequence[str], **more: Any) -> str:
        """Remove contents for good, by their hashes `drop`; no undo brings them back. Return the transaction's id."""
        with self.locked():
            transaction = ids_hot.new_id(self.now())
            self._append(self._intent(transaction, "purge", [], summary, drop=list(drop), **more))
            try:
                self.contents.remove(drop)
            except OSError as error:
                memtui_error = storage_error(error, self.contents.directory)
                memtui_error.hint = f"{memtui_error.hint} {BEGUN_PURGE}"
                raise memtui_error from error
            with contextlib.suppress(MemtuiError):  # as for other changes, the next process writes it
                self._end(transaction, "done")
            return transaction


def _made(record: Mapping[str, Any], changes: Sequence[Change]) -> list[bool]:
    """Return of each change whether it was made. Raises OSError."""
    rows: dict[str, list[Row]] = {}
    for row in record["changes"]:
        rows.setdefault(row["path"], []).append(row)
    return [change.is_made(row, rows[change.path]) for row, change in zip(record["changes"], changes, strict=True)]


def _written_ahead(changes: Sequence[Change]) -> Sequence[Change]:
    """Return many changes with what they write on the disk already, at once. Raises OSError."""
    if len(changes) < MANY:
        return changes
    ahead = [change.written_ahead() for change in changes]
    _sync(ahead)
    return ahead


def _sync(changes: Sequence[Change]) -> None:
    """Wait until the disk has what many changes wrote, at once. Raises OSError."""
    if len(changes) >= MANY:
        sync_disks(filter(os.path.isdir, {os.path.dirname(change.path) for change in changes}))


def _rollback(changes: Sequence[Change], made: Sequence[bool]) -> list[Change]:
    """Return the changes that take back those that were made, in the order to make them."""
    return [change.inverse() for change, is_made in reversed([*zip(changes, made, strict=True)]) if is_made]


def rows_of(changes: Sequence[Change], keep: KeepContent, files: ChangedFiles | None = None) -> list[dict[str, Any]]:
    """Return changes as rows of an intent, with their contents stored. Raises ConflictError, MemtuiError."""
    files = ChangedFiles() if files is None else files
    result = []
    for change in changes:
        with storing(change.path):
            result.append({"path": change.path, **change.row(files, keep)})
    return result


def changes_of(record: Record, read_content: ReadContent) -> list[Change]:
    """Return the changes of a readable intent. Raises NotFoundError if a content was purged, or a row is damaged."""
    rows = [(next(key for key in KIND_KEYS if key in row), row) for row in record["changes"]]
    try:
        return [KINDS[key].from_row(row, read_content) for key, row in rows]
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        hint = "It can't be undone."
        raise NotFoundError(f"The change {record.get('id')} is damaged in the journal.", hint) from error


def takes_back(record: Record) -> bool:
    return record.get("op") in TAKES_BACK and any(SeenEdit.key in row for row in record.get("changes", ()))


class ContentStore:
    """The contents that the journal, the versions of memories and the record of trust of one memtui root name."""

    def __init__(self, root: str) -> None:
        self.directory = f"{root}/trash"

    def path(self, digest: str) -> str:
        return f"{self.directory}/{digest}"

    def read(self, digest: str) -> bytes:
        """Read a stored content. Raises NotFoundError if it was purged, MemtuiError if it can't be read."""
        path = self.path(digest)
        with storing(path):
            data = read_or_none(path)
        if data is None:
            raise NotFoundError("The old content was deleted for good.", "It can't be restored.")
        if ids_hot.digest(data) != digest:
            raise MemtuiError(f"{path} is damaged", "It can't be restored; nothing was changed.")
        return data

    def remove(self, digests: Iterable[str]) -> None:
        """Remove contents. Raises OSError."""
        for digest in digests:
            fs_hot.unlink(self.path(digest))

    def keep(self, data: bytes, durable: bool = True, *, all_of_them: bool = True, is_new: bool = False) -> str:
        """Store a content, synced if `durable`, as an undo needs it; return its hash. Without `all_of_them` what is
        new is not stored: the file has it, and whoever changes that stores it. Raises MemtuiError."""
        digest = ids_hot.digest(data)
        if is_new and not all_of_them:
            return digest
        path = self.path(digest)
        with storing(path):
            # One that exists but is damaged is written anew.
            if read_or_none(path) != data:
                fs_hot.write_atomic(path, data, durable)
            elif durable:
                fs_hot.sync(path)  # it may have been stored before without
        return digest
