"""A change of what is kept beside a memory (`core/memories/beside.py`): its rows in one file for each directory of
memories. Workers add to the rows of any memory meanwhile, so an edit changes only the rows that it names."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from memtui.core.base import fastjson, fs, ids
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

FORMAT = 1
LOCK = "/run/beside.lock"
LOCK_SECONDS = 5.0
# What is kept of one thing beside a memory: the JSON of an object with a `text` that no other of its rows has.
BesideRow = str
# By the memory's file, relative to its directory.
BesideRows = dict[str, list[BesideRow]]


def path_of(root: str, kind: str, directory: str) -> str:
    """Return the path of the file with the rows of a kind, a directory below memtui's, for a directory of memories."""
    return f"{root}/{kind}/{ids.content_hash(directory)}.jsonl"


def parse(data: bytes) -> BesideRows:
    """Return the rows by file, in the order of the lines; lines that can't be read are left out."""
    found: BesideRows = {}
    for line in data.split(b"\n"):
        row = fastjson.loads_dict(line) if line else {}
        file = row.pop("file", None)
        if isinstance(file, str) and file and isinstance(row.get("text"), str):
            found.setdefault(file, []).append(fastjson.dumps(row))
    return found


def head_of(data: bytes) -> dict[str, object]:
    """Return the first line: the directory (`dir`) and what the file system calls it (`inode`)."""
    return fastjson.loads_dict(data[: data.find(b"\n") + 1 or len(data)])


def render(directory: str, rows: Mapping[str, Sequence[BesideRow]]) -> bytes | None:
    """Return the content of the file, a line for each row, sorted by the memories' files; None without rows."""
    if not any(rows.values()):
        return None
    head = {"v": FORMAT, "dir": directory, "inode": _inode(directory)}
    lines = [fastjson.dumps(head)]
    for file in sorted(rows):
        lines += [fastjson.dumps({"file": file, **fastjson.loads_dict(row)}) for row in rows[file]]
    return ("\n".join(lines) + "\n").encode()


def _inode(directory: str) -> int:
    try:
        return os.stat(directory).st_ino
    except (OSError, ValueError):  # a NUL in the path
        return 0


def text_of(row: BesideRow) -> str:
    """Return what tells a row of a memory from its others."""
    return str(fastjson.loads_dict(row).get("text"))


def write(path: str, directory: str, rows: Mapping[str, Sequence[BesideRow]]) -> None:
    """Write the file, or remove it where there are no rows. The caller holds the lock. Raises OSError."""
    data = render(directory, rows)
    if data is None:
        fs.unlink(path)
    elif data != read_or_none(path):
        fs.write_atomic(path, data)


@dataclass(frozen=True)
class BesideEdit(Change):
    """The rows of a memory's `file` in its `directory`, before and after. Rows that others added meanwhile stay; one
    with the text of a row that goes, goes as well: it only counts what happened since."""

    key: ClassVar[str] = "beside"
    directory: str
    file: str
    before: tuple[BesideRow, ...]
    after: tuple[BesideRow, ...]

    @property
    def about(self) -> str:
        return f"{self.directory}/{self.file}"

    def inverse(self) -> "BesideEdit":
        return BesideEdit(self.path, self.directory, self.file, self.after, self.before)

    def row(self, files: ChangedFiles, keep: KeepContent) -> dict[str, Any]:  # noqa: ARG002
        removed, added = (keep("\n".join(rows).encode()) if rows else None for rows in (self.before, self.after))
        return {"beside": {"directory": self.directory, "file": self.file}, "removed": removed, "added": added}

    @classmethod
    def from_row(cls, row: Row, read: ReadContent) -> "BesideEdit":
        given = row["beside"]
        before, after = (tuple(read(row[key]).decode().split("\n")) if row[key] else () for key in ("removed", "added"))
        return cls(row["path"], given["directory"], given["file"], before, after)

    @staticmethod
    def is_valid(row: Row) -> bool:
        given = row["beside"]
        named = isinstance(given, dict) and all(isinstance(given.get(key), str) for key in ("directory", "file"))
        return named and all(key in row and is_digest_or_none(row[key]) for key in ("removed", "added"))

    def state(self, row: Row, rows: Sequence[Row]) -> State:  # noqa: ARG002
        there = parse(read_or_none(self.path) or b"").get(self.file, [])
        return "made" if self._made_of(there) == there else "open"

    def make(self) -> None:
        """Write the file. Raises OSError, LockTimeoutError."""
        with fs.Lock(os.path.dirname(os.path.dirname(self.path)) + LOCK, LOCK_SECONDS):
            rows = parse(read_or_none(self.path) or b"")
            there = rows.get(self.file, [])
            made = self._made_of(there)
            if made != there:
                write(self.path, self.directory, {**rows, self.file: made})

    def _made_of(self, there: list[BesideRow]) -> list[BesideRow]:
        if there == list(self.before):
            return list(self.after)
        new = {text_of(row): row for row in self.after}
        changed = {text_of(row) for row in self.after if row not in self.before}
        gone = {text_of(row) for row in self.before} - new.keys()
        kept = [new[text] if (text := text_of(row)) in changed else row for row in there if text_of(row) not in gone]
        known = {text_of(row) for row in kept}
        return kept + [row for text, row in new.items() if text in changed and text not in known]
