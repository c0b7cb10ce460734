"""A change of the trust in a directory's memories. Other entries of trust.json may change meanwhile."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from memtui.core.base.errors import ConflictError, MemtuiError
from memtui.core.journal.changes.change import Change, ChangedFiles, KeepContent, ReadContent, Row, State
from memtui.core.places import trust


@dataclass(frozen=True)
class TrustEdit(Change):
    """Trust in a directory, which is given by its `trust.key`. `removed` and `added` map digests to names; `always` is
    before and after. `texts`: the contents of `added`, stored so that later versions can be compared with them."""

    key: ClassVar[str] = "trust"
    directory: str
    removed: Mapping[str, str]
    added: Mapping[str, str]
    always: tuple[bool, bool] = (False, False)
    texts: tuple[bytes, ...] = ()

    @property
    def idle(self) -> bool:
        """Whether the edit changes nothing."""
        return not self.removed and not self.added and self.always[0] == self.always[1]

    def inverse(self) -> "TrustEdit":
        return TrustEdit(self.path, self.directory, self.added, self.removed, (self.always[1], self.always[0]))

    def row(self, files: ChangedFiles, keep: KeepContent) -> dict[str, Any]:  # noqa: ARG002
        for trusted in self.texts:
            keep(trusted, durable=False)
        given = {"removed": dict(self.removed), "added": dict(self.added), "always": list(self.always)}
        return {"trust": {"directory": self.directory, **given}}

    @classmethod
    def from_row(cls, row: Row, read: ReadContent) -> "TrustEdit":  # noqa: ARG003
        given = row["trust"]
        always = (given["always"][0], given["always"][1])
        return cls(row["path"], given["directory"], given["removed"], given["added"], always)

    @staticmethod
    def is_valid(row: Row) -> bool:
        value = row["trust"]
        if not isinstance(value, dict) or not isinstance(value.get("directory"), str):
            return False
        for table in (value.get("removed"), value.get("added")):
            if not isinstance(table, dict) or not all(isinstance(name, str) for name in table.values()):
                return False
        always = value.get("always")
        return isinstance(always, list) and len(always) == 2 and all(isinstance(each, bool) for each in always)

    def state(self, row: Row, rows: Sequence[Row]) -> State:  # noqa: ARG002
        try:
            known = trust.recorded(os.path.dirname(self.path), self.directory)
        except (OSError, ValueError, RecursionError):
            return "open"  # can't be told
        hashes = known.hashes
        gone = not any(hashes.get(digest) == name for digest, name in self.removed.items())
        there = all(hashes.get(digest) == name for digest, name in self.added.items())
        return "made" if gone and there and known.always == self.always[1] else "open"

    def make(self) -> None:
        """Write trust.json. Raises ConflictError if it is damaged (a person has to fix it), OSError."""
        always = None if self.always[0] == self.always[1] else self.always[1]
        try:
            trust.update(os.path.dirname(self.path), self.directory, self.removed, dict(self.added), always)
        except MemtuiError as error:
            if isinstance(error.__cause__, OSError):
                raise error.__cause__ from None
            raise ConflictError(error.message, error.hint) from error
