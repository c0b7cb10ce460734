"""Drafts as the rules and the classifier make them together.

The rules say what a draft's words are; the classifier says how likely it is feedback, and worth keeping for good. It
also finds what no rule matches. What the rules are sure of stays, for they know other languages than the messages that
the classifier was fitted to.
"""

from collections.abc import Iterable
from dataclasses import replace

from memtui.core.client.conversation import Turn
from memtui.extract import phrases, signals
from memtui.extract.classifier import Classifier
from memtui.extract.measures import probability
from memtui.extract.personal import Correction
from memtui.extract.signals import Signal

# From this confidence, the rules are sure: of 41 such corrections and preferences among 1,780 labelled messages, 37
# were feedback, and about this share was worth keeping for good: enough not to be folded, too little to be delivered.
SURE, SURE_DURABLE = 0.5, 0.29
# From this confidence, the person said in so many words that it is for the future. Among the labelled messages there
# are two of these, so the number is set: enough to be delivered (core/inbox/format.py).
SAID, SAID_DURABLE = 0.75, 0.5
# The least probability with which the classifier makes a draft of what no rule matches.
LEAST = 0.05


def drafts(turns: Iterable[Turn], classifier: Classifier | None) -> list[Signal]:
    """List the drafts in these turns, each name once; by the rules alone without a classifier."""
    return signals.once(each for turn in turns for each in drafts_of(turn, classifier))


def drafts_of(turn: Turn, classifier: Classifier | None) -> list[Signal]:
    """List the drafts in one turn: one, or for each of several rules one. Only the first teaches by its decision."""
    found = signals.signals_of(turn)
    words = signals.own_words(turn.text)
    if classifier is None or not words:
        return found
    if not found and (signals.too_short(words) or phrases.MACHINE.match(turn.text)):
        return []  # of which no draft is made, whatever its scores
    first = _judged(turn, found[0] if found else None, classifier)
    if first is None:
        return []
    return [first, *[replace(each, durable=_lasting(first.durable or 0.0, each.confidence)) for each in found[1:]]]


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
    found = classifier.judged(turn, draft)
    feedback, durable = found.feedback, found.durable
    if draft is None:
        made = signals.unruled(turn, round(feedback, 2)) if feedback >= LEAST else None
        return replace(made, durable=round(durable, 2), judged=found.basis) if made else None
    draft = replace(draft, judged=found.basis)
    if draft.kind == "confirmation":
        return replace(draft, durable=round(durable, 2))
    if draft.confidence >= SURE:
        feedback, durable = joined(feedback, durable, draft.confidence)
    elif signals.too_short(turn.text):
        feedback = draft.confidence  # of a few words the classifier says too much; how long they hold, it may say
    return replace(draft, confidence=round(feedback, 2), durable=round(durable, 2))


def again(draft: Signal, correction: Correction, project: str) -> Signal:
    """Return a draft that the shipped classifier judged as it is judged with what was learned since, for a project by
    its slug. What the rules are sure of stays."""
    if draft.judged is None or draft.durable is None:
        return draft
    shipped, found = draft.judged
    moved = correction.of(found, project)
    least = draft.durable if draft.durable > _rounded(shipped[1]) else 0.0
    durable = max(least, _rounded(shipped[1] + moved[1]))
    if draft.kind == "confirmation":
        return replace(draft, durable=durable)
    feedback = _rounded(shipped[0] + moved[0])
    if draft.confidence > _rounded(shipped[0]):
        feedback = max(feedback, draft.confidence)
    return replace(draft, confidence=feedback, durable=durable)


def _rounded(score: float) -> float:
    return round(probability(score), 2)
