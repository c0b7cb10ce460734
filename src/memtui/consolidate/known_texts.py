"""Texts that are known, among which one that says the same as another is found by the words that both have."""

from memtui.consolidate import duplicates
from memtui.core.client.conversation import normalised

# The rarest known words of a text by which texts that may be the same are found, and how many of the newest of these
# are compared for each.
RAREST, COMPARED = 12, 1000
# Words that a part has at least, to be found by itself.
LEAST_WORDS = 3


class KnownTexts:
    """The texts. `share`: how many of the words of two texts, of all that either has, make them the same for a
    person."""

    def __init__(self, share: float) -> None:
        self._share = share
        self._bags: list[tuple[frozenset[str], str]] = []
        self._holders: dict[str, list[int]] = {}
        self._exact: dict[str, str] = {}

    def add(self, text: str, what: str) -> None:
        """Know a text, named by `what`; its first line and what is below it also by themselves."""
        bag = duplicates.words(text)
        for word in bag:
            self._holders.setdefault(word, []).append(len(self._bags))
        self._bags.append((bag, what))
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
        bag = duplicates.words(text)
        known = sorted((word for word in bag if word in self._holders), key=lambda word: len(self._holders[word]))
        tried: set[int] = set()
        for word in known[:RAREST]:
            for at in self._holders[word][-COMPARED:]:
                if at in tried:
                    continue
                tried.add(at)
                other, what = self._bags[at]
                both = len(bag & other)
                if both >= self._share * (len(bag) + len(other) - both):
                    return what
        return None
