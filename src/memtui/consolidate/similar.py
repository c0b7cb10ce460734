"""How similar memories and rejected drafts are to a draft or a memory, for a person to decide; nothing is merged
here."""

from collections.abc import Iterable

from memtui.consolidate import rapid
from memtui.core.inbox.refused import RefusedDraft
from memtui.core.memories.memory import Memory
from memtui.core.review.evidence import LikeRefused, Similar

# The least score, of 1: below it two texts share only common words.
LEAST = 0.55
SAME_NAME = 0.97
# The least score of a rejected draft: it is told without its text beside the draft.
LIKE_REFUSED = 0.65
# The most memories that are listed.
SHOWN = 5
# Characters of a body that are compared: enough to judge by, and a file of megabytes takes no longer.
BODY = 2000
# Words of each text that are compared one by one, in a time that grows with the product.
WORDS = 1500
# Differing words are marked if they are less than this part of a text.
FEW = 0.5


def to_draft(name: str, text: str, memories: Iterable[Memory]) -> list[Similar]:
    """Rank memories as `ranked` does, by the name and the text of a pending update."""
    first, _, rest = text.partition("\n")
    return ranked(name, first, rest, memories)


def ranked(name: str, description: str, body: str, memories: Iterable[Memory]) -> list[Similar]:
    """List the memories most similar to a draft, best first, by name, by description and by all words together.

    Memories of the same name score SAME_NAME at least, since they would be one file. A broken memory is left out: a
    draft can't be merged into it.
    """
    own = _Measure(name, description, body)
    whole = [each for each in memories if each.broken is None]
    scores = [own.score(each.name, each.description, each.body) for each in whole]
    found = [Similar(each, round(score, 2)) for each, score in zip(whole, scores, strict=True) if score >= LEAST]
    found.sort(key=lambda each: (-each.score, each.memory.name))
    return found[:SHOWN]


def to_refused(name: str, text: str, rejected: Iterable[RefusedDraft]) -> list[LikeRefused]:
    """List the rejected drafts most similar to a pending update, best first; of those that say the same the newest."""
    first, _, rest = text.partition("\n")
    own = _Measure(name, first, rest)
    found: dict[str, LikeRefused] = {}
    for each in rejected:
        score = own.score(each.name, each.description, each.body)
        if score >= LIKE_REFUSED:
            found[each.description.casefold()] = LikeRefused(each, round(score, 2))
    return sorted(found.values(), key=lambda each: (-each.score, -(each.draft.time or 0.0)))[:SHOWN]


def of_two(one: Memory, other: Memory) -> float:
    """Return how similar two memories are, from 0 to 1: the number that every screen and command shows."""
    return round(_Measure(one.name, one.description, one.body).score(other.name, other.description, other.body), 2)


class _Measure:
    """How similar other texts are to one that has a name, a description and a body."""

    def __init__(self, name: str, description: str, body: str) -> None:
        found = rapid.load()
        self._fuzz, self._clean = found.fuzz, found.utils.default_process
        self._name, self._description = self._clean(name), self._clean(description)
        self._text = self._clean(f"{name} {description} {body[:BODY]}")

    def score(self, name: str, description: str, body: str) -> float:
        """Return the similarity, from 0 to 1; of one of the same name at least SAME_NAME."""
        fuzz, clean = self._fuzz, self._clean
        names: float = fuzz.token_sort_ratio(self._name, clean(name)) / 100
        words: float = fuzz.token_set_ratio(self._description, clean(description)) / 100
        words *= _length_weight(self._description, clean(description))
        texts: float = fuzz.token_sort_ratio(self._text, clean(f"{name} {description} {body[:BODY]}")) / 100
        score = max(0.9 * words, 0.5 * names + 0.5 * words, texts, 0.8 * names)
        return max(score, SAME_NAME) if self._name and self._name == clean(name) else score


def _length_weight(one: str, other: str) -> float:
    """Return a weight from 0 to 1: descriptions of fewer than four words count less, since they match by chance."""
    return min(1.0, min(len(one.split()), len(other.split())) / 4)


def apart(one: str, other: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the runs of words that only `one` has, and those that only `other` has, as lists of (start, end) in the
    text; none for a text of which FEW or more of the words are not in the other: marking nearly all tells nothing.

    Capitals and the punctuation around a word make no difference.
    """
    import difflib
    import re
    from itertools import islice

    places = [[m.span() for m in islice(re.finditer(r"\S+", text), WORDS)] for text in (one, other)]
    words = [
        [text[start:end].casefold().strip(".,:;!?()[]`*_\"'") for start, end in found]
        for text, found in zip((one, other), places, strict=True)
    ]
    own: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    counts = [0, 0]
    for kind, *ends in difflib.SequenceMatcher(None, words[0], words[1], autojunk=False).get_opcodes():
        if kind != "equal":
            for side, start, end in ((0, *ends[:2]), (1, *ends[2:])):
                if start < end:
                    own[side].append((places[side][start][0], places[side][end - 1][1]))
                    counts[side] += end - start
    few = [count < FEW * len(found) for count, found in zip(counts, places, strict=True)]
    return own[0] if few[0] else [], own[1] if few[1] else []
