"""Full-text search: rank memories by how well they match some words."""

import re
from functools import lru_cache

from memtui.store.memory import Memory

# How a word matches, the best first: as a whole word, as a word's beginning, inside a word, similar to a word. The
# weights of the fields are so small that no number of matches makes up for a better kind of match.
WHOLE, BEGINS, INSIDE, SIMILAR = 30.0, 20.0, 10.0, 1.0
NAME, DESCRIPTION, BODY = 4.0, 2.0, 0.5
MAX_COUNTED = 3  # matches in the body
SIMILARITY, SIMILAR_LETTERS = 0.75, 4


def words_of(query: str) -> list[str]:
    """Split a query into words for `rank`."""
    return query.lower().split()


def rank(words: list[str], memory: Memory) -> tuple[float, str]:
    """Return how well a memory matches words, 0 if one is missing, and its best line: the worst match decides."""
    if not words:
        return 0.0, ""
    name = memory.name.lower() + " " + memory.stem.lower()
    description, body = memory.description.lower(), memory.body.lower()
    worst, sum_of_fields = WHOLE, 0.0
    for word in words:
        matches = [(_match(word, name), NAME), (_match(word, description), DESCRIPTION)]
        best = max(_match(word, body), *(match for match, _ in matches))
        if not best:
            if not _has_similar(word, name + " " + description):
                return 0.0, ""
            worst = min(worst, SIMILAR)
            continue
        worst = min(worst, best)
        # A worse match than in another field counts in proportion.
        sum_of_fields += sum(weight * match / best for match, weight in matches)
        sum_of_fields += BODY * min(body.count(word), MAX_COUNTED)
    lines = [line.strip() for line in memory.body.split("\n")]
    best_line = max(lines, key=lambda line: sum(_match(word, line.lower()) for word in words))
    return worst + sum_of_fields / len(words), best_line if any(word in best_line.lower() for word in words) else ""


def position(score: float, name: str, *, elsewhere: bool) -> tuple[float, bool, float, str]:
    """Return what hits are sorted by: the kind of match, then this project's before others', then score."""
    kind = max((kind_of_match for kind_of_match in (WHOLE, BEGINS, INSIDE) if score >= kind_of_match), default=SIMILAR)
    return -kind, elsewhere, -score, name


@lru_cache
def _patterns(word: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    begins = r"(?<![^\W_])" + re.escape(word)
    return re.compile(begins + r"(?![^\W_])"), re.compile(begins)


def _match(word: str, text: str) -> float:
    """Return how a word matches in a text: WHOLE, BEGINS, INSIDE, or 0.0 for not at all."""
    if word not in text:
        return 0.0
    whole, begins = _patterns(word)
    return WHOLE if whole.search(text) else BEGINS if begins.search(text) else INSIDE


def _has_similar(word: str, text: str) -> bool:
    import difflib

    if len(word) < SIMILAR_LETTERS:
        return False
    near = {other for other in text.replace("-", " ").split() if abs(len(other) - len(word)) < SIMILAR_LETTERS - 1}
    return bool(difflib.get_close_matches(word, near, 1, SIMILARITY))
