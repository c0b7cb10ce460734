"""A change of the permission bits of a file or directory."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from memtui.core.base.errors import ConflictError
from memtui.core.journal.changes.change import LOOK_AGAIN, Change, ChangedFiles, KeepContent, ReadContent, Row, State


@dataclass(frozen=True)
class ModeEdit(Change):
    """Permission bits before and after. A path that does not exist any more counts as done."""

    key: ClassVar[str] = "modes"
    before: int
    after: int

    def inverse(self) -> "ModeEdit":
        return ModeEdit(self.path, self.after, self.before)

    def row(self, files: ChangedFiles, keep: KeepContent) -> dict[str, Any]:  # noqa: ARG002
        self._check()
        return {"modes": [self.before, self.after]}

    @classmethod
    def from_row(cls, row: Row, read: ReadContent) -> "ModeEdit":  # noqa: ARG003
        return cls(row["path"], *row["modes"])

    @staticmethod
    def is_valid(row: Row) -> bool:
        modes = row["modes"]
        whole = isinstance(modes, list) and len(modes) == 2
        return whole and all(isinstance(each, int) and 0 <= each < 0o10000 for each in modes)

    def state(self, row: Row, rows: Sequence[Row]) -> State:  # noqa: ARG002
        found = self._now()
        return "made" if found == self.after else "open" if found in {None, self.before} else "foreign"

    def make(self) -> None:
        self._check()
        if self._now() is not None:
            os.chmod(self.path, self.after)

    def _now(self) -> int | None:
        try:
            return os.lstat(self.path).st_mode & 0o777
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _check(self) -> None:
        if self._now() not in {None, self.before, self.after}:
            raise ConflictError(f"The permissions of {self.path} changed meanwhile", LOOK_AGAIN)
