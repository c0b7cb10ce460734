"""Bring the index of a directory's memories up to date, in the background.

Files whose time or size changed are read. What is new goes into a small segment beside the large one, with what changed
before it; if that is more than a tenth, all is built anew. A manifest is replaced in one step: a reader, or a crash at
any time, finds a whole index. All files are derived."""

import marshal
import math
import os
import zlib
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from types import EllipsisType
from typing import Any, NamedTuple

from memtui.base import fs_hot, ids_hot, paths_hot
from memtui.client import locate_hot
from memtui.recall import embed, everyday, fields, nearest_passages_hot, segment_hot, vectors_hot, words_hot
from memtui.store import triggers

# Changed memories from which all is built anew: so many, if that is more than this share of all.
REBUILT_FROM, SHARE = 16, 0.1
# Memories of which reading takes a second or two: after so many the time limit of a worker begins again.
STEP = 1000
# Bytes of a segment's file that are read at once to check it.
BLOCK = 1 << 20
# BM25: how soon more of the same term counts no more, and how much a longer memory's terms count less.
K1, B = 1.2, 0.75
# Terms that a shard has, about, and the most bytes of a posting that is kept in it.
SHARD_TERMS, INLINE_BYTES = 12, 512
# What an idf of 10, as of a term in one of 20,000 memories, is as a byte.
HEAD_SCALE = 25


# Writing a segment: the sections that recall/segment_hot.py reads


@dataclass
class SegmentDoc:
    """A memory of a segment: its row without the heads, how often it has each term by what that counts, the terms of
    name and description and of each trigger, the rows of its passages, and the topics of a standing instruction."""

    row: tuple[Any, ...]
    weights: Mapping[str, int]
    heads: Sequence[Iterable[str]]
    passages: Sequence[bytes] = ()
    topics: Sequence[tuple[str, ...]] = ()

    @property
    def file(self) -> str:
        return str(self.row[0])

    @property
    def length(self) -> int:
        """The number of its terms, by what they count."""
        return sum(self.weights.values())


def impacts(doc: SegmentDoc, average: float) -> dict[str, int]:
    """Return what each term adds before its idf, from 1 to FULL; `average`: the mean length of a memory."""
    norm, full = K1 * (1.0 - B + B * doc.length / average), segment_hot.FULL
    return {term: max(1, round(full * weight / (weight + norm))) for term, weight in doc.weights.items()}


def write(root: str, base: str, docs: Sequence[SegmentDoc], average: float) -> dict[str, Any]:
    """Write a segment of the index `base`, and return its entry for the manifest. Raises OSError."""
    name = f"{os.path.basename(base)}-{ids_hot.new_id()}.segment"
    code = "I" if len(docs) > segment_hot.MOST_NARROW else "H"
    postings: "dict[str, tuple[array[int], array[int]]]" = {}
    for number, doc in enumerate(docs):
        for term, impact in impacts(doc, average).items():
            posting = postings.get(term)
            if posting is None:
                posting = postings[term] = (array(code), array("B"))
            posting[0].append(number)
            posting[1].append(impact)
    counts = {term: len(numbers) for term, (numbers, _) in postings.items()}
    table, shards, longer = _shards(postings, len(docs))
    rows = _rows(docs, counts)
    vectors, owners, firsts = _vectors(docs, code)
    sections = [shards, longer, rows, owners, firsts, vectors]
    whole = b"".join(sections)
    fs_hot.write_atomic(f"{root}/recall/{name}", whole, durable=False)
    ends = accumulate(map(len, sections))
    starts = dict(zip(("long", "rows", "owners", "firsts", "vectors"), ends, strict=False))
    starts["vectors"] *= bool(vectors)
    topics = {number: tuple(doc.topics) for number, doc in enumerate(docs) if doc.topics}
    entry = {"name": name, "number": len(docs), "size": len(whole), "check": zlib.crc32(whole, zlib.crc32(table))}
    return {**entry, "dead": frozenset(), "topics": topics, "table": table, "shards": len(table) // 8, **starts}


def _shards(postings: "Mapping[str, tuple[array[int], array[int]]]", number: int) -> tuple[bytes, bytes, bytes]:
    """Return the table of shards, the shards, and the postings outside of them, for `number` memories."""
    # An odd number: of a power of two, words with the same first letters would share a shard.
    count = len(postings) // SHARD_TERMS | 1
    shards: list[dict[str, object]] = [{} for _ in range(count)]
    longer = bytearray()
    for term, (numbers, impacts_) in postings.items():
        value: bytes = numbers.tobytes() + impacts_.tobytes()
        dense = 0
        if number >= segment_hot.SMALL and len(numbers) * segment_hot.DENSE > number:
            dense = len(numbers)
            every = bytearray(number)
            for at, impact in zip(numbers, impacts_, strict=True):
                every[at] = impact
            value = bytes(every)
        key = segment_hot.number_of(term.encode("utf-8", "surrogatepass")) % count
        if dense or len(value) > INLINE_BYTES:
            shards[key][term] = (dense, len(longer), len(value), max(impacts_))
            longer += value
        else:
            shards[key][term] = value
    table, body = array("I"), bytearray()
    for shard in shards:
        data = marshal.dumps(shard)
        table.extend((len(body), segment_hot.number_of(data)))
        body += data
    return table.tobytes(), bytes(body), bytes(longer)


def _rows(docs: Sequence[SegmentDoc], counts: Mapping[str, int]) -> bytes:
    """Return the section of rows: where each begins, and the last one ends, then the rows."""
    starts, rows = array("I"), bytearray()
    at = 4 * (len(docs) + 1)
    for doc in docs:
        starts.append(at + len(rows))
        heads = []
        for head in doc.heads:  # weighted by their idf
            terms = [term for term in head if counts.get(term)]
            numbers = array("I", [segment_hot.number_of(term.encode("utf-8", "surrogatepass")) for term in terms])
            idfs = [math.log(1.0 + (len(docs) - counts[term] + 0.5) / (counts[term] + 0.5)) for term in terms]
            heads.append(numbers.tobytes() + bytes([max(1, min(255, round(HEAD_SCALE * idf))) for idf in idfs]))
        rows += marshal.dumps((*doc.row, heads))
    starts.append(at + len(rows))
    return starts.tobytes() + bytes(rows)


def _vectors(docs: Sequence[SegmentDoc], code: str) -> tuple[bytes, bytes, bytes]:
    """Return the packed passages of all memories, the memory that each is of, and where those of each memory begin."""
    owners, firsts = array(code), array("I", [0])
    for number, doc in enumerate(docs):
        owners.extend([number] * len(doc.passages))
        firsts.append(len(owners))
    passages = [passage for doc in docs for passage in doc.passages]
    return nearest_passages_hot.pack(passages), owners.tobytes(), firsts.tobytes()


# Bringing an index up to date


@dataclass
class BuildReport:
    """How many memories there are, were read, and are gone; `rebuilt`: all anew; `busy`: another process is at it."""

    memories: int = 0
    read: int = 0
    gone: int = 0
    rebuilt: bool = False
    busy: bool = False


class _Known(NamedTuple):
    """What an index has of a file: in which segment and as which number, and its row."""

    segment: int
    number: int
    row: tuple[Any, ...]


@dataclass
class _Changes:
    """What is to be done: (file, mtime in ns, size) to `read`, what changed before (`again`), what is `gone`."""

    read: list[tuple[str, int, int]] = field(default_factory=list)
    again: list[tuple[str, int, int]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    total: int = 0


def bring_up_to_date(
    root: str,
    directory: str,
    table: vectors_hot.Table | EllipsisType | None = ...,
    wait: float = 0.0,
    progress: Callable[[], object] = lambda: None,
) -> BuildReport:
    """Bring a directory's index up to date. `wait`: seconds; `progress`: called every STEP memories. Raises OSError."""
    base = paths_hot.index_base(root, directory)
    # Whoever holds the lock looks again after it, if this is there: so nothing that changed meanwhile is left out.
    fs_hot.write_atomic(base + ".again", b"", durable=False)
    report = BuildReport(busy=True)
    while os.path.exists(base + ".again"):
        try:
            with fs_hot.Lock(base + ".lock", wait):
                fs_hot.unlink(base + ".again")
                with ExitStack() as stack:
                    opened = None if table is ... else table
                    if table is ...:
                        with suppress(OSError):  # none that can be read
                            opened = stack.enter_context(closing(vectors_hot.Table()))
                    once_more = _Builder(root, directory, opened, progress).run()
                # What was read the first time is not read again the next, and is news all the same.
                once_more.read, once_more.gone = once_more.read + report.read, once_more.gone + report.gone
                report = once_more
        except fs_hot.LockTimeoutError:
            break
    return report


class _Builder:
    """Brings one index up to date, with its lock held."""

    def __init__(
        self, root: str, directory: str, table: vectors_hot.Table | None, progress: Callable[[], object]
    ) -> None:
        self.root = root
        self.directory = directory
        self.base = paths_hot.index_base(root, directory)
        self.table = table
        self.progress = progress
        # Tells the vectors of other tables apart.
        self.version = table.size if table is not None else 0
        by_file = triggers.lines_of(root, directory)
        self.lines = {file: tuple(trigger.text for trigger in own) for file, own in by_file.items()}

    def run(self) -> BuildReport:
        manifest, files = self._present()
        changes = self._compare(files)
        count = len(changes.read) + len(changes.gone)
        later = sum(entry["number"] for entry in manifest.segments[1:]) if manifest is not None else 0
        if manifest is None or count + later > max(REBUILT_FROM, SHARE * changes.total):
            return self._rebuilt(len(changes.gone))
        if not count:
            self._sweep(manifest.segments)
            return BuildReport(changes.total)
        docs = self._read(changes.read)
        replaced = {*changes.gone, *(doc.file for doc in docs)}
        dead = {files[file].number for file in replaced if file in files and not files[file].segment}
        self._add(manifest, [*docs, *self._read(changes.again)], dead)
        return BuildReport(changes.total, len(docs), len(changes.gone))

    # Reading what is there

    def _present(self) -> tuple[segment_hot.Manifest | None, dict[str, _Known]]:
        """Read the manifest and what it has of each file, with all checks; None if anything is damaged or older."""
        files: dict[str, _Known] = {}
        try:
            manifest = segment_hot.read_manifest(self.root, self.directory)
            if manifest is None or manifest.vectors != self.version:
                return None, {}
            for at, entry in enumerate(manifest.segments):
                # The table of a segment and its whole file are as they were written.
                check = zlib.crc32(entry["table"])
                with open(f"{self.root}/recall/{entry['name']}", "rb") as file:
                    while block := file.read(BLOCK):
                        check = zlib.crc32(block, check)
                if check != entry["check"]:
                    return None, {}
                with closing(segment_hot.Segment(self.root, entry)) as opened:
                    for number, row in enumerate(opened.every_row()):
                        if number not in opened.dead:
                            files[row[0]] = _Known(at, number, row)
        except segment_hot.DAMAGED:
            return None, {}
        return manifest, files

    def _compare(self, files: Mapping[str, _Known]) -> _Changes:
        changes = _Changes()
        missing = dict(files)
        listed: list[str] = []
        with suppress(OSError):
            listed = locate_hot.recallable(self.directory)
        for file in listed:
            try:
                status = os.stat(f"{self.directory}/{file}")
            except OSError:
                continue
            changes.total += 1
            other = missing.pop(file, None)
            row = file, status.st_mtime_ns, status.st_size
            if other is None or other.row[:3] != row or other.row[segment_hot.TRIGGERS] != self._number_of_lines(file):
                changes.read.append(row)
            elif other.segment:
                changes.again.append(row)
        changes.gone = list(missing)
        return changes

    def _number_of_lines(self, file: str) -> int:
        return segment_hot.number_of("\n".join(self.lines.get(file, ())).encode("utf-8", "replace"))

    def _read(self, files: Iterable[tuple[str, int, int]]) -> list[SegmentDoc]:
        """Read memories; those that can't be read are left out."""
        segment_docs = []
        for number, (file, mtime, size) in enumerate(files):
            if number % STEP == 0:
                self.progress()
            try:
                data = fs_hot.read_bytes(f"{self.directory}/{file}", fields.MOST_BYTES)
            except OSError:
                continue
            own = fields.read(data, file, self.lines.get(file, ()))
            searched = (own.name, own.description, own.type, own.pinned, own.expires, own.paths, own.rules, own.checks)
            row = (file, mtime, size, ids_hot.digest(data), *searched, self._number_of_lines(file))
            heads = [dict.fromkeys(words_hot.terms(text)) for text in (f"{own.name}\n{own.description}", *own.triggers)]
            segment_docs.append(SegmentDoc(row, own.weights(), heads, self._passages(own), own.topics()))
        return segment_docs

    @cached_property
    def _embedder(self) -> embed.Embedder | None:
        return embed.Embedder(self.table) if self.table is not None else None

    def _passages(self, own: fields.Fields) -> list[bytes]:
        embedder = self._embedder
        return [row for text in own.passages() for row in embedder.passages(text)] if embedder is not None else []

    # Writing

    def _rebuilt(self, removed: int) -> BuildReport:
        docs = self._read(self._compare({}).read)
        average = sum(doc.length for doc in docs) / len(docs) if docs else 1.0
        self.progress()
        entry = write(self.root, self.base, docs, average)
        direction = everyday.direction(self.table) if self.table else []
        usual = marshal.dumps((everyday.word_weights(), direction))
        self._write_manifest(average, usual, [entry] if docs else [])
        return BuildReport(len(docs), len(docs), removed, rebuilt=True)

    def _add(self, manifest: segment_hot.Manifest, docs: list[SegmentDoc], dead: set[int]) -> None:
        """Write the segment beside the first, in which what is replaced is `dead`."""
        segments = [{**entry, "dead": entry["dead"] | dead} for entry in manifest.segments[:1]]
        if docs:
            segments.append(write(self.root, self.base, docs, manifest.average))
        self._write_manifest(manifest.average, manifest.everyday, segments)

    def _write_manifest(self, average: float, usual: bytes, segments: Sequence[dict[str, Any]]) -> None:
        data: dict[str, Any] = {"directory": self.directory, "average": average, "vectors": self.version}
        data |= {"everyday": usual, "segments": list(segments)}
        fs_hot.write_atomic(self.base + ".index", segment_hot.as_bytes(data), durable=False)
        self._sweep(segments)

    def _sweep(self, segments: Iterable[dict[str, Any]]) -> None:
        """Remove this directory's segments that its manifest does not name; who read an older one reads it again."""
        names_kept = {entry["name"] for entry in segments}
        stem = os.path.basename(self.base) + "-"
        for name in os.listdir(self.root + "/recall"):
            if name.startswith(stem) and name not in names_kept:
                fs_hot.unlink(f"{self.root}/recall/{name}")
