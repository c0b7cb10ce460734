"""Similar memories: rank memories by their similarity to a draft, for a person to decide; nothing is merged here."""

from collections.abc import Iterable

from memtui.core.memories.memory import Memory
from memtui.core.review.evidence import Similar

# The least score, of 1: below it two texts share only common words.
LEAST = 0.55
SAME_NAME = 0.97
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
    from rapidfuzz import fuzz, utils  # slow to import

    clean = utils.default_process
    own_name, own_description = clean(name), clean(description)
    own_text = clean(f"{name} {description} {body[:BODY]}")
    found = []
    for memory in memories:
        if memory.broken is not None:
            continue
        names = fuzz.token_sort_ratio(own_name, clean(memory.name)) / 100
        words = fuzz.token_set_ratio(own_description, clean(memory.description)) / 100
        words *= _length_weight(own_description, clean(memory.description))
        theirs = clean(f"{memory.name} {memory.description} {memory.body[:BODY]}")
        texts = fuzz.token_sort_ratio(own_text, theirs) / 100
        score = max(0.9 * words, 0.5 * names + 0.5 * words, texts, 0.8 * names)
        if own_name and own_name == clean(memory.name):
            score = max(score, SAME_NAME)
        if score >= LEAST:
            found.append(Similar(memory, round(score, 2)))
    found.sort(key=lambda each: (-each.score, each.memory.name))
    return found[:SHOWN]


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
