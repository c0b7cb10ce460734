"""Bring the index of a directory's memories up to date, in the background.

Files whose time or size changed are read. What is new goes into a small segment beside the large one, with what changed
before it; if that is more than a tenth, all is built anew. A manifest is replaced in one step: a reader, or a crash at
any time, finds a whole index. All files are derived."""

import marshal
import math
import os
import sys
import tempfile
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from functools import cached_property
from heapq import merge
from itertools import chain, groupby, pairwise
from operator import itemgetter
from types import EllipsisType
from typing import IO, Any, NamedTuple

from memtui.base import fs_hot, ids_hot, paths_hot
from memtui.client import locate_hot
from memtui.recall import embed, everyday, fields, nearest_passages_hot, segment_hot, vectors_hot, words_hot
from memtui.store import triggers

REBUILT_FROM, SHARE = 16, 0.1  # changed memories from which all is built anew: so many, if more than this share of all
STEP = 1000  # memories of which reading takes a second or two: after so many the time limit of a worker begins again
RUN = 1 << 20  # postings that are in memory at a time, 8 bytes each
BLOCK = 1 << 20  # bytes of a segment's file that are read at once to check it
# BM25: how soon more of the same term counts no more, and how much a longer memory's terms count less.
K1, B = 1.2, 0.75
SHARD_TERMS, INLINE_BYTES = 12, 512  # terms that a shard has, about, and the most bytes of a posting that is kept in it
HEAD_SCALE = 25  # what an idf of 10, as of a term in one of 20,000 memories, is as a byte


# Writing a segment: the sections that recall/segment_hot.py reads


@dataclass
class SegmentDoc:
    """A memory of a segment: its row without the heads, how often it has each term by what that counts, the terms of
    name and description and of each trigger, the rows of its passages, and the topics of a standing instruction."""

    row: tuple[Any, ...]
    weights: Mapping[str, int]
    heads: list[list[str]]
    passages: Sequence[bytes] = ()
    topics: Sequence[tuple[str, ...]] = ()

    @property
    def file(self) -> str:
        return str(self.row[0])

    @property
    def length(self) -> int:
        """The number of its terms, by what they count."""
        return sum(self.weights.values())


class _Postings:
    """The postings of all terms, those of RUN entries at a time in memory; `counts`: of how many memories each is."""

    def __init__(self, make_file: Callable[[], IO[bytes]]) -> None:
        self.counts: dict[str, int] = {}
        self._make_file = make_file
        self._run: "dict[str, array[int]]" = {}
        self._entries = 0
        self._runs: list[Iterable[tuple[str, bytes]]] = []

    def add(self, number: int, weights: Mapping[str, int]) -> None:
        run = self._run
        for term, weight in weights.items():
            posting = run.get(term)
            if posting is None:
                posting = run[term] = array("Q")
            posting.append(number << 32 | weight)
        self._entries += len(weights)
        if self._entries > RUN:
            self.put_aside()

    def put_aside(self) -> None:
        """Write what is in memory to a file, in the order of the terms. Raises OSError."""
        file, sizes = self._make_file(), array("I")
        for term in sorted(self._run):
            posting = self._run.pop(term)
            self.counts[term] = self.counts.get(term, 0) + len(posting)
            sizes.append(file.write(marshal.dumps((term, posting.tobytes()))))
        file.seek(0)
        self._entries = 0
        self._runs.append(marshal.loads(file.read(size)) for size in sizes)  # noqa: S302

    def merged(self) -> Iterator[tuple[str, list[int], list[int]]]:
        """Yield each term with the numbers of its memories, and with what it counts in each."""
        at = int(sys.byteorder == "little")  # where the number stands in an entry
        for term, parts in groupby(merge(*self._runs, key=itemgetter(0)), itemgetter(0)):
            halves = memoryview(b"".join([part for _, part in parts])).cast("I")
            yield term, halves[at::2].tolist(), halves[1 - at :: 2].tolist()


def write(root: str, base: str, docs: Iterable[SegmentDoc], average: float = 0.0) -> tuple[dict[str, Any], float]:
    """Write a segment of the index `base`; return its entry for the manifest, and `average`, the mean length of a
    memory, by default of these. Of many memories most waits in files without a name. Raises OSError."""
    lengths, sizes, firsts = array("I"), array("I"), array("I", [0])
    topics: dict[int, tuple[tuple[str, ...], ...]] = {}
    with ExitStack() as stack:

        def make_file() -> IO[bytes]:
            return stack.enter_context(tempfile.TemporaryFile(dir=f"{root}/recall"))

        rows, passages, postings = make_file(), make_file(), _Postings(make_file)
        for number, doc in enumerate(docs):
            postings.add(number, doc.weights)
            lengths.append(doc.length)
            sizes.append(rows.write(marshal.dumps((doc.row, doc.heads))))
            firsts.append(firsts[-1] + len(doc.passages))
            passages.writelines(doc.passages)
            if doc.topics:
                topics[number] = tuple(doc.topics)
        postings.put_aside()
        average = average or sum(lengths) / max(1, len(lengths)) or 1.0
        code = "I" if len(lengths) > segment_hot.MOST_NARROW else "H"
        owners = array(code)
        for number, (first, end) in enumerate(pairwise(firsts)):
            owners.extend([number] * (end - first))
        table, shards, longer = _shards(postings, [K1 * (1.0 - B + B * length / average) for length in lengths], code)
        passages.flush()
        read_passages = lambda offset, length: os.pread(passages.fileno(), length, offset)
        packed = nearest_passages_hot.packed(read_passages, firsts[-1], vectors_hot.DIMENSIONS)
        row_section = _rows(rows, sizes, postings.counts)
        sections = ([shards], [longer], row_section, [owners.tobytes()], [firsts.tobytes()], packed)
        name = f"{os.path.basename(base)}-{ids_hot.new_id()}.segment"
        ends, check = _write_file(f"{root}/recall/{name}", sections, zlib.crc32(table))
    starts = dict(zip(("long", "rows", "owners", "firsts", "vectors", "size"), ends, strict=True))
    starts["vectors"] *= firsts[-1] > 0
    entry = {"name": name, "number": len(lengths), "check": check, "dead": frozenset(), "topics": topics}
    return {**entry, "table": table, "shards": len(table) // 8, **starts}, average


def _write_file(path: str, sections: Iterable[Iterable[bytes | bytearray]], check: int) -> tuple[list[int], int]:
    """Write a file that nobody reads yet; return where each section ends, and the check of all. Raises OSError."""
    ends = []
    try:
        with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, fs_hot.FILE_MODE), "wb") as file:
            for section in sections:
                for block in section:
                    check = zlib.crc32(block, check)
                    file.write(block)
                ends.append(file.tell())
    except BaseException:
        fs_hot.unlink(path)
        raise
    return ends, check


def _shards(postings: _Postings, norms: Sequence[float], code: str) -> tuple[bytes, bytearray, bytearray]:
    """Return the table of shards, the shards, and postings outside; `norms`: by memory, what its length takes away."""
    # An odd number: of a power of two, words with the same first letters would share a shard.
    count, number, full = len(postings.counts) // SHARD_TERMS | 1, len(norms), segment_hot.FULL
    shards: list[dict[str, object]] = [{} for _ in range(count)]
    longer = bytearray()
    for term, numbers, weights in postings.merged():
        # What the term adds in each memory before its idf, from 1 to FULL.
        pairs = zip(weights, map(norms.__getitem__, numbers), strict=True)
        impacts = bytes([max(1, round(full * weight / (weight + norm))) for weight, norm in pairs])
        value = array(code, numbers).tobytes() + impacts
        dense = 0
        if number >= segment_hot.SMALL and len(numbers) * segment_hot.DENSE > number:
            dense = len(numbers)
            every = bytearray(number)
            for at, impact in zip(numbers, impacts, strict=True):
                every[at] = impact
            value = bytes(every)
        key = segment_hot.number_of(term.encode("utf-8", "surrogatepass")) % count
        if dense or len(value) > INLINE_BYTES:
            shards[key][term] = (dense, len(longer), len(value), max(impacts))
            longer += value
        else:
            shards[key][term] = value
    table, body = array("I"), bytearray()
    for shard in shards:
        data = marshal.dumps(shard)
        table.extend((len(body), segment_hot.number_of(data)))
        body += data
    return table.tobytes(), body, longer


def _rows(file: IO[bytes], sizes: Sequence[int], counts: Mapping[str, int]) -> Iterator[bytes | bytearray]:
    """Yield the section of rows, read from a file in parts of `sizes`, behind where each begins."""
    file.seek(0)
    starts, rows = array("I"), bytearray()
    at = 4 * (len(sizes) + 1)
    for size in sizes:
        starts.append(at + len(rows))
        row, texts = marshal.loads(file.read(size))  # noqa: S302
        heads = []
        for head in texts:  # weighted by their idf
            terms = [term for term in head if counts.get(term)]
            numbers = array("I", [segment_hot.number_of(term.encode("utf-8", "surrogatepass")) for term in terms])
            idfs = [math.log(1.0 + (len(sizes) - counts[term] + 0.5) / (counts[term] + 0.5)) for term in terms]
            heads.append(numbers.tobytes() + bytes([max(1, min(255, round(HEAD_SCALE * idf))) for idf in idfs]))
        rows += marshal.dumps((*row, heads))
    starts.append(at + len(rows))
    yield starts.tobytes()
    yield rows


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
    """What an index has of a file: in which segment and as which number, its mtime in ns, size and triggers."""

    segment: int
    number: int
    stamp: tuple[int, int, int]


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
        self.root, self.directory = root, directory
        self.base = paths_hot.index_base(root, directory)
        self.table, self.progress = table, progress
        self.version = table.size if table is not None else 0  # tells the vectors of other tables apart
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
        return BuildReport(changes.total, self._add(manifest, changes, files), len(changes.gone))

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
                            files[row[0]] = _Known(at, number, (row[1], row[2], row[segment_hot.TRIGGERS]))
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
            if other is None or other.stamp != (*row[1:], self._number_of_lines(file)):
                changes.read.append(row)
            elif other.segment:
                changes.again.append(row)
        changes.gone = list(missing)
        return changes

    def _number_of_lines(self, file: str) -> int:
        return segment_hot.number_of("\n".join(self.lines.get(file, ())).encode("utf-8", "replace"))

    def _read(self, files: Iterable[tuple[str, int, int]]) -> Iterator[SegmentDoc]:
        """Read memories, each when it is asked for; those that can't be read are left out."""
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
            texts = f"{own.name}\n{own.description}", *own.triggers
            heads = [list(dict.fromkeys(words_hot.terms(text))) for text in texts]
            yield SegmentDoc(row, own.weights(), heads, self._passages(own), own.topics())

    @cached_property
    def _embedder(self) -> embed.Embedder | None:
        return embed.Embedder(self.table) if self.table is not None else None

    def _passages(self, own: fields.Fields) -> list[bytes]:
        embedder = self._embedder
        return [row for text in own.passages() for row in embedder.passages(text)] if embedder is not None else []

    # Writing

    def _rebuilt(self, removed: int) -> BuildReport:
        entry, average = write(self.root, self.base, self._read(self._compare({}).read))
        self.progress()
        direction = everyday.direction(self.table) if self.table else []
        usual = marshal.dumps((everyday.word_weights(), direction))
        number = entry["number"]
        self._write_manifest(average, usual, [entry] if number else [])
        return BuildReport(number, number, removed, rebuilt=True)

    def _add(self, manifest: segment_hot.Manifest, changes: _Changes, files: Mapping[str, _Known]) -> int:
        """Write the segment beside the first, in which what is replaced is dead; return how many memories were read."""
        replaced: set[str] = set()

        def read() -> Iterator[SegmentDoc]:
            for doc in self._read(changes.read):
                replaced.add(doc.file)
                yield doc

        later = []
        if changes.read or changes.again:
            later = [write(self.root, self.base, chain(read(), self._read(changes.again)), manifest.average)[0]]
        stale = [files[file] for file in {*replaced, *changes.gone} if file in files]
        dead = {known.number for known in stale if not known.segment}
        segments = [{**entry, "dead": entry["dead"] | dead} for entry in manifest.segments[:1]]
        self._write_manifest(manifest.average, manifest.everyday, [*segments, *later])
        return len(replaced)

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
