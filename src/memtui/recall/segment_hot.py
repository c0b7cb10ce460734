"""The files of an index: a manifest for each directory of memories, and the segments that it names, which never change.

The sections of a segment:
- shards: marshalled tables from term to posting, a term in the one that `number_of` it names. A posting is the numbers
of the memories that have it (16 bits each; 32 in a segment of more than MOST_NARROW), then their impacts (a byte
each): what the term adds to BM25 there, before its idf, from 1 to FULL.
- longer postings, which a shard has as (count, offset, length, highest impact). With a count, as of terms that more
than one of DENSE memories have, it is an impact for each memory, 0 where the term is not.
- rows: 32 bits each for where one begins, and where the last one ends, then a marshalled row a memory.
- owners: the memory of each passage (16 or 32 bits); firsts: 32 bits each for a memory's first passage, and for how
many there are; and the passages, as recall/nearest_passages_hot.py lays them out.

The manifest, a marshalled table with the offset and the check of each shard, holds what a reader needs before it looks
anything up. What is marshalled is checked by `number_of` its bytes; whoever builds checks everything. What is not sound
is no index: the next worker builds it anew. Hot path."""

import marshal
import posix
import sys

from memtui.base import fs_hot, ids_hot, paths_hot
from memtui.recall import words_hot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

VERSION = 12
MAGIC = f"memtui recall {VERSION}.{words_hot.VERSION} {sys.byteorder}\n".encode()
FULL = 255
MOST_NARROW = 1 << 16
number_of = ids_hot.number_of
DENSE, SMALL = 16, 256  # a term in more than one of DENSE memories has an impact for each, from SMALL memories on
FEW = 24  # memories of a term of which the dead ones are counted
FEW_OWNERS = 1 << 16  # bytes of owners that are read at once: of more, those that are asked for
# What a row holds, in this order: file, mtime in ns, size, digest, name, description, type, pinned, expires, paths,
# enforced rules, own checks, triggers, heads. `digest`: `ids_hot.digest` of the file's bytes; `triggers`: `number_of`
# the lines kept beside it; `heads`: the terms of name and description, and of each trigger, as 32 bits of `number_of`
# each, then a byte of weight each.
DIGEST, PINNED, PATHS, RULES, CHECKS, TRIGGERS, HEADS = 3, 7, 9, 10, 11, 12, 13


class DamagedError(Exception):
    """A file of an index is not what its manifest says."""


# What reading an index that is not sound may raise.
DAMAGED = (OSError, ValueError, EOFError, TypeError, LookupError, DamagedError, MemoryError)


class Manifest:
    """What a manifest says; `average`: the mean length; `everyday`: marshalled, what each term of everyday prompts
    counts, and what is taken from a prompt's vector of length 1, nothing without vectors."""

    __slots__ = ("average", "directory", "everyday", "segments", "vectors")

    def __init__(self, fields: "dict[str, Any]") -> None:
        self.directory: str = fields["directory"]
        self.average: float = fields["average"]
        self.vectors: int = fields["vectors"]
        self.everyday: bytes = fields["everyday"]
        self.segments: list[dict[str, Any]] = fields["segments"]


def read_manifest(root: str, directory: str) -> "Manifest | None":
    """Read the manifest of a directory; None if there is none of this version, for this directory. Raises DAMAGED."""
    try:
        data = fs_hot.read(paths_hot.index_base(root, directory) + ".index", "cache")
    except FileNotFoundError:
        return None
    manifest, at = parse_manifest(data)
    if manifest is None or manifest.directory != directory:
        return None
    for entry in manifest.segments:
        entry["table"] = data[at : at + 8 * entry["shards"]]
        at += 8 * entry["shards"]
    return manifest


def parse_manifest(data: bytes) -> "tuple[Manifest | None, int]":
    """Return a file's manifest without tables (None: another version), and where these begin. Raises DAMAGED."""
    start = len(MAGIC) + 8
    if not data.startswith(MAGIC) or len(data) < start:
        return None, 0
    check, length = memoryview(data[start - 8 : start]).cast("I")
    body = data[start : start + length]
    return (Manifest(marshal.loads(body)) if number_of(body) == check else None), start + length  # noqa: S302


def as_bytes(fields: "dict[str, Any]") -> bytes:
    """Return the bytes of a manifest with what `Manifest` reads."""
    entries = [{key: value for key, value in entry.items() if key != "table"} for entry in fields["segments"]]
    body = marshal.dumps({**fields, "segments": entries})
    head = memoryview(bytearray(8)).cast("I")
    head[0], head[1] = number_of(body), len(body)
    return b"".join([MAGIC, head.tobytes(), body, *[entry["table"] for entry in fields["segments"]]])


class Segment:
    """An open segment of `number` memories, those in `dead` gone. Opening and reading it raise DAMAGED."""

    def __init__(self, root: str, entry: "dict[str, Any]") -> None:
        self.name: str = entry["name"]
        self.number: int = entry["number"]
        self.dead: frozenset[int] = entry["dead"]
        # The terms of each topic of the standing instructions, by number.
        self.topics: dict[int, tuple[tuple[str, ...], ...]] = entry["topics"]
        self._table = memoryview(entry["table"]).cast("I")  # offset and check of each shard
        self.shards: int = entry["shards"]
        self._long: int = entry["long"]
        self._rows: int = entry["rows"]
        self._owners: int = entry["owners"]
        self._firsts: int = entry["firsts"]
        self._vectors: int = entry["vectors"]
        self._fd = fs_hot.open_regular(f"{root}/recall/{self.name}", ours=True)
        if posix.fstat(self._fd).st_size != entry["size"]:
            self.close()
            raise DamagedError(self.name)

    def close(self) -> None:
        if self._fd >= 0:
            posix.close(self._fd)
            self._fd = -1

    def shard(self, at: int) -> "dict[str, object]":
        """Read the terms of one shard, with their postings for `posting`."""
        table = self._table
        start = table[2 * at]
        data = posix.pread(self._fd, (table[2 * at + 2] if at + 1 < self.shards else self._long) - start, start)
        if number_of(data) != table[2 * at + 1]:
            raise DamagedError(self.name)
        return marshal.loads(data)  # type: ignore[no-any-return]  # noqa: S302

    def posting(self, row: "Any") -> "Posting":
        """Read what a shard holds for a term."""
        wide = self.number > MOST_NARROW
        if row.__class__ is bytes:
            return Posting(row, wide, 0, FULL)
        dense, start, length, highest = row
        return Posting(posix.pread(self._fd, length, self._long + start), wide, dense, highest)

    def row(self, number: int) -> "tuple[Any, ...]":
        start, end = memoryview(posix.pread(self._fd, 8, self._rows + 4 * number)).cast("I")
        return marshal.loads(posix.pread(self._fd, end - start, self._rows + start))  # type: ignore[no-any-return]  # noqa: S302

    def every_row(self) -> "Iterator[tuple[Any, ...]]":
        data = posix.pread(self._fd, self._owners - self._rows, self._rows)
        starts = memoryview(data[: 4 * (self.number + 1)]).cast("I")
        for at in range(self.number):
            yield marshal.loads(data[starts[at] : starts[at + 1]])  # noqa: S302

    @property
    def has_passages(self) -> bool:
        return self._vectors > 0

    def passages(self, offset: int, length: int) -> bytes:
        """Read a part of the packed passages."""
        return posix.pread(self._fd, length, self._vectors + offset)

    def passages_of(self, number: int) -> range:
        first, end = memoryview(posix.pread(self._fd, 8, self._firsts + 4 * number)).cast("I")
        if not 0 <= end - first <= MOST_NARROW:
            raise DamagedError(self.name)
        return range(first, end)

    def owner(self) -> "Callable[[int], int]":
        """Return what tells the memory of a passage, by its number."""
        start, size = self._owners, self._firsts - self._owners
        width = 4 if self.number > MOST_NARROW else 2
        if size <= FEW_OWNERS:
            return memoryview(posix.pread(self._fd, size, start)).cast("I" if width == 4 else "H").__getitem__
        return lambda passage: int.from_bytes(posix.pread(self._fd, width, start + width * passage), sys.byteorder)


def living(root: str, directory: str) -> "Iterator[tuple[Any, ...]]":
    """Yield the rows of all memories that the index of a directory has. Raises DAMAGED."""
    manifest = read_manifest(root, directory)
    for entry in manifest.segments if manifest is not None else ():
        opened = Segment(root, entry)
        try:
            for number, row in enumerate(opened.every_row()):
                if number not in opened.dead:
                    yield row
        finally:
            opened.close()


class Posting:
    """The memories of one term in one segment, `count` of them, with an impact of at most `highest`. `docs` are their
    numbers, with `impacts` beside them; of a term that many have `all_impacts` has one for each memory."""

    __slots__ = ("_keys", "_width", "all_impacts", "count", "docs", "highest", "impacts")

    def __init__(self, data: bytes, wide: bool, dense: int, highest: int) -> None:
        self.highest = highest
        self._width = width = 4 if wide else 2
        self.all_impacts = data if dense else b""
        self.count = dense or len(data) // (width + 1)
        if not dense:
            self._keys = data[: self.count * width]
            self.docs = memoryview(self._keys).cast("I" if wide else "H")
            self.impacts = data[self.count * width :]

    def among(self, docs: "set[int]") -> "list[tuple[int, int]]":
        """List which of some memories have the term, and the impact there."""
        if impacts := self.all_impacts:
            return [(doc, impacts[doc]) for doc in docs if impacts[doc]]
        return [(doc, self.impact(doc)) for doc in docs.intersection(self.docs)]

    def impact(self, doc: int) -> int:
        """Return the impact in one memory; 0 if that does not have the term."""
        if self.all_impacts:
            return self.all_impacts[doc]
        key = doc.to_bytes(self._width, sys.byteorder)
        at = self._keys.find(key)
        while at > 0 and at % self._width:
            at = self._keys.find(key, at + 1)
        return 0 if at < 0 else self.impacts[at // self._width]

    def living(self, dead: "frozenset[int]") -> int:
        """Count the memories without those that are dead, where that matters: if there are few."""
        if not dead or self.all_impacts or self.count > FEW:
            return self.count
        return self.count - sum([doc in dead for doc in self.docs])
