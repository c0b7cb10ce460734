"""A change of a few bytes of a file that is not a memory, such as a settings file. It may hold secrets, so only the
bytes that change are stored; they are taken back only if the file is exactly as it was left."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from memtui.core.base import fs, ids
from memtui.core.base.storage import read_or_none
from memtui.core.journal.changes.change import (
    Change,
    ChangedFiles,
    KeepContent,
    ReadContent,
    Row,
    State,
    conflict,
    is_digest,
    is_digest_or_none,
)
from memtui.core.journal.changes.file_change import FileChange


def _digest(data: bytes | None) -> str | None:
    return None if data is None else ids.digest(data)


@dataclass(frozen=True)
class Patch(Change):
    """Replace `removed` by `added` at byte `at`. `was` and `now` are the file's hash before and after; None: no file. A
    new file has the permission bits `mode`; the directories `dirs` were made for it and are removed with it."""

    key: ClassVar[str] = "cut"
    at: int
    removed: bytes
    added: bytes
    was: str | None
    now: str | None
    mode: int = fs.FILE_MODE
    dirs: tuple[str, ...] = ()

    @classmethod
    def between(
        cls, path: str, before: bytes | None, after: bytes | None, mode: int, dirs: tuple[str, ...] = ()
    ) -> "Patch":
        """Return the smallest single patch that turns one content into the other."""
        old, new = before or b"", after or b""
        shared = min(len(old), len(new))
        head = next((i for i in range(shared) if old[i] != new[i]), shared)
        tail = next((i for i in range(shared - head) if old[-1 - i] != new[-1 - i]), shared - head)
        removed, added = old[head : len(old) - tail], new[head : len(new) - tail]
        return cls(path, head, removed, added, _digest(before), _digest(after), mode, dirs)

    def inverse(self) -> "Patch":
        return Patch(self.path, self.at, self.added, self.removed, self.now, self.was, self.mode, self.dirs)

    def row(self, files: ChangedFiles, keep: KeepContent) -> dict[str, Any]:  # noqa: ARG002
        self._read_before()
        cut = {"at": self.at, "from": self.was, "to": self.now, "mode": self.mode, "dirs": list(self.dirs)}
        return {"cut": cut, "removed": keep(self.removed), "added": keep(self.added)}

    @classmethod
    def from_row(cls, row: Row, read: ReadContent) -> "Patch":
        cut = row["cut"]
        removed, added = read(row["removed"]), read(row["added"])
        return cls(row["path"], cut["at"], removed, added, cut["from"], cut["to"], cut["mode"], tuple(cut["dirs"]))

    @staticmethod
    def is_valid(row: Row) -> bool:
        cut = row["cut"]
        if not isinstance(cut, dict) or not isinstance(cut.get("at"), int) or not isinstance(cut.get("mode"), int):
            return False
        dirs = cut.get("dirs")
        whole = is_digest_or_none(cut.get("from")) and is_digest_or_none(cut.get("to"))
        known = is_digest(row.get("removed")) and is_digest(row.get("added")) and isinstance(dirs, list)
        return whole and known and all(isinstance(each, str) and each.startswith("/") for each in dirs or ())

    def state(self, row: Row, rows: Sequence[Row]) -> State:  # noqa: ARG002
        found = _digest(read_or_none(self.path))
        return "made" if found == self.now else "open" if found == self.was else "foreign"

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
            self._make_dirs()
        FileChange(self.path, before, None if self.now is None else after, self.mode).make()
        for directory in reversed(self.dirs if self.now is None else ()):
            try:
                os.rmdir(directory)
            except OSError:
                break  # somebody else uses it

    def _make_dirs(self) -> None:
        if self.mode == fs.FILE_MODE:
            fs.makedirs(os.path.dirname(self.path))
        else:  # for all who may read the file
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
