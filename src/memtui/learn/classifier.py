"""The classifier behind the rules: how likely a message is feedback, and how likely it is worth keeping for good.

`feedback.table` was fitted to labelled messages (tests/training/fit_feedback.py tells its provenance). It is MAGIC, and
for each question a bias and the size of a step, in little-endian doubles, and a signed byte for each of the BUCKETS
features."""

import math
import struct
from collections.abc import Iterable
from dataclasses import replace
from operator import itemgetter
from pathlib import Path

from memtui.client.transcripts.conversation import Turn
from memtui.learn import features, message, phrases, signals
from memtui.learn.signals import Signal

MAGIC = b"memtui feedback1"
TABLE = Path(__file__).with_name("feedback.table")
_HEAD = struct.Struct("<dd")
# A signed byte as one without a sign, and what that adds: sums of bytes are the fastest.
_UNSIGNED, _ADDED = bytes([*range(128, 256), *range(128)]), 128

Question = tuple[float, float, bytes]


def unpacked(data: bytes) -> list[Question]:
    """Read the bytes of a table. Raises ValueError if they are no table of this version."""
    size = _HEAD.size + features.BUCKETS
    if not data.startswith(MAGIC) or len(data) != len(MAGIC) + 2 * size:
        raise ValueError("feedback.table has another format")
    starts = (len(MAGIC), len(MAGIC) + size)
    return [(*_HEAD.unpack_from(data, start), data[start + _HEAD.size : start + size]) for start in starts]


class Classifier:
    """The weights of a table."""

    def __init__(self, data: bytes) -> None:
        questions = unpacked(data)
        self._steps = [(bias, step) for bias, step, _ in questions]
        self._weights = [weights.translate(_UNSIGNED) for _, _, weights in questions]

    def judged(self, turn: Turn, draft: Signal | None) -> tuple[float, float]:
        """Return how likely a turn is feedback, and how likely it is durable."""
        sums = []
        for value, keys in features.rows(turn, draft):
            # The first one twice: of a single one there would be no tuple.
            take, added = itemgetter(keys[0], *keys), _ADDED * len(keys)
            sums.append((value, [sum(take(weights)) - weights[keys[0]] - added for weights in self._weights]))
        feedback, durable = [
            bias + step * sum([value * each[at] for value, each in sums]) for at, (bias, step) in enumerate(self._steps)
        ]
        return probability(feedback), probability(durable)


def probability(score: float) -> float:
    """Return the probability that a score in log odds means."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


def shipped() -> Classifier:
    """Read the table that memtui ships."""
    return Classifier(TABLE.read_bytes())


# From this confidence, the rules are sure: of 41 such corrections and preferences among 1,780 labelled messages, 37
# were feedback, and about this share was worth keeping for good: enough not to be folded, too little to be delivered.
SURE, SURE_DURABLE = 0.5, 0.29
# From this confidence, the person said in so many words that it is for the future. Among the labelled messages there
# are two of these, so the number is set: enough to be delivered (inbox/format.py).
SAID, SAID_DURABLE = 0.75, 0.5
# The least probability with which the classifier makes a draft of what no rule matches.
LEAST = 0.05


def drafts(turns: Iterable[Turn], classifier: Classifier | None) -> list[Signal]:
    """List the drafts in these turns, each name once; by the rules alone without a classifier."""
    return signals.once(signal for turn in turns for signal in drafts_of(turn, classifier))


def drafts_of(turn: Turn, classifier: Classifier | None) -> list[Signal]:
    """List the drafts in one turn: one, or for each of several rules one."""
    signals_here = signals.signals_of(turn)
    words = message.own_words(turn.text)
    if classifier is None or not words:
        return signals_here
    if not signals_here and (message.too_short(words) or phrases.MACHINE.match(turn.text)):
        return []  # of which no draft is made, whatever its scores
    first = _judged(turn, signals_here[0] if signals_here else None, classifier)
    if first is None:
        return []
    return [
        first,
        *[replace(signal, durable=_lasting(first.durable or 0.0, signal.confidence)) for signal in signals_here[1:]],
    ]


def draft_of(turn: Turn, classifier: Classifier | None) -> Signal | None:
    """Return the first draft in one turn, or None."""
    return next(iter(drafts_of(turn, classifier)), None)


def joined(feedback: float, durable: float, sure: float) -> tuple[float, float]:
    """Return both probabilities of the classifier for a draft that the rules are `sure` of, with what that adds."""
    return (max(feedback, sure), _lasting(durable, sure)) if sure >= SURE else (feedback, durable)


def _lasting(durable: float, sure: float) -> float:
    """Return how likely what the rules are `sure` of is durable, by the classifier and by its words."""
    return max(durable, SAID_DURABLE if sure >= SAID else SURE_DURABLE)


def _judged(turn: Turn, draft: Signal | None, classifier: Classifier) -> Signal | None:
    feedback, durable = classifier.judged(turn, draft)
    if draft is None:
        signal = signals.unruled(turn, round(feedback, 2)) if feedback >= LEAST else None
        return replace(signal, durable=round(durable, 2)) if signal else None
    if draft.kind == "confirmation":
        return replace(draft, durable=round(durable, 2))
    if draft.confidence >= SURE:
        feedback, durable = joined(feedback, durable, draft.confidence)
    elif message.too_short(turn.text):
        feedback = draft.confidence  # of a few words the classifier says too much; how long they hold, it may say
    return replace(draft, confidence=round(feedback, 2), durable=round(durable, 2))
