"""Full-text search: rank memories by how well they answer some words."""

import re
from functools import lru_cache

from memtui.core.memories.memory import Memory

# How a word is there, the best first: as a whole word, as a beginning, inside another, alike. No sum of places (name,
# description, text) makes up for a better one.
WHOLE, BEGINS, INSIDE, ALIKE = 30.0, 20.0, 10.0, 1.0
NAME, DESCRIPTION, BODY = 4.0, 2.0, 0.5
COUNTED = 3  # times in the body
LIKENESS, ALIKE_LETTERS = 0.75, 4


def words_of(query: str) -> list[str]:
    """The words of a query, as `rank` wants them."""
    return query.lower().split()


def rank(words: list[str], found: Memory) -> tuple[float, str]:
    """How well a memory answers some words, and the line of its body that does best. 0: a word is nowhere.

    The word that is there in the worst way decides first: whole before a part, a part before what is alike. Among
    those a word counts most in the name, then in the description, least in the body. Alike is only a slightly different
    word of the name or description.
    """
    name, description, body = (
        found.name.lower() + " " + found.stem.lower(),
        found.description.lower(),
        found.body.lower(),
    )
    if not words:
        return 0.0, ""
    worst, places = WHOLE, 0.0
    for word in words:
        ways = [(_way(word, name), NAME), (_way(word, description), DESCRIPTION), (_way(word, body), BODY)]
        best = max(way for way, _ in ways)
        if not best:
            if not _close(word, name + " " + description):
                return 0.0, ""
            worst = min(worst, ALIKE)
            continue
        worst = min(worst, best)
        # Where it is there in a worse way than elsewhere, that is still some reason.
        places += sum(weight * way / best for way, weight in ways[:2])
        places += BODY * min(body.count(word), COUNTED)
    return worst + places / len(words), _line(words, found.body)


@lru_cache
def _patterns(word: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    begins = r"(?<![^\W_])" + re.escape(word)
    return re.compile(begins + r"(?![^\W_])"), re.compile(begins)


def _way(word: str, text: str) -> float:
    """How a word is there in a text; 0.0: not at all."""
    if word not in text:
        return 0.0
    whole, begins = _patterns(word)
    return WHOLE if whole.search(text) else BEGINS if begins.search(text) else INSIDE


def _close(word: str, text: str) -> bool:
    import difflib

    if len(word) < ALIKE_LETTERS:
        return False
    near = {each for each in text.replace("-", " ").split() if abs(len(each) - len(word)) < ALIKE_LETTERS - 1}
    return bool(difflib.get_close_matches(word, near, 1, LIKENESS))


def _line(words: list[str], body: str) -> str:
    """The line with most of the words, whole ones before parts; empty where there is none."""
    lines = [each.strip() for each in body.split("\n")]
    best = max(lines, key=lambda each: sum(_way(word, each.lower()) for word in words))
    return best if any(word in best.lower() for word in words) else ""
