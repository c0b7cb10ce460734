"""How good scores are: average precision, precision at a recall; and the probability that a score in log odds is."""

import math
from collections.abc import Sequence


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


def probability(score: float) -> float:
    """Return the probability that a score in log odds means."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))
