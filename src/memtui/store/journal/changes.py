"""The kinds of change that the journal makes, writes as rows, and takes back; `records.KINDS` lists all."""

import contextlib
import dataclasses
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from memtui.base import fs_hot, ids_hot
from memtui.base.errors import ConflictError, NotFoundError
from memtui.base.storage import read_or_none
from memtui.store.journal.ledger import Row

# Returns the stored content with a hash. Raises NotFoundError once it was purged.
ReadContent = Callable[[str], bytes]
# Stores a content and returns its hash, as `ContentStore.keep`.
KeepContent = Callable[..., str]
# Stands for the content of a new file that was changed or removed since, and is stored nowhere: no file has it.
LOST = b"\0memtui: this text was not stored\0"
LOOK_AGAIN = "Nothing was written. Check the file and try again."


class ChangedFiles(dict[str, bytes | None]):
    """File contents by path, as earlier changes of the operation leave them. Looking one up may raise OSError."""

    def __missing__(self, path: str) -> bytes | None:
        self[path] = data = read_or_none(path)
        return data


@dataclass(frozen=True)
class Change(ABC):
    """A change of the file, or directory, at `path`."""

    # The key that only its rows have; of the change that takes this one back: the fields that change places, and those
    # whose two values do.
    key: ClassVar[str]
    swapped: ClassVar[tuple[tuple[str, str], ...]] = (("before", "after"),)
    flipped: ClassVar[tuple[str, ...]] = ()
    path: str

    @property
    def about(self) -> str:
        """The path of the file that the change is about: where it says something of another one, that one."""
        return self.path

    @property
    def texts(self) -> tuple[str, str]:
        """What it replaced, and by what, for a person to read: only the lines, bytes or entry that it is about."""
        return "", ""

    def with_metadata(self) -> "Change":
        """Return the change with the present file's permission bits and time added, so that an undo restores them."""
        return self

    @abstractmethod
    def row(self, files: ChangedFiles, keep: KeepContent) -> dict[str, Any]:
        """Return the row, without the path; stores its contents. Raises ConflictError, OSError, MemtuiError."""

    def written_ahead(self) -> "Change":
        """Return the change with its content in a temporary file: making it waits for no disk. Raises OSError."""
        return self

    @abstractmethod
    def make(self) -> None:
        """Make the change. Raises ConflictError if the file is not as the change expects it, OSError."""

    def inverse(self) -> Self:
        fields = {name: getattr(self, other) for pair in self.swapped for name, other in (pair, pair[::-1])}
        return dataclasses.replace(self, **fields, **{name: getattr(self, name)[::-1] for name in self.flipped})

    @abstractmethod
    def is_made(self, row: Row, rows: Sequence[Row]) -> bool:
        """Return whether the change was made, by its row and all rows for the same path. Raises OSError."""

    @classmethod
    @abstractmethod
    def from_row(cls, row: Row, read_content: ReadContent) -> "Change":
        """Return the change of a valid row. Raises NotFoundError if a content was purged."""


def conflict(path: str, exists: bool = False) -> ConflictError:
    """Return the error for a file that was changed or removed meanwhile, or that `exists` where none may be."""
    if exists:
        return ConflictError(f"{path} exists already.", "Choose another name, or change that memory instead.")
    what = "changed meanwhile" if os.path.lexists(path) else "is gone"
    return ConflictError(f"{path} {what}.", LOOK_AGAIN)


def shown(data: bytes | None) -> str:
    """Return a content as a text for a person to read."""
    return (data or b"").decode("utf-8", "replace").replace("\r\n", "\n").replace("\0", "")


def shared_ends(old: Sequence[Any], new: Sequence[Any]) -> tuple[int, int]:
    """Return how much two texts, as bytes or lines, have alike at the beginning, and behind that at the end."""
    least = min(len(old), len(new))
    head = next((at for at in range(least) if old[at] != new[at]), least)
    return head, next((at for at in range(least - head) if old[-1 - at] != new[-1 - at]), least - head)


@dataclass(frozen=True)
class FileChange(Change):
    """A file's content before and after (None: no file); `mode` of a new one, `times` (ns) with each content. `ready`:
    its temporary file if it is written ahead (empty where none is needed)."""

    key = "before"
    flipped = ("times",)
    before: bytes | None
    after: bytes | None
    mode: int | None = None
    times: tuple[int | None, int | None] = (None, None)
    ready: str | None = None

    @property
    def texts(self) -> tuple[str, str]:
        return shown(self.before), shown(self.after)

    def with_metadata(self) -> "FileChange":
        if self.before is None:
            return self
        with contextlib.suppress(OSError):
            status = os.stat(self.path)
            mode = status.st_mode & 0o7777 if self.after is None and self.mode is None else self.mode
            return dataclasses.replace(self, mode=mode, times=(status.st_mtime_ns, self.times[1]))
        return self

    def row(self, files: ChangedFiles, keep: KeepContent) -> dict[str, Any]:
        if files[self.path] != self.before:
            raise conflict(self.path, exists=self.before is None)
        if self.after == LOST:
            raise NotFoundError("The old content is not there any more.", "It can't be restored.")
        files[self.path] = self.after
        before = None if self.before is None else keep(self.before)
        after = None if self.after is None else keep(self.after, is_new=before is None)
        row: dict[str, Any] = {"before": before, "after": after}
        row |= {} if self.mode is None else {"mode": self.mode}
        return row | ({} if self.times == (None, None) else {"times": list(self.times)})

    @classmethod
    def from_row(cls, row: Row, read_content: ReadContent) -> "FileChange":
        path, times = row["path"], row.get("times", (None, None))
        before = None if row["before"] is None else read_content(row["before"])
        try:
            after = None if row["after"] is None else read_content(row["after"])
        except NotFoundError:
            if before is not None:
                raise
            after = read_or_none(path)  # of many new files only their hashes are stored
            after = after if _digest(after) == row["after"] else LOST
        return cls(path, before, after, row.get("mode"), (times[0], times[1]))

    def is_made(self, row: Row, rows: Sequence[Row]) -> bool:  # noqa: ARG002
        return read_or_none(self.path) == self.after

    def make(self) -> None:
        if self.before is None:
            if self.after is not None:
                self._create(self.after)
            return
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            raise conflict(self.path) from None
        with open(fd, "rb") as file:
            if file.read() != self.before:
                raise conflict(self.path)
            if self.after is None:
                os.unlink(self.path)
                if self.ready is None:
                    fs_hot.sync_dir(os.path.dirname(self.path))
            elif self.ready:
                os.rename(self.ready, self.path)
            else:
                fs_hot.write_atomic(self.path, self.after)
                self._set_time(self.path)
            # Somebody may have written into the old file between the read and the rename: it is still open.
            file.seek(0)
            late = file.read()
        if late != self.before:
            fs_hot.write_atomic(self.path, late)
            raise conflict(self.path)

    def _set_time(self, path: str) -> None:
        time = self.times[1]
        if time is not None:
            with contextlib.suppress(OSError):
                os.utime(path, ns=(time, time))

    def _create(self, data: bytes) -> None:
        """Create the file with all its content at once; never over an existing one."""
        temporary = self.ready or self._temporary(data, fs_hot.FILE_MODE if self.mode is None else self.mode)
        try:
            try:
                os.link(temporary, self.path)
            except FileExistsError:
                raise conflict(self.path, exists=True) from None
            except OSError:  # a file system without hard links
                if os.path.lexists(self.path):
                    raise conflict(self.path, exists=True) from None
                os.rename(temporary, self.path)
        finally:
            fs_hot.unlink(temporary)
        if self.ready is None:
            fs_hot.sync_dir(os.path.dirname(self.path))

    def _temporary(self, data: bytes, mode: int, durable: bool = True) -> str:
        """Write a content to a temporary file beside the file, and return its name. Raises OSError."""
        temporary = fs_hot.temporary(self.path)
        try:
            fd = os.open(temporary, fs_hot.NEW_FILE, fs_hot.FILE_MODE)
        except FileNotFoundError:
            # A new directory is as readable as the first file in it: in a repository as the umask allows.
            fs_hot.makedirs(os.path.dirname(self.path), fs_hot.DIR_MODE | (mode & 0o066) | (mode & 0o044) >> 2)
            fd = os.open(temporary, fs_hot.NEW_FILE, fs_hot.FILE_MODE)
        try:
            fs_hot.write_and_close(fd, data, mode, durable)
        except OSError:
            fs_hot.unlink(temporary)
            raise
        self._set_time(temporary)
        return temporary

    def written_ahead(self) -> "FileChange":
        if self.after is None:
            return dataclasses.replace(self, ready="")
        mode = fs_hot.FILE_MODE if self.mode is None else self.mode
        with contextlib.suppress(OSError):
            mode = os.stat(self.path).st_mode & 0o7777 if self.before is not None else mode
        return dataclasses.replace(self, ready=self._temporary(self.after, mode, durable=False))


def _digest(data: bytes | None) -> str | None:
    return None if data is None else ids_hot.digest(data)


@dataclass(frozen=True)
class Patch(Change):
    """Replace `removed` by `added` at byte `at` of a settings file: only these bytes are stored, as the rest may be
    secret. `was`, `now`: hashes of the file (None: none); `mode`: of a new one; `dirs`: made for it, and go with it."""

    key = "cut"
    swapped = (("removed", "added"), ("was", "now"))
    at: int
    removed: bytes
    added: bytes
    was: str | None
    now: str | None
    mode: int = fs_hot.FILE_MODE
    dirs: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, str]:
        return shown(self.removed), shown(self.added)

    @classmethod
    def between(
        cls, path: str, before: bytes | None, after: bytes | None, mode: int, dirs: tuple[str, ...] = ()
    ) -> "Patch":
        """Return the smallest single patch that turns one content into the other."""
        old, new = before or b"", after or b""
        head, tail = shared_ends(old, new)
        removed, added = old[head : len(old) - tail], new[head : len(new) - tail]
        return cls(path, head, removed, added, _digest(before), _digest(after), mode, dirs)

    def row(self, files: ChangedFiles, keep: KeepContent) -> dict[str, Any]:  # noqa: ARG002
        self._read_before()
        cut = {"at": self.at, "from": self.was, "to": self.now, "mode": self.mode, "dirs": list(self.dirs)}
        return {"cut": cut, "removed": keep(self.removed), "added": keep(self.added)}

    @classmethod
    def from_row(cls, row: Row, read_content: ReadContent) -> "Patch":
        cut = row["cut"]
        removed, added = read_content(row["removed"]), read_content(row["added"])
        return cls(row["path"], cut["at"], removed, added, cut["from"], cut["to"], cut["mode"], tuple(cut["dirs"]))

    def is_made(self, row: Row, rows: Sequence[Row]) -> bool:  # noqa: ARG002
        return _digest(read_or_none(self.path)) == self.now

    def _read_before(self) -> bytes | None:
        data = read_or_none(self.path)
        if _digest(data) != self.was:
            raise conflict(self.path, exists=self.was is None)
        return data

    def make(self) -> None:
        before = self._read_before()
        old = before or b""
        after = old[: self.at] + self.added + old[self.at + len(self.removed) :]
        if before is None and self.now is not None:
            directory = os.path.dirname(self.path)
            if self.mode == fs_hot.FILE_MODE:
                fs_hot.makedirs(directory)
            else:  # for all who may read the file
                os.makedirs(directory, exist_ok=True)
        FileChange(self.path, before, None if self.now is None else after, self.mode).make()
        for directory in reversed(self.dirs if self.now is None else ()):
            try:
                os.rmdir(directory)
            except OSError:
                break  # somebody else uses it
