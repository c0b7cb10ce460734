"""Changes of entries in memtui's own files, to which other processes write as well: all other entries stay."""

import contextlib
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from memtui.base import clock_hot, fastjson_hot, fs_hot, ids_hot
from memtui.base.errors import ConflictError
from memtui.base.storage import read_or_none
from memtui.store import trust_hot
from memtui.store.journal import changes
from memtui.store.journal.ledger import Row

FORMAT = 1
LOCK_SECONDS = 5.0
BESIDE_LOCK, VERSIONS_LOCK = "/run/beside.lock", "/run/versions.lock"
# The counts of what nobody has seen. Whoever takes in versions writes them anew.
UNSEEN = "/run/unseen.json"
# The entry of trust.json that says that all of a directory is trusted, beside those by digest.
ALWAYS = "always"
# What a file has of one thing, by a key that only one of its entries has, in the order of the file.
Entries = Mapping[str, Any]
Pair = frozenset[str]
# By the memory's file, relative to its directory: the fields of its rows, each by its `text`.
BesideRows = dict[str, dict[str, dict[str, Any]]]
# A version: the directory, the file in it, and the digest of its bytes.
Seen = tuple[str, str, str]


@dataclass(frozen=True)
class EntriesEdit(ABC):
    """How an edit of a file's entries, by key, is made: before and after."""

    lock: ClassVar[str] = ""  # below memtui's root, where others than the journal write to the file
    path: str
    before: Entries
    after: Entries

    @property
    def root(self) -> str:
        return os.path.dirname(self.path)

    @abstractmethod
    def read(self) -> Entries:
        """Read the present entries. Raises ConflictError if the file is damaged, OSError."""

    @abstractmethod
    def write(self, entries: Entries) -> None:
        """Write the file with these entries. Raises OSError."""

    def result(self, present: Entries) -> Entries:
        """Return the entries that the edit makes of the present ones: those that others wrote meanwhile stay."""
        if list(present.items()) == list(self.before.items()):
            return self.after
        changed = {key: value for key, value in self.after.items() if self.before.get(key) != value}
        removed = self.before.keys() - self.after.keys()
        return {key: value for key, value in present.items() if key not in removed} | changed

    def is_made(self, row: Row, rows: Sequence[Row]) -> bool:  # noqa: ARG002
        try:
            present = self.read()
        except ConflictError:
            return False
        return self.result(present) == present

    def make(self) -> None:
        """Write the file, if that changes it. Raises ConflictError, OSError, LockTimeoutError."""
        with fs_hot.Lock(self.root + self.lock, LOCK_SECONDS) if self.lock else contextlib.nullcontext():
            present = self.read()
            if (result := self.result(present)) != present:
                self.write(result)


@dataclass(frozen=True)
class EntryEdit(EntriesEdit, changes.Change):
    """The one entry in `before` or `after` of a table in a JSON file, which goes with its last entry."""

    key = "entry"
    table: str

    @property
    def name(self) -> str:
        return next(iter({**self.before, **self.after}))

    @property
    def texts(self) -> tuple[str, str]:
        old, new = (
            "".join(f"{name}\n{json.dumps(value, ensure_ascii=False, indent=2)}" for name, value in entries.items())
            for entries in (self.before, self.after)
        )
        return old, new

    def row(self, files: changes.ChangedFiles, keep: changes.KeepContent) -> dict[str, Any]:  # noqa: ARG002
        self._check()
        values = {"before": self.before.get(self.name), "after": self.after.get(self.name)}
        return {"entry": {"table": self.table, "key": self.name, **values}}

    @classmethod
    def from_row(cls, row: Row, read_content: changes.ReadContent) -> "EntryEdit":  # noqa: ARG003
        entry = row["entry"]
        before, after = ({} if entry[key] is None else {entry["key"]: entry[key]} for key in ("before", "after"))
        return cls(row["path"], before, after, entry["table"])

    def _read_file(self) -> dict[str, Any]:
        data = fs_hot.read_or_empty(self.path)
        try:
            whole: dict[str, Any] = json.loads(data) if data.strip() else {"v": 1}
            whole.setdefault(self.table, {}).get(self.name)
        except (ValueError, AttributeError, RecursionError) as error:
            raise ConflictError(f"{self.path} is damaged: {error}", "Fix it, or move it away.") from error
        return whole

    def read(self) -> Entries:
        return {name: value for name, value in self._read_file()[self.table].items() if value is not None}

    def write(self, entries: Entries) -> None:
        if not entries:
            fs_hot.unlink(self.path)
            return
        whole = {**self._read_file(), self.table: dict(sorted(entries.items()))}
        text = json.dumps(whole, ensure_ascii=False, indent=2)
        # A byte of a path that is not UTF-8 is a lone surrogate, which JSON can hold as an escape.
        fs_hot.write_atomic(self.path, f"{text}\n".encode("utf-8", "backslashreplace"))

    def _check(self) -> None:
        if self.read().get(self.name) != self.before.get(self.name):
            raise ConflictError(f"The entry {self.name} in {self.path} changed meanwhile", changes.LOOK_AGAIN)

    def make(self) -> None:
        self._check()
        super().make()


@dataclass(frozen=True)
class TrustEdit(EntriesEdit, changes.Change):
    """Trust in a directory (`trust_hot.key`): names by digest, and ALWAYS; `contents` are kept for a later review."""

    key = "trust"
    lock = "/run/trust.lock"
    directory: str
    contents: tuple[bytes, ...] = ()

    @property
    def texts(self) -> tuple[str, str]:
        return "\n".join(sorted(_digests(self.before).values())), "\n".join(sorted(_digests(self.after).values()))

    def row(self, files: changes.ChangedFiles, keep: changes.KeepContent) -> dict[str, Any]:  # noqa: ARG002
        for content in self.contents:
            keep(content, durable=False)
        tables = {"removed": _digests(self.before), "added": _digests(self.after)}
        always = [ALWAYS in entries for entries in (self.before, self.after)]
        return {"trust": {"directory": self.directory, **tables, "always": always}}

    @classmethod
    def from_row(cls, row: Row, read_content: changes.ReadContent) -> "TrustEdit":  # noqa: ARG003
        fields = row["trust"]
        always = [{ALWAYS: True} if is_always else {} for is_always in fields["always"]]
        before, after = fields["removed"] | always[0], fields["added"] | always[1]
        return cls(row["path"], before, after, fields["directory"])

    def read(self) -> Entries:
        try:
            recorded = trust_hot.recorded(self.root, self.directory)
        except (ValueError, RecursionError) as error:
            hint = "Fix it, or remove it to trust nothing, and try again."
            raise ConflictError(f"{self.path} can't be read: {error}", hint) from error
        return {**recorded.hashes, **({ALWAYS: True} if recorded.always else {})}

    def write(self, entries: Entries) -> None:
        whole = trust_hot.read_all(self.root)
        directories = dict(fastjson_hot.table(whole, "dirs"))
        directories.pop(self.directory, None)
        if entries:
            directories[self.directory] = {"always": ALWAYS in entries, "hashes": _digests(entries)}
        data = fastjson_hot.dumps({**whole, "v": trust_hot.VERSION, "dirs": directories}).encode()
        fs_hot.write_atomic(self.path, data + b"\n")


def _digests(entries: Entries) -> dict[str, str]:
    """Return the trusted texts of a directory: names by digest."""
    return {digest: name for digest, name in entries.items() if digest != ALWAYS}


def pairs_of(data: bytes) -> set[Pair]:
    """Return the pairs, each two paths, in the content of `apart.json`; none if it is damaged."""
    rows = fastjson_hot.rows(fastjson_hot.loads_dict(data), "pairs")
    return {frozenset(row) for row in rows if isinstance(row, list) and [*map(type, row)] == [str, str]}


def pair_entries(pairs: Iterable[Iterable[str]]) -> dict[str, bool]:
    """Return pairs of memories as entries of `apart.json`."""
    return {fastjson_hot.dumps(pair): True for pair in sorted(map(sorted, pairs))}


@dataclass(frozen=True)
class PairsEdit(EntriesEdit, changes.Change):
    """Pairs of memories kept apart, as `pair_entries`."""

    key = "pairs"

    @property
    def texts(self) -> tuple[str, str]:
        return ",\n".join(self.before), ",\n".join(self.after)

    def row(self, files: changes.ChangedFiles, keep: changes.KeepContent) -> dict[str, Any]:  # noqa: ARG002
        old, new = ([json.loads(pair) for pair in entries] for entries in (self.before, self.after))
        return {"pairs": [*([pair, None] for pair in old), *([None, pair] for pair in new)]}

    @classmethod
    def from_row(cls, row: Row, read_content: changes.ReadContent) -> "PairsEdit":  # noqa: ARG003
        old, new = (pair_entries(both[at] for both in row["pairs"] if both[at] is not None) for at in (0, 1))
        return cls(row["path"], old, new)

    def read(self) -> Entries:
        return pair_entries(pairs_of(read_or_none(self.path) or b""))

    def write(self, entries: Entries) -> None:
        if not entries:
            fs_hot.unlink(self.path)
            return
        pairs = ",\n".join(sorted(entries))
        fs_hot.write_atomic(self.path, f'{{"v": {FORMAT}, "pairs": [\n{pairs}\n]}}\n'.encode())


def seen_lines(versions: Sequence[Seen], *, seen: bool, time: str) -> bytes:
    """Return the lines of `versions.jsonl` that say whether a person has seen these versions."""
    rows = [{"v": FORMAT, "time": time, "dir": place, "file": file, "digest": key} for place, file, key in versions]
    return b"".join(fastjson_hot.dumps(row if seen else {**row, "seen": False}).encode() + b"\n" for row in rows)


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

    def is_made(self, row: Row, rows: Sequence[Row]) -> bool:  # noqa: ARG002
        if self.seen[1] is None:
            return True
        last: dict[Seen, bool] = {}
        for line in fs_hot.read_or_empty(self.path).split(b"\n"):
            fields = fastjson_hot.loads_dict(line) if line else {}
            version = (str(fields.get("dir")), str(fields.get("file")), str(fields.get("digest")))
            last[version] = fields.get("seen", "stamp" not in fields) is True
        return all(last.get(version) is self.seen[1] for version in self.versions)

    def make(self) -> None:
        """Append the lines. Raises OSError, LockTimeoutError."""
        if self.seen[1] is None:
            return
        root = os.path.dirname(self.path)
        with fs_hot.Lock(root + VERSIONS_LOCK, LOCK_SECONDS):
            data = seen_lines(self.versions, seen=self.seen[1], time=clock_hot.iso(clock_hot.now()))
            fs_hot.append(self.path, data, durable=True)
            fs_hot.unlink(root + UNSEEN)


def beside_path(root: str, kind: str, directory: str) -> str:
    """Return the path of the file with the rows of a kind, a directory below memtui's, for a directory of memories."""
    return f"{root}/{kind}/{ids_hot.content_hash(directory)}.jsonl"


def beside_rows(data: bytes) -> BesideRows:
    """Return the rows by file, in the order of the lines; lines that can't be read are left out."""
    rows: BesideRows = {}
    for line in data.split(b"\n"):
        row = fastjson_hot.loads_dict(line) if line else {}
        file, text = row.pop("file", None), row.get("text")
        if isinstance(file, str) and file and isinstance(text, str):
            rows.setdefault(file, {})[text] = row
    return rows


def write_beside(path: str, directory: str, rows: Mapping[str, Entries]) -> None:
    """Write the file, sorted, or remove it where there are no rows. The caller holds the lock. Raises OSError."""
    if not any(rows.values()):
        fs_hot.unlink(path)
        return
    try:
        inode = os.stat(directory).st_ino
    except (OSError, ValueError):  # a NUL in the path
        inode = 0
    lines: list[dict[str, Any]] = [{"v": FORMAT, "dir": directory, "inode": inode}]
    lines += [{"file": file, **row} for file in sorted(rows) for row in rows[file].values()]
    data = "".join(fastjson_hot.dumps(line) + "\n" for line in lines).encode()
    if data != read_or_none(path):
        fs_hot.write_atomic(path, data)


@dataclass(frozen=True)
class BesideEdit(EntriesEdit, changes.Change):
    """The rows of a memory's `file`, by their texts."""

    key = "beside"
    lock = BESIDE_LOCK
    directory: str
    file: str

    @property
    def root(self) -> str:
        return os.path.dirname(os.path.dirname(self.path))

    @property
    def about(self) -> str:
        return f"{self.directory}/{self.file}"

    def row(self, files: changes.ChangedFiles, keep: changes.KeepContent) -> dict[str, Any]:  # noqa: ARG002
        removed, added = (
            keep("\n".join(map(fastjson_hot.dumps, rows.values())).encode()) if rows else None
            for rows in (self.before, self.after)
        )
        return {"beside": {"directory": self.directory, "file": self.file}, "removed": removed, "added": added}

    @classmethod
    def from_row(cls, row: Row, read_content: changes.ReadContent) -> "BesideEdit":
        contents = [read_content(row[key]).split(b"\n") if row[key] else [] for key in ("removed", "added")]
        before, after = ({str(row["text"]): row for row in map(fastjson_hot.loads_dict, rows)} for rows in contents)
        return cls(row["path"], before, after, row["beside"]["directory"], row["beside"]["file"])

    def read(self) -> Entries:
        return beside_rows(read_or_none(self.path) or b"").get(self.file, {})

    def write(self, entries: Entries) -> None:
        write_beside(self.path, self.directory, {**beside_rows(read_or_none(self.path) or b""), self.file: entries})
