"""The bytes of the tables that training writes, and a figure that it and benchmarks state."""

import struct
import zlib
from collections.abc import Iterable, Sequence

from memtui.learn import personal


def feedback(questions: "list[tuple[float, float, bytes]]") -> bytes:
    """Return `feedback.table`: (bias, step, weights as signed bytes) for each question."""
    head = struct.Struct("<dd")
    return b"memtui feedback1" + b"".join(head.pack(bias, step) + weights for bias, step, weights in questions)


def validation(rows: Iterable[personal.Validated]) -> bytes:
    """Return `validation.table`."""
    listed = list(rows)
    parts = [struct.pack("<I", len(listed))]
    for row in listed:
        truths = row.truths[0] + 2 * row.truths[1]
        parts.append(struct.pack("<BffH", truths, *row.scores, len(row.values)))
        parts += [
            struct.pack("<IH", key, min(65535, round(value * personal.SCALE))) for key, value in row.values.items()
        ]
    return personal.MAGIC + zlib.compress(b"".join(parts), 9)


def precision_at(recall: float, scores: Sequence[float], truths: Sequence[bool]) -> float:
    """Return the precision of the best scores, as many as it takes to find this share of what is meant; 0 if nothing
    is."""
    wanted, hits = sum(map(bool, truths)) * recall, 0
    for number, at in enumerate(sorted(range(len(scores)), key=lambda at: -scores[at]), 1):
        hits += bool(truths[at])
        if hits and hits >= wanted:
            return hits / number
    return 0.0
