"""Whether two texts say the same: one measure, its thresholds, and what makes two texts that are alike differ."""

import math
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

from memtui.base import word_lists

# The least score for each decision. Drafts, with each word alike: what waits or was rejected, what a backfill offers,
# what an import brings; what has another date in place of it, what says a description again. Recorded pairs:
# tests/base/test_similarity.py.
SAME_DRAFT, SAME_OFFER, SAME_IMPORT, REDATED, ECHO = 0.8, 0.83, 0.92, 0.5, 0.95
# By the rarity of words in a store. Memories like a draft: 21 of 23 pairs above it were rightly so where it was chosen,
# 15 of 20 in others of that project (docs/decisions.md). What a model looks at together. What is worth a person's time:
# of 414 memories of one project the 14 pairs above it were about one thing each, just below hubs begin.
SIMILAR, TOGETHER, ALIKE = 0.2, 0.4, 0.5
# With each word alike: a draft is about the same as a line of a memory that was written since the person spoke. Of 24
# pairs that it was not chosen on, it was so for 4 of 7, and for none of 8 that are about something else.
SAME_SUBJECT = 0.5
# The least score of texts of the same name, which would be one file; the words that two drafts share, at least.
SAME_NAME, FEWEST = 0.97, 2
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+|[^\W_]+(?:'[^\W_]+)?|[,.;:!?()]")
_ENDINGS = re.compile(r"(?<=\w{3})(?:ing|ed|es|s|e)$")
_MARKS = frozenset(",.;:!?()")
BEGINS, GOES_ON = 4, 3  # letters of the shorter of two words that begin alike, at least; by which the longer goes on
_LISTS = word_lists.sets(os.path.dirname(__file__) + "/words.txt")
_DENIAL, _COMMON, _CLAUSE = _LISTS["denial"], _LISTS["common"], _LISTS["clause"] | _MARKS


@dataclass(frozen=True)
class TextWords:
    """The words of a text: as a set, and of a rule in order, with a `-` before each that is denied."""

    bag: frozenset[str]
    order: tuple[str, ...] = ()


@dataclass(frozen=True)
class Similarity:
    """How much two texts have alike: `score` (0 to 1), the words that both have."""

    score: float
    shared: frozenset[str]
    one: TextWords
    other: TextWords

    @cached_property
    def contradicts(self) -> bool:
        """Whether one denies what the other says, has another number, or has the words in another order."""
        one, other = self.one, self.other
        if any((word[1:] if word.startswith("-") else "-" + word) in other.bag for word in one.bag):
            return True
        if any(any(map(str.isdigit, word)) for word in one.bag ^ other.bag):
            return True
        deny = all(any(word.startswith("-") for word in text.bag) for text in (one, other))
        orders = [[word for word in text.order if word in self.shared] for text in (one, other)]
        return orders[0] != orders[1] and not deny

    def says_same(self, least: float) -> bool:
        """Tell whether both say the same rule, with this score at least."""
        return self.score >= least and len(self.shared) >= FEWEST and not self.contradicts


def _parts(word: str) -> list[str]:
    """Return a word; of text without blanks (Chinese, Japanese) its pairs of characters."""
    return ["".join(pair) for pair in pairwise(word)] if _WIDE.match(word) and len(word) > 1 else [word]


@lru_cache(1024)  # each draft is compared with the same memories
def words(text: str) -> frozenset[str]:
    # Each word once for all texts: of 100,000 memories they are a gigabyte otherwise.
    tokens = frozenset(map(sys.intern, _WORD.findall(text.casefold()))) - _MARKS
    return tokens if text.isascii() else frozenset(part for word in tokens for part in _parts(word))


def rule_of(text: str) -> TextWords:
    """Return the words that tell what a rule is about, without endings."""
    texts: list[str] = []
    denied = False
    for word in _WORD.findall(text.casefold().replace("’", "'")):
        if word in _CLAUSE:
            denied = False
        elif word in _DENIAL:
            denied = True
        elif word not in _COMMON:
            texts += [("-" if denied else "") + _ENDINGS.sub("", part) for part in _parts(word)]
    return TextWords(frozenset(texts), tuple(dict.fromkeys(texts)))


def similarity(one: TextWords, other: TextWords, weights: Mapping[str, float] | None = None) -> Similarity:
    """Compare two texts: the share of its words that each has in common, as geometric mean, by `weights` or alike."""
    shared = one.bag & other.bag

    def size(bag: frozenset[str]) -> float:
        # An exact sum: the order of a set is another in each process, and what is alike equally must keep its order.
        return len(bag) if weights is None else math.fsum(map(weights.__getitem__, bag))

    most = math.sqrt(size(one.bag) * size(other.bag))
    return Similarity(min(1.0, size(shared) / most) if most else 0.0, shared, one, other)


def holds(rule: TextWords, text: TextWords) -> bool:
    """Tell whether a text has each word of a rule, or one that begins alike (“commit”, “committing”), denied alike."""

    def has(word: str) -> bool:
        if word in text.bag or any(map(str.isdigit, word)):
            return word in text.bag
        pairs = (sorted((word, other), key=len) for other in text.bag if abs(len(word) - len(other)) <= GOES_ON)
        return any(len(short.lstrip("-")) >= BEGINS and long.startswith(short) for short, long in pairs)

    return len(rule.bag) >= FEWEST and all(map(has, rule.bag))
