"""The journal's records: their rows, one for each change (a key tells its kind), and the stored contents."""

from collections.abc import Mapping, Sequence
from typing import Any

from memtui.base import fs, ids
from memtui.base.errors import MemtuiError, NotFoundError
from memtui.base.storage import read_or_none, storage_error
from memtui.store.journal.changes import Change, ChangedFiles, FileChange, KeepContent, ModeEdit, Patch, ReadContent
from memtui.store.journal.ledger import KIND_KEYS, Record
from memtui.store.journal.own_files import BesideEdit, EntryEdit, PairsEdit, SeenEdit, TrustEdit
from memtui.store.journal.text_edit import TextEdit

# The operations that take back what others wrote, where what a person has seen changes with them.
TAKES_BACK = frozenset({"delete", "restore"})
KINDS: Mapping[str, type[Change]] = {
    kind.key: kind
    for kind in (FileChange, TextEdit, TrustEdit, Patch, ModeEdit, EntryEdit, PairsEdit, SeenEdit, BesideEdit)
}


def rows(changes: Sequence[Change], keep: KeepContent) -> list[dict[str, Any]]:
    """Return changes as rows of an intent, with their contents stored. Raises ConflictError, MemtuiError."""
    files = ChangedFiles()
    result = []
    for change in changes:
        try:
            result.append({"path": change.path, **change.row(files, keep)})
        except OSError as error:
            raise storage_error(error, change.path) from error
    return result


def changes_of(record: Record, read_content: ReadContent) -> list[Change]:
    """Return the changes of a readable intent. Raises NotFoundError if a content was purged, or a row is damaged."""
    rows = [(next(key for key in KIND_KEYS if key in row), row) for row in record["changes"]]
    try:
        return [KINDS[key].from_row(row, read_content) for key, row in rows]
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise NotFoundError(
            f"The change {record.get('id')} is damaged in the journal.", "It can't be undone."
        ) from error


def takes_back(record: Record) -> bool:
    """Return whether an intent takes back what others wrote."""
    return record.get("op") in TAKES_BACK and any(SeenEdit.key in row for row in record.get("changes", ()))


class ContentStore:
    """The stored contents in a directory of one memtui root."""

    def __init__(self, root: str, name: str = "trash") -> None:
        self.directory = f"{root}/{name}"

    def path(self, digest: str) -> str:
        return f"{self.directory}/{digest}"

    def read(self, digest: str) -> bytes:
        """Read a stored content. Raises NotFoundError if it was purged, MemtuiError if it can't be read."""
        path = self.path(digest)
        try:
            data = fs.read_bytes(path)
        except FileNotFoundError as error:
            raise NotFoundError("The old content was deleted for good.", "It can't be restored.") from error
        except OSError as error:
            raise storage_error(error, path) from error
        if ids.digest(data) != digest:
            raise MemtuiError(f"{path} is damaged", "It can't be restored; nothing was changed.")
        return data

    def keep(self, data: bytes, durable: bool = True) -> str:
        """Store a content, synced if `durable`, as an undo needs it; return its hash. Raises MemtuiError."""
        digest = ids.digest(data)
        path = self.path(digest)
        try:
            # One that exists but is damaged is written anew.
            if read_or_none(path) != data:
                fs.write_atomic(path, data, durable)
            elif durable:
                fs.sync(path)  # it may have been stored before without
        except OSError as error:
            raise storage_error(error, path) from error
        return digest
