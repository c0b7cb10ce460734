"""A change of one entry of a table in one of memtui's JSON files."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from memtui.core.base import fs
from memtui.core.base.errors import ConflictError
from memtui.core.journal.changes.change import LOOK_AGAIN, Change, ChangedFiles, KeepContent, ReadContent, Row, State

Value = Mapping[str, Any]


@dataclass(frozen=True)
class EntryEdit(Change):
    """The entry `name` of a table, before and after; None: no entry. A file left without entries is removed."""

    key: ClassVar[str] = "entry"
    table: str
    name: str
    before: Value | None
    after: Value | None

    def inverse(self) -> "EntryEdit":
        return EntryEdit(self.path, self.table, self.name, self.after, self.before)

    def row(self, files: ChangedFiles, keep: KeepContent) -> dict[str, Any]:  # noqa: ARG002
        self._read_expected()
        return {"entry": {"table": self.table, "key": self.name, "before": self.before, "after": self.after}}

    @classmethod
    def from_row(cls, row: Row, read: ReadContent) -> "EntryEdit":  # noqa: ARG003
        found = row["entry"]
        return cls(row["path"], found["table"], found["key"], found["before"], found["after"])

    @staticmethod
    def is_valid(row: Row) -> bool:
        found = row["entry"]
        if not isinstance(found, dict) or not all(isinstance(found.get(key), str) for key in ("table", "key")):
            return False
        return all(key in found and isinstance(found[key], dict | None) for key in ("before", "after"))

    def state(self, row: Row, rows: Sequence[Row]) -> State:  # noqa: ARG002
        found = self._read_file()[self.table].get(self.name)
        return "made" if found == self.after else "open" if found == self.before else "foreign"

    def _read_file(self) -> dict[str, Any]:
        data = fs.read_or_empty(self.path)
        try:
            found: Any = json.loads(data) if data.strip() else {"v": 1}
            entries = found.setdefault(self.table, {})
            entries.get(self.name)
        except (ValueError, AttributeError, RecursionError) as error:
            raise ConflictError(f"{self.path} is damaged: {error}", "Fix it, or move it away.") from error
        whole: dict[str, Any] = found
        return whole

    def _read_expected(self) -> dict[str, Any]:
        whole = self._read_file()
        if whole[self.table].get(self.name) != self.before:
            raise ConflictError(f"The entry {self.name} in {self.path} changed meanwhile", LOOK_AGAIN)
        return whole

    def make(self) -> None:
        whole = self._read_expected()
        entries = {name: value for name, value in whole[self.table].items() if name != self.name}
        if self.after is not None:
            entries[self.name] = self.after
        if not entries:
            fs.unlink(self.path)
            return
        whole[self.table] = dict(sorted(entries.items()))
        text = json.dumps(whole, ensure_ascii=False, indent=2) + "\n"
        # A byte of a path that is not UTF-8 is a lone surrogate, which JSON can hold as an escape.
        fs.write_atomic(self.path, text.encode("utf-8", "backslashreplace"))
