"""Stored file contents, each in a file named by its hash: what the journal's records refer to is in `trash/`, the texts
of versions are in `versions/`."""

from memtui.core.base import fs, ids
from memtui.core.base.errors import MemtuiError, NotFoundError
from memtui.core.base.storage import read_or_none, storage_error


class ContentStore:
    """The stored contents in a directory of one memtui root."""

    def __init__(self, root: str, name: str = "trash") -> None:
        self.directory = f"{root}/{name}"

    def path(self, digest: str) -> str:
        """Return the path of a stored content."""
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
        """Store a content and return its hash. Not `durable`: don't sync it, which is slow for thousands; for contents
        that no undo needs. Raises MemtuiError."""
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
