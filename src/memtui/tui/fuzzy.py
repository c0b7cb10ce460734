"""The live filter: which rows fit some typed letters, the best first, and which of their letters to highlight."""

from collections.abc import Callable, Sequence
from typing import TypeVar

Row = TypeVar("Row")
# Below this a match is chance.
CUTOFF = 60.0


def select(rows: Sequence[Row], typed: str, text: Callable[[Row], str]) -> list[Row]:
    """The rows that fit. Those that hold the very words stand first, in their order; then what is alike."""
    wanted = typed.casefold().split()
    if not wanted:
        return list(rows)
    texts = [text(row).casefold() for row in rows]
    exact = list(range(len(texts)))
    for word in wanted:
        exact = [at for at in exact if word in texts[at]]
    if len(typed) < 4 or len(exact) > 50:
        return [rows[at] for at in exact]
    from rapidfuzz import fuzz, process, utils  # not for the first picture

    taken = set(exact)
    alike = process.extract(
        typed, texts, scorer=fuzz.partial_ratio, processor=utils.default_process, score_cutoff=CUTOFF + 20, limit=50
    )
    return [rows[at] for at in exact] + [rows[at] for _, _, at in alike if at not in taken]


def spans(text: str, typed: str) -> list[tuple[int, int]]:
    """(from, to) of the typed words in a text, for highlighting."""
    low = text.casefold()
    if len(low) != len(text):
        return []
    found = []
    for word in typed.casefold().split():
        at = low.find(word)
        if at >= 0:
            found.append((at, at + len(word)))
    return found
