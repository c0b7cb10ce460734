"""What a draft of an earlier session is worth by its words: who says that something is for good means it; who asks,
breaks off, or gives an order for the task at hand does not.

The scores of a message say little here: most of what is said in sessions is about one task, and a long message that
holds a rule as well gets the scores of the rest.
"""

import re
from dataclasses import replace

from memtui.extract import phrases, signals
from memtui.extract.signals import Signal

# How sure and how lasting a rule is at least that says itself that it is for good.
RULE_SURE, RULE_DURABLE = 0.75, 0.7
# From this weight of a phrase on a sentence says so, and from this one also as a question.
STANDING, ASKED = 0.65, 0.8
# How likely a draft lasts that only the rules have seen.
UNKNOWN = 0.2
# How likely a draft lasts, of what its scores say, that asks, breaks off, is about one task, or tells something.
QUESTION, FRAGMENT, ORDER, REPORT = 0.3, 0.3, 0.35, 0.35

_EVER = (
    r"(?:always|never|immer|niemals|nie|toujours|jamais|siempre|nunca|sempre|zawsze|nigdy|altijd|nooit|всегда|никогда"
    r"|总是|永远|絶対に|いつも|항상|절대)"
)
# At the beginning, behind who shall do so, or where the sentence ends or goes on after it.
_FOR_GOOD = re.compile(
    rf"^(?:please |bitte |you (?:should|must) |we )?{_EVER}\b(?! mind\b)"
    rf"|[,;:–—-] ?(?:please )?{_EVER}\b.{{0,40}}$"
    r"|^(?:please )?(?:do not|don't|dont) (?:you )?ever\b|^from now on\b",
    re.IGNORECASE,
)
# What is always so is no rule for anybody.
_FACT = re.compile(
    rf"\b(?:it|this|that|he|she|they|there|which|can|could|may|might)(?:'s| is| are| was)? {_EVER}\b", re.IGNORECASE
)
_SUBJECT = r"(?:you|i|we|it|this|that|the|there|they|these|any|all)\b"
_ASKS = re.compile(
    r"^(?:(?:and|but|so|also|then|wondering|i wonder)\b[\s,:]*)*"
    rf"(?:(?:are|is|was|were|am|did|does|can|could|would|will|shall|should|has|have|had|may)(?:n't)? {_SUBJECT}"
    rf"|do (?:you|we|i|they)\b|(?:why|what|where|who|which|whose)\b(?! (?:i|we) (?:want|need|mean))|how (?!about)\w+"
    r"|wondering\b|i(?:'m| am) wondering\b)",
    re.IGNORECASE,
)
_OPEN_END = re.compile(
    r"\b(?:and|or|but|that|which|because|so|if|when|the|an?|of|to|in|on|at|for|with|by|as|from|is|are|has|have|it has"
    r"|than|into|und|oder|aber|dass|weil|et|ou|mais|que|y|o|pero)$",
    re.IGNORECASE,
)
# About what is at hand: this file, a number of an issue, a branch to pull.
_AT_HAND = re.compile(
    r"\bthis (?:file|branch|issue|bug|error|test|function|line|one|page|session|task|job|thing|plan|pr|commit)\b"
    r"|\b(?:latest|above|below|current|new) (?:changes?|branch|version|file|commit)\b|(?:^|\s)#\d+\b|\bhttps?://"
    r"|^(?:let's|let me|go ahead|continue|try (?:again|it|that)|undo|revert|rename|resume|proceed)\b"
    r"|^(?:please )?(?:read|open|see|check|look at)(?: the)? \S*\.\w{1,4}\b|\bto fix (?:it|this|that)\b"
    r"|\b(?:pull in|get back to|open a pr|create a (?:new )?(?:pr|branch|file|issue)|update the|before you start)\b",
    re.IGNORECASE,
)
# What the person saw, or will do themselves.
_TELLS = re.compile(
    r"^(?:(?:it |this |that )?(?:seems|looks|appears|sounds)\b|looking (?:at|into|through)\b|something\b|it has\b"
    r"|i (?:get|see|saw|guess|noticed|should|will|can|ran|tried|tested|got|found|think (?:i|that i|you need to))\b"
    r"|i'(?:ll|ve)\b)",
    re.IGNORECASE,
)


def is_rule(draft: Signal) -> bool:
    """Tell whether a draft's own words say that it is for good."""
    low = draft.description.lower()
    if _is_fragment(draft.description) or _FACT.search(low) or phrases.NOT_A_RULE.search(low):
        return False
    weight = max(signals.weight_of(phrases.STANDING, each) for each in (low, _sentence(draft)))
    if _asks(draft):
        return weight >= ASKED
    return weight >= STANDING or (bool(_FOR_GOOD.search(low)) and not phrases.LOCAL.search(low))


def weighed(draft: Signal) -> Signal:
    """Return a draft as sure and as lasting as its words say."""
    if is_rule(draft):
        durable = max(draft.durable or 0.0, RULE_DURABLE)
        return replace(draft, confidence=max(draft.confidence, RULE_SURE), durable=durable)
    durable = UNKNOWN if draft.durable is None else draft.durable
    return replace(draft, durable=round(durable * _share(draft), 2))


def _share(draft: Signal) -> float:
    """Return how much its words leave of a draft that is no rule, from 0 to 1."""
    low = draft.description.lower()
    if _is_fragment(draft.description):
        return FRAGMENT
    if _asks(draft):
        return QUESTION
    found = ORDER if _AT_HAND.search(low) or phrases.LOCAL.search(low) else 1.0
    families = (phrases.PREFERENCE, phrases.PERSON, phrases.STANDING)
    says = bool(phrases.AGENT_DOES.match(low)) or any(signals.weight_of(family, low) for family in families)
    tells = bool(_TELLS.search(low)) or not (says or phrases.DIRECTIVE.search(low))
    return found * REPORT if tells else found


def _asks(draft: Signal) -> bool:
    return draft.description.rstrip().endswith(("?", "\uff1f")) or bool(_ASKS.match(draft.description))


def _is_fragment(text: str) -> bool:
    text = text.strip()
    opened = any(text.count(one) > text.count(other) for one, other in ("()", "[]", "{}"))
    return bool(_OPEN_END.search(text)) or (opened and not text.endswith("…"))


def _sentence(draft: Signal) -> str:
    """Return the sentence of the person that a draft's description was made of, in lower case: with the words by which
    it begins, which may say that it is for good; empty if there is none."""
    wanted = draft.description.rstrip("…").lower()
    sentences = signals.sentences_of(signals.own_words(draft.person))
    return next((each.low for each in sentences if wanted in each.low), "")
