"""A change of a file's whole content: made only if the file is exactly as the change expects it."""

import contextlib
import dataclasses
import os
from collections.abc import Sequence
from typing import Any, ClassVar

from memtui.core.base import fs
from memtui.core.base.storage import read_or_none
from memtui.core.journal.changes.change import (
    Change,
    ChangedFiles,
    KeepContent,
    ReadContent,
    Row,
    State,
    conflict,
    is_digest_or_none,
)


@dataclasses.dataclass(frozen=True)
class FileChange(Change):
    """A file's content `before` and `after`; None: no file. `mode`: the permission bits of a new file. `times`: the
    file's modification time (nanoseconds) with each content, None for now: an undo restores the old time as well."""

    key: ClassVar[str] = "before"
    before: bytes | None
    after: bytes | None
    mode: int | None = None
    times: tuple[int | None, int | None] = (None, None)

    def inverse(self) -> "FileChange":
        return FileChange(self.path, self.after, self.before, self.mode, (self.times[1], self.times[0]))

    def with_metadata(self) -> "FileChange":
        if self.before is None:
            return self
        with contextlib.suppress(OSError):
            found = os.stat(self.path)
            mode = found.st_mode & 0o7777 if self.after is None and self.mode is None else self.mode
            return dataclasses.replace(self, mode=mode, times=(found.st_mtime_ns, self.times[1]))
        return self

    def row(self, files: ChangedFiles, keep: KeepContent) -> dict[str, Any]:
        if files[self.path] != self.before:
            raise conflict(self.path, exists=self.before is None)
        files[self.path] = self.after
        before, after = (None if data is None else keep(data) for data in (self.before, self.after))
        row: dict[str, Any] = {"before": before, "after": after}
        row |= {} if self.mode is None else {"mode": self.mode}
        return row | ({} if self.times == (None, None) else {"times": list(self.times)})

    @classmethod
    def from_row(cls, row: Row, read: ReadContent) -> "FileChange":
        before, after = (None if row[key] is None else read(row[key]) for key in ("before", "after"))
        times = row.get("times", (None, None))
        return cls(row["path"], before, after, row.get("mode"), (times[0], times[1]))

    @staticmethod
    def is_valid(row: Row) -> bool:
        times = row.get("times", [None, None])
        if not isinstance(times, list) or len(times) != 2 or not all(isinstance(time, int | None) for time in times):
            return False
        return "after" in row and is_digest_or_none(row["before"]) and is_digest_or_none(row["after"])

    def state(self, row: Row, rows: Sequence[Row]) -> State:  # noqa: ARG002
        data = read_or_none(self.path)
        # Where before and after are the same, nothing is left to do.
        return "made" if data == self.after else "open" if data == self.before else "foreign"

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
                fs.sync_dir(os.path.dirname(self.path))
            else:
                fs.write_atomic(self.path, self.after)
                self._set_time(self.path)
            # Somebody may have written into the old file between the read and the rename: it is still open.
            file.seek(0)
            late = file.read()
        if late != self.before:
            fs.write_atomic(self.path, late)
            raise conflict(self.path)

    def _set_time(self, path: str) -> None:
        time = self.times[1]
        if time is not None:
            with contextlib.suppress(OSError):
                os.utime(path, ns=(time, time))

    def _create(self, data: bytes) -> None:
        """Create the file with all its content at once; never over an existing one."""
        if os.path.lexists(self.path):
            raise conflict(self.path, exists=True)
        # A new directory is as readable as the first file in it: in a repository as the umask allows.
        mode = self.mode or 0
        fs.makedirs(os.path.dirname(self.path), fs.DIR_MODE | (mode & 0o066) | (mode & 0o044) >> 2)
        temporary = fs.temporary(self.path)
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, fs.FILE_MODE)
        try:
            try:
                fs.write_all(fd, data)
                if self.mode is not None:
                    os.fchmod(fd, self.mode)
                os.fsync(fd)
            finally:
                os.close(fd)
            self._set_time(temporary)
            try:
                os.link(temporary, self.path)
            except FileExistsError:
                raise conflict(self.path, exists=True) from None
            except OSError:  # a file system without hard links
                os.rename(temporary, self.path)
        finally:
            fs.unlink(temporary)
        fs.sync_dir(os.path.dirname(self.path))
