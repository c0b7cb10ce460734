"""Texts that are known, among which one that says the same as another is found by the words that both have."""

import re

from memtui.consolidate import coverage, duplicates
from memtui.core.client.conversation import normalised
from memtui.recall.words import stem

# The rarest known words of a text by which texts that may be the same are found, and how many of the newest of these
# are compared for each.
RAREST, COMPARED = 12, 1000
# Words without which a rule says the same, but for those that deny: what these deny is compared by itself.
_TELL_NOTHING = (
    coverage.JOINING | coverage.NEGATIONS | {"me", "us", "in", "on", "at", "for", "with", "by", "from", "each", "every"}
)
# Words that a part has at least, to be found by itself.
LEAST_WORDS = 3
NUMBER = re.compile(r"\d+")
_NOT = re.compile(r"n['’]t\b", re.IGNORECASE)


class KnownTexts:
    """The texts. `share`: how many of the words of two texts, of all that either has, make them the same for a person,
    if they also deny the same (“pnpm, not npm” is not “npm, not pnpm”) and name the same numbers."""

    def __init__(self, share: float) -> None:
        self._share = share
        self._bags: list[tuple[frozenset[str], str, str]] = []
        self._holders: dict[str, list[int]] = {}
        self._exact: dict[str, str] = {}

    def add(self, text: str, what: str) -> None:
        """Know a text, named by `what`; its first line and what is below it also by themselves."""
        bag = _words(text)
        for word in bag:
            self._holders.setdefault(word, []).append(len(self._bags))
        self._bags.append((bag, what, text))
        head, _, body = text.partition("\n")
        self._exact.setdefault(normalised(text), what)
        for part in (head, body):
            key = normalised(part)
            if len(key.split()) >= LEAST_WORDS:
                self._exact.setdefault(key, what)

    def find(self, text: str, part: str = "") -> str | None:
        """Return what names the text that says the same as a text, or exactly the same as a `part` of it; None if there
        is none."""
        words = normalised(part or text)
        exact = self._exact.get(words) if words else None  # what has no words says nothing
        if exact is not None:
            return exact
        bag = _words(text)
        known = sorted((word for word in bag if word in self._holders), key=lambda word: len(self._holders[word]))
        tried: set[int] = set()
        for word in known[:RAREST]:
            for at in self._holders[word][-COMPARED:]:
                if at in tried:
                    continue
                tried.add(at)
                other, what, there = self._bags[at]
                both = len(bag & other)
                if both >= self._share * (len(bag) + len(other) - both) and not _differ(text, there):
                    return what
        return None


def _words(text: str) -> frozenset[str]:
    """Return the words of a text without endings, and without those that tell nothing, if there are others."""
    found = duplicates.words(_NOT.sub(" not", text))
    return frozenset(map(stem, (found - _TELL_NOTHING) or found))


def _differ(one: str, other: str) -> bool:
    """Whether one of two texts denies a word that both have, and the other does not, or names another number."""
    if NUMBER.findall(one) != NUMBER.findall(other):
        return True
    first, second = (coverage.words(each.replace(",", ";")) for each in (one, other))  # a comma ends what is denied
    common = set(first.telling) & set(second.telling)
    return _denied(first) & common != _denied(second) & common


def _denied(words: coverage.Words) -> set[str]:
    return {word for each in words.negated for word in each}
