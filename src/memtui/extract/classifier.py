"""The classifier behind the rules: how likely a message is feedback, and how likely it is worth keeping for good.

`feedback.table` was fitted to labelled messages (tests/training/fit_feedback.py tells its provenance). It is MAGIC, and
for each of the two questions a bias and the size of a step, in little-endian doubles, and a signed byte for each of the
BUCKETS features. Both scores are probabilities.
"""

import struct
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from memtui.core.client.conversation import Turn
from memtui.extract import features, personal
from memtui.extract.measures import probability
from memtui.extract.signals import Basis, Signal

MAGIC = b"memtui feedback1"
TABLE = Path(__file__).with_name("feedback.table")
_HEAD = struct.Struct("<dd")
# A signed byte as one without a sign, and what that adds: sums of bytes are the fastest.
_UNSIGNED, _ADDED = bytes([*range(128, 256), *range(128)]), 128

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
    """The shipped weights, read from a table, with the `correction` that was learned for a `project` (slug), if any;
    judges one turn at a time."""

    def __init__(self, data: bytes, correction: personal.Correction | None = None, project: str = "") -> None:
        self._correction, self._project = correction, project
        questions = unpacked(data)
        self._steps = [(bias, step) for bias, step, _ in questions]
        self._weights = [weights.translate(_UNSIGNED) for _, _, weights in questions]

    def scores(self, turn: Turn, draft: Signal | None) -> tuple[float, float]:
        """Return the probabilities that a turn is feedback, and durable. `draft`: what the rules make of it."""
        judged = self.judged(turn, draft)
        return judged.feedback, judged.durable

    def judged(self, turn: Turn, draft: Signal | None) -> "Judged":
        """Judge a turn, with what was learned from its person."""
        rows = features.rows(turn, draft)
        sums = [(value, _sums(keys, self._weights)) for value, keys in rows]
        feedback, durable = [
            bias + step * sum([value * each[at] for value, each in sums]) for at, (bias, step) in enumerate(self._steps)
        ]
        moved = (0.0, 0.0)
        if self._correction is not None:
            moved = self._correction.of(features.by_bucket(rows), self._project)
        return Judged(probability(feedback + moved[0]), probability(durable + moved[1]), (feedback, durable), rows)


def _sums(keys: list[int], questions: list[bytes]) -> list[int]:
    """Return the sum of the weights of these features for each question."""
    # The first one twice: of a single one there would be no tuple.
    take, added = itemgetter(keys[0], *keys), _ADDED * len(keys)
    return [sum(take(weights)) - weights[keys[0]] - added for weights in questions]


class Judged(NamedTuple):
    """What the classifier says of a turn: both probabilities, the `shipped` scores (log odds) before anything that was
    learned, and the `rows` of its features."""

    feedback: float
    durable: float
    shipped: tuple[float, float]
    rows: features.Rows

    @property
    def basis(self) -> Basis:
        """What is kept of it for decisions: the shipped scores, and the features that decisions correct."""
        return self.shipped, personal.kept(self.rows)


def shipped() -> Classifier:
    """Read the table that memtui ships."""
    return Classifier(TABLE.read_bytes())


def learned(root: str, project: str) -> Classifier:
    """Read the table, and what was learned from the person of this root, for a project by its slug."""
    return Classifier(TABLE.read_bytes(), personal.load(root), project)
