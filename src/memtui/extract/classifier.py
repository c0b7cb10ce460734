"""The classifier behind the rules: how likely a message is feedback, and how likely it is worth keeping for good.

`feedback.table` was fitted to labelled messages (tests/training/fit_feedback.py tells its provenance). It is MAGIC, and
for each of the two questions a bias and the size of a step, in little-endian doubles, and a signed byte for each of the
BUCKETS features. Both scores are probabilities.
"""

import math
import struct
from pathlib import Path

from memtui.core.client.conversation import Turn
from memtui.extract import features
from memtui.extract.signals import Signal

MAGIC = b"memtui feedback1"
TABLE = Path(__file__).with_name("feedback.table")
_HEAD = struct.Struct("<dd")

Question = tuple[float, float, bytes]


def packed(questions: list[Question]) -> bytes:
    """Return the bytes of a table: (bias, step, weights as signed bytes) for each question."""
    return MAGIC + b"".join(_HEAD.pack(bias, step) + weights for bias, step, weights in questions)


def unpacked(data: bytes) -> list[Question]:
    """Read the bytes of a table. Raises ValueError if they are no table of this version."""
    size = _HEAD.size + features.BUCKETS
    if not data.startswith(MAGIC) or len(data) != len(MAGIC) + 2 * size:
        raise ValueError("feedback.table has another format")
    starts = (len(MAGIC), len(MAGIC) + size)
    return [(*_HEAD.unpack_from(data, start), data[start + _HEAD.size : start + size]) for start in starts]


class Classifier:
    """The shipped weights, read from a table; judges one turn at a time."""

    def __init__(self, data: bytes) -> None:
        self._questions = [(bias, step, memoryview(weights).cast("b")) for bias, step, weights in unpacked(data)]

    def scores(self, turn: Turn, draft: Signal | None) -> tuple[float, float]:
        """Return the probabilities that a turn is feedback, and durable. `draft`: what the rules make of it."""
        found = features.of(turn, draft)
        feedback, durable = [
            _sigmoid(bias + step * sum([value * weights[key] for key, value in found.items()]))
            for bias, step, weights in self._questions
        ]
        return feedback, durable


def shipped() -> Classifier:
    """Read the table that memtui ships."""
    return Classifier(TABLE.read_bytes())


def _sigmoid(score: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))
