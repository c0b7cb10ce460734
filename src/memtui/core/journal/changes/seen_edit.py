"""A change of what a person has seen of memories that others wrote: lines at the end of `versions.jsonl`."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from memtui.core.base import clock, fastjson, fs
from memtui.core.journal.changes.change import Change, ChangedFiles, KeepContent, ReadContent, Row, State

FORMAT = 1
LOCK = "/run/versions.lock"
LOCK_SECONDS = 5.0
# The counts of what nobody has seen. Whoever takes in versions writes them anew.
UNSEEN = "/run/unseen.json"
# A version: the directory, the file in it, and the digest of its bytes.
Seen = tuple[str, str, str]


def lines(versions: Sequence[Seen], *, seen: bool, time: str) -> bytes:
    """Return the lines that say whether a person has seen these versions."""
    rows = [{"v": FORMAT, "time": time, "dir": place, "file": file, "digest": key} for place, file, key in versions]
    return b"".join(fastjson.dumps(row if seen else {**row, "seen": False}).encode() + b"\n" for row in rows)


@dataclass(frozen=True)
class SeenEdit(Change):
    """Whether a person has seen some `versions`, before and after; None: nothing is written then, as the text itself
    goes."""

    key: ClassVar[str] = "versions"
    versions: tuple[Seen, ...]
    seen: tuple[bool | None, bool | None]

    @property
    def _root(self) -> str:
        return os.path.dirname(self.path)

    def inverse(self) -> "SeenEdit":
        return SeenEdit(self.path, self.versions, (self.seen[1], self.seen[0]))

    def row(self, files: ChangedFiles, keep: KeepContent) -> dict[str, Any]:  # noqa: ARG002
        return {"versions": [list(each) for each in self.versions], "seen": list(self.seen)}

    @classmethod
    def from_row(cls, row: Row, read: ReadContent) -> "SeenEdit":  # noqa: ARG003
        found = [(str(place), str(file), str(digest)) for place, file, digest in row["versions"]]
        return cls(row["path"], tuple(found), (row["seen"][0], row["seen"][1]))

    @staticmethod
    def is_valid(row: Row) -> bool:
        found, seen = row["versions"], row.get("seen")
        if not isinstance(found, list) or not isinstance(seen, list) or len(seen) != 2:
            return False
        three = all(isinstance(each, list) and len(each) == 3 for each in found)
        return three and all(isinstance(text, str) for each in found for text in each) and all(map(_is_state, seen))

    def state(self, row: Row, rows: Sequence[Row]) -> State:  # noqa: ARG002
        if self.seen[1] is None:
            return "made"
        last: dict[Seen, bool] = {}
        wanted = set(self.versions)
        for line in fs.read_or_empty(self.path).split(b"\n"):
            found = fastjson.loads_dict(line) if line else {}
            version = (str(found.get("dir")), str(found.get("file")), str(found.get("digest")))
            if version in wanted:
                last[version] = found.get("seen", "stamp" not in found) is True
        return "made" if all(last.get(each) is self.seen[1] for each in self.versions) else "open"

    def make(self) -> None:
        """Append the lines. Raises OSError, LockTimeoutError."""
        if self.seen[1] is None:
            return
        with fs.Lock(self._root + LOCK, LOCK_SECONDS):
            fs.append(self.path, lines(self.versions, seen=self.seen[1], time=clock.iso(clock.now())), durable=True)
            fs.unlink(self._root + UNSEEN)


def _is_state(value: object) -> bool:
    return value is None or isinstance(value, bool)
