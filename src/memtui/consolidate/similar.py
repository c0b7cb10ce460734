"""Rank memories by how similar they are to a draft, for a person to look at: nothing is ever merged by it."""

from collections.abc import Iterable

from memtui.core.memories.memory import Memory
from memtui.core.review.evidence import Similar

# Below this two texts share no more than common words.
LEAST = 0.55
SAME_NAME = 0.97
# What is compared of a body: enough to tell, and one file of megabytes holds nothing up.
BODY = 2000
# So many words of each are compared word by word: it takes their product in time.
WORDS = 1500


def to_draft(name: str, text: str, memories: Iterable[Memory]) -> list[Similar]:
    """As `ranked`, for a pending update of this text that would become a memory of that name."""
    first, _, rest = text.partition("\n")
    return ranked(name, first, rest, memories)


def ranked(name: str, description: str, body: str, memories: Iterable[Memory], limit: int = 5) -> list[Similar]:
    """The memories most like a draft, best first: by name, by description, and by all words together.

    Equal names count as near certain, since they would be one file. A broken memory can't be merged into, and is
    passed over.
    """
    from rapidfuzz import fuzz, utils  # which takes its time to be imported

    clean = utils.default_process
    own_name, own_description = clean(name), clean(description)
    own_text = clean(f"{name} {description} {body[:BODY]}")
    found = []
    for memory in memories:
        if memory.broken is not None:
            continue
        names = fuzz.token_sort_ratio(own_name, clean(memory.name)) / 100
        words = fuzz.token_set_ratio(own_description, clean(memory.description)) / 100
        words *= _enough(own_description, clean(memory.description))
        theirs = clean(f"{memory.name} {memory.description} {memory.body[:BODY]}")
        texts = fuzz.token_sort_ratio(own_text, theirs) / 100
        score = max(0.9 * words, 0.5 * names + 0.5 * words, texts, 0.8 * names)
        if own_name and own_name == clean(memory.name):
            score = max(score, SAME_NAME)
        if score >= LEAST:
            found.append(Similar(memory, round(score, 2)))
    found.sort(key=lambda each: (-each.score, each.memory.name))
    return found[:limit]


def _enough(one: str, other: str) -> float:
    """A set of words compared with one or two words is chance: the less they are, the less the likeness counts."""
    return min(1.0, min(len(one.split()), len(other.split())) / 4)


def apart(one: str, other: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """(from, to) of the words that only the one, and only the other has, in their order; capitals and the marks around
    a word make no difference."""
    import difflib
    import re
    from itertools import islice

    places = [[m.span() for m in islice(re.finditer(r"\S+", text), WORDS)] for text in (one, other)]
    words = [
        [text[start:end].casefold().strip(".,:;!?()[]`*_\"'") for start, end in found]
        for text, found in zip((one, other), places, strict=True)
    ]
    own: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    for kind, *ends in difflib.SequenceMatcher(None, words[0], words[1], autojunk=False).get_opcodes():
        if kind != "equal":
            for side, found, start, end in ((0, places[0], ends[0], ends[1]), (1, places[1], ends[2], ends[3])):
                own[side].extend(found[start:end])
    return own
