"""Write a segment of an index: the sections that recall/segment.py reads."""

import marshal
import math
import zlib
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memtui.core.base import fs
from memtui.recall import nearest, segment

# BM25: how soon more of the same term counts no more, and how much a longer memory's terms count less.
K1, B = 1.2, 0.75
# Terms that a shard has, about, and the most bytes of a posting that is kept in it.
SHARD_TERMS, INLINE_BYTES = 12, 512
# What an idf of 10, as of a term in one of 20,000 memories, is as a byte.
HEAD_SCALE = 25


@dataclass
class SegmentDoc:
    """A memory of a segment: its row without the head, how often it has each term by what that counts, the terms of
    name and description, the rows of its passages, and its terms' impacts."""

    row: tuple[Any, ...]
    weights: Mapping[str, int]
    head: Sequence[str]
    passages: Sequence[bytes] = ()
    impacts: dict[str, int] = field(default_factory=dict)
    head_bytes: bytes = b""

    @property
    def file(self) -> str:
        """Its file, relative to the directory."""
        return str(self.row[0])

    @property
    def length(self) -> int:
        """The number of its terms, by what they count."""
        return sum(self.weights.values())


def impacts(doc: SegmentDoc, average: float) -> dict[str, int]:
    """Return what each term adds before its idf, from LEAST to FULL; `average`: the mean length of a memory."""
    norm = K1 * (1.0 - B + B * doc.length / average)
    least, full = segment.LEAST, segment.FULL
    return {term: max(least, round(full * weight / (weight + norm))) for term, weight in doc.weights.items()}


def write(root: str, name: str, docs: Sequence[SegmentDoc]) -> dict[str, Any]:
    """Write a segment below memtui's directory, and return its entry for the manifest. Raises OSError."""
    code = "I" if len(docs) > segment.MOST_NARROW else "H"
    postings: "dict[str, tuple[array[int], array[int]]]" = {}
    for number, doc in enumerate(docs):
        for term, impact in doc.impacts.items():
            found = postings.get(term)
            if found is None:
                found = postings[term] = (array(code), array("H"))
            found[0].append(number)
            found[1].append(impact)
    counts = {term: len(numbers) for term, (numbers, _) in postings.items()}
    table, shards, longer = _shards(postings, len(docs))
    rows = _rows(docs, counts)
    vectors, owners, firsts = _vectors(docs, code)
    whole = b"".join([shards, longer, rows, owners, firsts, vectors])
    fs.write_atomic(f"{root}/recall/{name}", whole, durable=False)
    starts = [len(shards), len(shards) + len(longer), len(shards) + len(longer) + len(rows)]
    return {
        "name": name,
        "number": len(docs),
        "size": len(whole),
        "check": zlib.crc32(whole, zlib.crc32(table)),
        "dead": frozenset(),
        "table": table,
        "shards": len(table) // 8,
        "long": starts[0],
        "rows": starts[1],
        "owners": starts[2],
        "firsts": starts[2] + len(owners),
        "vectors": starts[2] + len(owners) + len(firsts) if vectors else 0,
    }


def _shards(postings: "Mapping[str, tuple[array[int], array[int]]]", number: int) -> tuple[bytes, bytes, bytes]:
    """Return the table of shards, the shards, and the postings outside of them, for `number` memories."""
    count = 1
    while count * SHARD_TERMS < len(postings):
        count *= 2
    shards: list[dict[str, object]] = [{} for _ in range(count)]
    longer = bytearray()
    for term, (numbers, impacts_) in postings.items():
        value: bytes = numbers.tobytes() + impacts_.tobytes()
        dense = 0
        if number >= segment.SMALL and len(numbers) * segment.DENSE > number:
            dense = len(numbers)
            planes = bytearray(2 * number)
            for at, impact in zip(numbers, impacts_, strict=True):
                planes[at] = impact >> 8
                planes[number + at] = impact & 0xFF
            value = bytes(planes)
        key = segment.number_of(term.encode("utf-8", "surrogatepass")) % count
        if dense or len(value) > INLINE_BYTES:
            shards[key][term] = (dense, len(longer), len(value), max(impacts_))
            longer += value
        else:
            shards[key][term] = value
    table, body = array("I"), bytearray()
    for shard in shards:
        data = marshal.dumps(shard)
        table.extend((len(body), segment.number_of(data)))
        body += data
    return table.tobytes(), bytes(body), bytes(longer)


def _rows(docs: Sequence[SegmentDoc], counts: Mapping[str, int]) -> bytes:
    """Return the section of rows: where each begins, and the last one ends, then the rows."""
    starts, rows = array("I"), bytearray()
    at = 4 * (len(docs) + 1)
    for doc in docs:
        starts.append(at + len(rows))
        head = doc.head_bytes
        if not head:  # the terms of name and description, weighted by their idf
            terms = [term for term in doc.head if counts.get(term)]
            numbers = array("I", [segment.number_of(term.encode("utf-8", "surrogatepass")) for term in terms])
            idfs = [math.log(1.0 + (len(docs) - counts[term] + 0.5) / (counts[term] + 0.5)) for term in terms]
            head = numbers.tobytes() + bytes([max(1, min(255, round(HEAD_SCALE * each))) for each in idfs])
        rows += marshal.dumps((*doc.row, head))
    starts.append(at + len(rows))
    return starts.tobytes() + bytes(rows)


def _vectors(docs: Sequence[SegmentDoc], code: str) -> tuple[bytes, bytes, bytes]:
    """Return the packed passages of all memories, the memory that each is of, and where those of each memory begin."""
    owners, firsts = array(code), array("I", [0])
    for number, doc in enumerate(docs):
        owners.extend([number] * len(doc.passages))
        firsts.append(len(owners))
    passages = [each for doc in docs for each in doc.passages]
    return nearest.pack(passages), owners.tobytes(), firsts.tobytes()
