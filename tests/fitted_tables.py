"""The bytes of the table that training writes, and figures that it and benchmarks state."""

import struct
from collections.abc import Sequence

QUESTIONS = ("feedback", "durable")


def feedback(questions: "list[tuple[float, float, bytes]]") -> bytes:
    """Return `feedback.table`: (bias, step, weights as signed bytes) for each question."""
    head = struct.Struct("<dd")
    return b"memtui feedback1" + b"".join(head.pack(bias, step) + weights for bias, step, weights in questions)


def average_precision(scores: Sequence[float], truths: Sequence[bool]) -> float:
    """Return the mean precision at each message that is meant, best scores first; 0 if none is."""
    hits, total = 0, 0.0
    for number, at in enumerate(sorted(range(len(scores)), key=lambda at: -scores[at]), 1):
        if truths[at]:
            hits += 1
            total += hits / number
    return total / hits if hits else 0.0


def precision_at(recall: float, scores: Sequence[float], truths: Sequence[bool]) -> float:
    """Return the precision of the best scores, as many as it takes to find this share of what is meant; 0 if nothing
    is."""
    wanted, hits = sum(map(bool, truths)) * recall, 0
    for number, at in enumerate(sorted(range(len(scores)), key=lambda at: -scores[at]), 1):
        hits += bool(truths[at])
        if hits and hits >= wanted:
            return hits / number
    return 0.0
