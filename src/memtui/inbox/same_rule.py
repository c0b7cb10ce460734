"""Whether two short texts say the same rule in other words: with care, since one of them may be dropped for it.

A denied word differs from the same word wanted; where nothing is denied, the order counts; numbers must be the same."""

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

# How many of the words of two texts, of all that either has, are in both; and how many at least.
SAME, LEAST = 0.66, 2
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+|[^\W_]+(?:'[^\W_]+)?|[,.;:!?()]")
_ENDINGS = re.compile(r"(?<=\w{3})(?:ing|ed|es|s|e)$")
# Words after which what follows is denied, up to the end of the clause.
_DENIAL = frozenset(
    re.findall(
        r"\S+",
        "not no never don't dont doesn't isn't cannot can't without avoid stop instead rather over nor neither"
        " nicht kein keine keinen keinem nie niemals statt anstatt ohne pas jamais sans nunca sin ni jamás"
        " não nem sem non mai senza niet geen nooit",
    )
)
_CLAUSE = frozenset([*",.;:!?()", "but", "and", "aber", "sondern", "mais", "pero", "sino", "mas", "ma", "maar"])
# Words that say little about what a rule is about.
_COMMON = frozenset(
    re.findall(
        r"\S+",
        "a an the or of to in on at by for from with as is are be it its this that these those i me my we our you your"
        " please always just also only really should must have has want would like prefer use used using make made do"
        " does when whenever if than then there here now so all any each every everything onwards future let's lets"
        " remember need needs better",
    )
)


class Rule(NamedTuple):
    """The words of a text that tell what it is about, with a `-` before each that is denied: as a set, and in order."""

    words: frozenset[str]
    order: tuple[str, ...]

    @property
    def denies(self) -> bool:
        return any(word.startswith("-") for word in self.words)


def of(text: str) -> Rule:
    """Return the words of a text."""
    texts: list[str] = []
    denied = False
    for word in _WORD.findall(text.casefold().replace("’", "'")):
        if word in _CLAUSE:
            denied = False
        elif word in _DENIAL:
            denied = True
        elif word not in _COMMON:
            parts = ["".join(pair) for pair in pairwise(word)] if _WIDE.match(word) and len(word) > 1 else [word]
            texts += [("-" if denied else "") + _ENDINGS.sub("", part) for part in parts]
    return Rule(frozenset(texts), tuple(dict.fromkeys(texts)))


def same(one: Rule, other: Rule, share: float = SAME) -> bool:
    """Tell whether two texts say the same rule: both must have a `share` of the words that either has."""
    both = one.words & other.words
    if len(both) < LEAST or len(both) < share * len(one.words | other.words):
        return False
    if any((word[1:] if word.startswith("-") else "-" + word) in other.words for word in one.words):
        return False
    if any(any(map(str.isdigit, word)) for word in one.words ^ other.words):
        return False
    if one.denies and other.denies:
        return True
    return [word for word in one.order if word in both] == [word for word in other.order if word in both]


def first(text: str, others: Iterable[str]) -> int | None:
    """Return which of the `others` says the same rule as a text, the first; None if none does."""
    rule = of(text)
    return next((at for at, other in enumerate(others) if same(rule, of(other))), None)
