"""A change of a file's name."""

import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from memtui.core.base import fs
from memtui.core.base.errors import ConflictError
from memtui.core.journal.changes.change import LOOK_AGAIN, Change, ChangedFiles, KeepContent, ReadContent, Row, State


@dataclass(frozen=True)
class Renaming(Change):
    """Rename the file with the inode number `file` to `to`. Whoever has it open goes on writing to it."""

    key: ClassVar[str] = "file"
    to: str
    file: int

    def inverse(self) -> "Renaming":
        return Renaming(self.to, self.path, self.file)

    def row(self, files: ChangedFiles, keep: KeepContent) -> dict[str, Any]:  # noqa: ARG002
        self._check()
        return {"to": self.to, "file": self.file}

    @classmethod
    def from_row(cls, row: Row, read: ReadContent) -> "Renaming":  # noqa: ARG003
        return cls(row["path"], row["to"], row["file"])

    @staticmethod
    def is_valid(row: Row) -> bool:
        return isinstance(row["file"], int) and str(row.get("to")).startswith("/")

    @staticmethod
    def number(path: str) -> int | None:
        """Return the inode number of a file; None if there is no file."""
        try:
            return os.lstat(path).st_ino
        except (FileNotFoundError, NotADirectoryError):
            return None

    def state(self, row: Row, rows: Sequence[Row]) -> State:  # noqa: ARG002
        if self.number(self.path) == self.file:
            return "open"
        return "made" if self.number(self.to) == self.file else "foreign"

    def _check(self) -> None:
        if self.number(self.path) != self.file:
            raise ConflictError(f"{self.path} is gone, or is another file", LOOK_AGAIN)
        if self.number(self.to) not in {None, self.file}:
            raise self._exists()

    def _exists(self) -> ConflictError:
        return ConflictError(f"{self.to} was created again meanwhile", "Move it away first.")

    def make(self) -> None:
        self._check()
        if self.number(self.to) is None:
            try:
                os.link(self.path, self.to)  # never over a file that appears at this moment
            except FileExistsError:
                raise self._exists() from None
            except OSError as error:
                if error.errno not in {errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS}:
                    raise
                os.rename(self.path, self.to)
                return
        os.unlink(self.path)
        fs.sync_dir(os.path.dirname(self.to))
