"""A change of the pairs of memories that a person called different (`apart.json`). Others may be marked meanwhile."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from memtui.core.base import fastjson
from memtui.core.base.storage import read_or_none
from memtui.core.journal.changes.change import (
    Change,
    ChangedFiles,
    KeepContent,
    ReadContent,
    Row,
    State,
    is_digest_or_none,
)
from memtui.core.journal.changes.file_change import FileChange

FORMAT = 1
Pair = frozenset[str]


def parse(data: bytes) -> set[Pair]:
    """Return the pairs, each two paths, in the content of the file; none if it is damaged."""
    pairs = fastjson.loads_dict(data).get("pairs") if data.strip() else None
    found = [each for each in pairs if isinstance(each, list)] if isinstance(pairs, list) else []
    return {frozenset(each) for each in found if len(each) == 2 and all(isinstance(name, str) for name in each)}


def render(pairs: Iterable[Pair]) -> bytes:
    """Return the content of the file, with a line for each pair."""
    listed = ",\n".join(fastjson.dumps(row) for row in sorted(sorted(each) for each in pairs))
    return f'{{"v": {FORMAT}, "pairs": [\n{listed}\n]}}\n'.encode()


@dataclass(frozen=True)
class PairsEdit(Change):
    """The pairs that become others: (old, new). Without an old one the new one is added, without a new one the old one
    goes; an old one that is not there any more becomes nothing. `before` and `after` are the whole contents, None for
    no file: a file that is still as it was before gets exactly the one after. A file without pairs is removed."""

    key: ClassVar[str] = "pairs"
    pairs: tuple[tuple[Pair | None, Pair | None], ...]
    before: bytes | None
    after: bytes | None

    @classmethod
    def of(cls, path: str, pairs: Sequence[tuple[Pair | None, Pair | None]]) -> "PairsEdit":
        """Return the edit of the file as it is now. Raises OSError."""
        before = read_or_none(path)
        return cls(path, tuple(pairs), before, _after(before, pairs))

    def inverse(self) -> "PairsEdit":
        return PairsEdit(self.path, tuple((new, old) for old, new in self.pairs), self.after, self.before)

    def row(self, files: ChangedFiles, keep: KeepContent) -> dict[str, Any]:
        files[self.path] = self._made_of(files[self.path])
        before, after = (None if data is None else keep(data) for data in (self.before, self.after))
        rows = [[None if each is None else sorted(each) for each in both] for both in self.pairs]
        return {"pairs": rows, "contents": [before, after]}

    @classmethod
    def from_row(cls, row: Row, read: ReadContent) -> "PairsEdit":
        old_new = [tuple(None if each is None else frozenset(each) for each in both) for both in row["pairs"]]
        before, after = (None if digest is None else read(digest) for digest in row["contents"])
        return cls(row["path"], tuple((old, new) for old, new in old_new), before, after)

    @staticmethod
    def is_valid(row: Row) -> bool:
        contents, pairs = row.get("contents"), row["pairs"]
        if not isinstance(contents, list) or len(contents) != 2 or not all(map(is_digest_or_none, contents)):
            return False
        both = isinstance(pairs, list) and all(isinstance(each, list) and len(each) == 2 for each in pairs)
        return both and all(each is None or _is_pair(each) for row in pairs for each in row)

    def state(self, row: Row, rows: Sequence[Row]) -> State:  # noqa: ARG002
        data = read_or_none(self.path)
        if data in {self.before, self.after}:
            return "made" if data == self.after else "open"
        there = parse(data or b"")
        made = all((old not in there) and (new is None or new in there) for old, new in self.pairs)
        return "made" if made else "open"

    def make(self) -> None:
        """Make the edit in the file as it is now. Raises ConflictError if it changes at that moment, OSError."""
        now = read_or_none(self.path)
        if (made := self._made_of(now)) != now:
            mode = None if now is None else os.stat(self.path).st_mode & 0o7777
            FileChange(self.path, now, made, mode).make()

    def _made_of(self, data: bytes | None) -> bytes | None:
        return self.after if data == self.before else _after(data, self.pairs)


def _after(data: bytes | None, changed: Sequence[tuple[Pair | None, Pair | None]]) -> bytes | None:
    there = parse(data or b"")
    olds = {old for old, _ in changed}
    news = {new for old, new in changed if new is not None and (old is None or old in there)}
    left = (there - olds) | news
    return render(left) if left else None


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(each, str) for each in value)
