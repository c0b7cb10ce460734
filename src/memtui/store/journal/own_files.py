"""Changes of entries in memtui's own files, to which other processes write as well: tables, trust, rows, versions."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memtui.base import clock, fastjson, fs, ids
from memtui.base.errors import ConflictError
from memtui.base.storage import read_or_none
from memtui.store import trust
from memtui.store.journal import changes
from memtui.store.journal.shapes import Row, is_pair

FORMAT = 1
LOCK_SECONDS = 5.0
BESIDE_LOCK, VERSIONS_LOCK = "/run/beside.lock", "/run/versions.lock"
# The counts of what nobody has seen. Whoever takes in versions writes them anew.
UNSEEN = "/run/unseen.json"
Pair = frozenset[str]
# What is kept of one thing beside a memory: the JSON of an object with a `text` that no other of its rows has.
BesideRow = str
# By the memory's file, relative to its directory.
BesideRows = dict[str, list[BesideRow]]
# A version: the directory, the file in it, and the digest of its bytes.
Seen = tuple[str, str, str]


@dataclass(frozen=True)
class EntryEdit(changes.Change):
    """The entry `name` of a table in a JSON file, before and after; a file without entries is removed."""

    key = "entry"
    table: str
    name: str
    before: Row | None
    after: Row | None

    @property
    def texts(self) -> tuple[str, str]:
        old, new = (
            "" if value is None else f"{self.name}\n{json.dumps(value, ensure_ascii=False, indent=2)}"
            for value in (self.before, self.after)
        )
        return old, new

    def row(self, files: changes.ChangedFiles, keep: changes.KeepContent) -> dict[str, Any]:  # noqa: ARG002
        self._read_expected()
        return {"entry": {"table": self.table, "key": self.name, "before": self.before, "after": self.after}}

    @classmethod
    def from_row(cls, row: Row, read_content: changes.ReadContent) -> "EntryEdit":  # noqa: ARG003
        entry = row["entry"]
        return cls(row["path"], entry["table"], entry["key"], entry["before"], entry["after"])

    def state(self, row: Row, rows: Sequence[Row]) -> changes.State:  # noqa: ARG002
        return changes.state_of(self._read_file()[self.table].get(self.name), self.before, self.after)

    def _read_file(self) -> dict[str, Any]:
        data = fs.read_or_empty(self.path)
        try:
            whole: dict[str, Any] = json.loads(data) if data.strip() else {"v": 1}
            whole.setdefault(self.table, {}).get(self.name)
        except (ValueError, AttributeError, RecursionError) as error:
            raise ConflictError(f"{self.path} is damaged: {error}", "Fix it, or move it away.") from error
        return whole

    def _read_expected(self) -> dict[str, Any]:
        whole = self._read_file()
        if whole[self.table].get(self.name) != self.before:
            raise ConflictError(f"The entry {self.name} in {self.path} changed meanwhile", changes.LOOK_AGAIN)
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


@dataclass(frozen=True)
class TrustEdit(changes.Change):
    """Trust in a directory (`trust.key`): digests to names `removed` and `added`, `always` before and after."""

    key = "trust"
    swapped = (("removed", "added"),)
    flipped = ("always",)
    directory: str
    removed: Mapping[str, str]
    added: Mapping[str, str]
    always: tuple[bool, bool] = (False, False)
    contents: tuple[bytes, ...] = ()

    @property
    def texts(self) -> tuple[str, str]:
        return "\n".join(sorted(self.removed.values())), "\n".join(sorted(self.added.values()))

    @property
    def idle(self) -> bool:
        """Whether the edit changes nothing."""
        return not self.removed and not self.added and self.always[0] == self.always[1]

    def row(self, files: changes.ChangedFiles, keep: changes.KeepContent) -> dict[str, Any]:  # noqa: ARG002
        for content in self.contents:
            keep(content, durable=False)
        tables = {"removed": dict(self.removed), "added": dict(self.added), "always": list(self.always)}
        return {"trust": {"directory": self.directory, **tables}}

    @classmethod
    def from_row(cls, row: Row, read_content: changes.ReadContent) -> "TrustEdit":  # noqa: ARG003
        fields = row["trust"]
        return cls(row["path"], fields["directory"], fields["removed"], fields["added"], tuple(fields["always"]))

    def state(self, row: Row, rows: Sequence[Row]) -> changes.State:  # noqa: ARG002
        try:
            trusts = trust.recorded(os.path.dirname(self.path), self.directory)
        except (OSError, ValueError, RecursionError):
            return "open"  # can't be told
        removed = not any(trusts.hashes.get(digest) == name for digest, name in self.removed.items())
        added = all(trusts.hashes.get(digest) == name for digest, name in self.added.items())
        return "made" if removed and added and trusts.always == self.always[1] else "open"

    def make(self) -> None:
        """Write trust.json. Raises ConflictError if it is damaged (a person has to fix it), OSError."""
        always = None if self.always[0] == self.always[1] else self.always[1]
        trust.update(os.path.dirname(self.path), self.directory, self.removed, dict(self.added), always)


def pairs_of(data: bytes) -> set[Pair]:
    """Return the pairs, each two paths, in the content of `apart.json`; none if it is damaged."""
    pairs = fastjson.loads_dict(data).get("pairs") if data.strip() else None
    return {frozenset(pair) for pair in pairs if is_pair(pair)} if isinstance(pairs, list) else set()


@dataclass(frozen=True)
class PairsEdit(changes.Change):
    """Pairs of memories kept apart that become others: (old, new), None for none; a missing old one does nothing."""

    key = "pairs"
    pairs: tuple[tuple[Pair | None, Pair | None], ...]

    @property
    def texts(self) -> tuple[str, str]:
        old, new = zip(*self.pairs, strict=True)
        return _listed(filter(None, old)), _listed(filter(None, new))

    def inverse(self) -> "PairsEdit":
        return PairsEdit(self.path, tuple(pair[::-1] for pair in self.pairs))

    def row(self, files: changes.ChangedFiles, keep: changes.KeepContent) -> dict[str, Any]:  # noqa: ARG002
        return {"pairs": [[None if pair is None else sorted(pair) for pair in both] for both in self.pairs]}

    @classmethod
    def from_row(cls, row: Row, read_content: changes.ReadContent) -> "PairsEdit":  # noqa: ARG003
        both = [[None if pair is None else frozenset(pair) for pair in pairs] for pairs in row["pairs"]]
        return cls(row["path"], tuple((old, new) for old, new in both))

    def state(self, row: Row, rows: Sequence[Row]) -> changes.State:  # noqa: ARG002
        present = pairs_of(read_or_none(self.path) or b"")
        is_made = all((old not in present) and (new is None or new in present) for old, new in self.pairs)
        return "made" if is_made else "open"

    def make(self) -> None:
        """Make the edit in the file as it is now. Raises ConflictError if it changes at that moment, OSError."""
        now = read_or_none(self.path)
        present = pairs_of(now or b"")
        added = {new for old, new in self.pairs if new is not None and (old is None or old in present)}
        pairs = (present - {old for old, _ in self.pairs}) | added
        if pairs != present:
            data = f'{{"v": {FORMAT}, "pairs": [\n{_listed(pairs)}\n]}}\n'.encode() if pairs else None
            mode = None if now is None else os.stat(self.path).st_mode & 0o7777
            changes.FileChange(self.path, now, data, mode).make()


def _listed(pairs: Iterable[Pair]) -> str:
    return ",\n".join(fastjson.dumps(row) for row in sorted(sorted(pair) for pair in pairs))


def seen_lines(versions: Sequence[Seen], *, seen: bool, time: str) -> bytes:
    """Return the lines of `versions.jsonl` that say whether a person has seen these versions."""
    rows = [{"v": FORMAT, "time": time, "dir": place, "file": file, "digest": key} for place, file, key in versions]
    return b"".join(fastjson.dumps(row if seen else {**row, "seen": False}).encode() + b"\n" for row in rows)


@dataclass(frozen=True)
class SeenEdit(changes.Change):
    """Whether a person has seen some versions, before and after, as lines of `versions.jsonl`; None: no lines."""

    key = "versions"
    swapped = ()
    flipped = ("seen",)
    versions: tuple[Seen, ...]
    seen: tuple[bool | None, bool | None]

    def row(self, files: changes.ChangedFiles, keep: changes.KeepContent) -> dict[str, Any]:  # noqa: ARG002
        return {"versions": [list(version) for version in self.versions], "seen": list(self.seen)}

    @classmethod
    def from_row(cls, row: Row, read_content: changes.ReadContent) -> "SeenEdit":  # noqa: ARG003
        return cls(row["path"], tuple(map(tuple, row["versions"])), tuple(row["seen"]))

    def state(self, row: Row, rows: Sequence[Row]) -> changes.State:  # noqa: ARG002
        if self.seen[1] is None:
            return "made"
        last: dict[Seen, bool] = {}
        for line in fs.read_or_empty(self.path).split(b"\n"):
            fields = fastjson.loads_dict(line) if line else {}
            version = (str(fields.get("dir")), str(fields.get("file")), str(fields.get("digest")))
            last[version] = fields.get("seen", "stamp" not in fields) is True
        return "made" if all(last.get(version) is self.seen[1] for version in self.versions) else "open"

    def make(self) -> None:
        """Append the lines. Raises OSError, LockTimeoutError."""
        if self.seen[1] is None:
            return
        root = os.path.dirname(self.path)
        with fs.Lock(root + VERSIONS_LOCK, LOCK_SECONDS):
            data = seen_lines(self.versions, seen=self.seen[1], time=clock.iso(clock.now()))
            fs.append(self.path, data, durable=True)
            fs.unlink(root + UNSEEN)


def beside_path(root: str, kind: str, directory: str) -> str:
    """Return the path of the file with the rows of a kind, a directory below memtui's, for a directory of memories."""
    return f"{root}/{kind}/{ids.content_hash(directory)}.jsonl"


def beside_rows(data: bytes) -> BesideRows:
    """Return the rows by file, in the order of the lines; lines that can't be read are left out."""
    rows: BesideRows = {}
    for line in data.split(b"\n"):
        row = fastjson.loads_dict(line) if line else {}
        file = row.pop("file", None)
        if isinstance(file, str) and file and isinstance(row.get("text"), str):
            rows.setdefault(file, []).append(fastjson.dumps(row))
    return rows


def text_of(row: BesideRow) -> str:
    """Return what tells a row of a memory from its others."""
    return str(fastjson.loads_dict(row).get("text"))


def write_beside(path: str, directory: str, rows: Mapping[str, Iterable[BesideRow]]) -> None:
    """Write the file, sorted, or remove it where there are no rows. The caller holds the lock. Raises OSError."""
    if not any(rows.values()):
        fs.unlink(path)
        return
    try:
        inode = os.stat(directory).st_ino
    except (OSError, ValueError):  # a NUL in the path
        inode = 0
    lines = [{"v": FORMAT, "dir": directory, "inode": inode}]
    lines += [{"file": file, **fastjson.loads_dict(row)} for file in sorted(rows) for row in rows[file]]
    data = "".join(fastjson.dumps(line) + "\n" for line in lines).encode()
    if data != read_or_none(path):
        fs.write_atomic(path, data)


@dataclass(frozen=True)
class BesideEdit(changes.Change):
    """The rows of a memory's `file`, before and after; rows that others added meanwhile stay."""

    key = "beside"
    directory: str
    file: str
    before: tuple[BesideRow, ...]
    after: tuple[BesideRow, ...]

    @property
    def about(self) -> str:
        return f"{self.directory}/{self.file}"

    def row(self, files: changes.ChangedFiles, keep: changes.KeepContent) -> dict[str, Any]:  # noqa: ARG002
        removed, added = (keep("\n".join(rows).encode()) if rows else None for rows in (self.before, self.after))
        return {"beside": {"directory": self.directory, "file": self.file}, "removed": removed, "added": added}

    @classmethod
    def from_row(cls, row: Row, read_content: changes.ReadContent) -> "BesideEdit":
        place = row["beside"]
        before, after = (
            tuple(read_content(row[key]).decode().split("\n")) if row[key] else () for key in ("removed", "added")
        )
        return cls(row["path"], place["directory"], place["file"], before, after)

    def state(self, row: Row, rows: Sequence[Row]) -> changes.State:  # noqa: ARG002
        present = beside_rows(read_or_none(self.path) or b"").get(self.file, [])
        return "made" if self._result(present) == present else "open"

    def make(self) -> None:
        """Write the file. Raises OSError, LockTimeoutError."""
        with fs.Lock(os.path.dirname(os.path.dirname(self.path)) + BESIDE_LOCK, LOCK_SECONDS):
            rows = beside_rows(read_or_none(self.path) or b"")
            present = rows.get(self.file, [])
            result = self._result(present)
            if result != present:
                write_beside(self.path, self.directory, {**rows, self.file: result})

    def _result(self, present: list[BesideRow]) -> list[BesideRow]:
        if present == list(self.before):
            return list(self.after)
        new = {text_of(row): row for row in self.after}
        changed = {text_of(row) for row in self.after if row not in self.before}
        removed = {text_of(row) for row in self.before} - new.keys()
        rows = [
            new[text] if (text := text_of(row)) in changed else row for row in present if text_of(row) not in removed
        ]
        texts = {text_of(row) for row in rows}
        return rows + [row for text, row in new.items() if text in changed and text not in texts]
