"""The live filter: which rows fit some typed letters, the best first, and which of their letters to highlight."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Generic, TypeVar

Row = TypeVar("Row")
# Below this a match is chance.
CUTOFF = 80.0
# Where so many rows hold the very words, nobody misses what is alike.
ENOUGH = 50
# Fewer letters are alike to everything.
LETTERS = 4


class Haystack(Generic[Row]):
    """Rows and the text of each: prepared once, since every key looks through all of them."""

    def __init__(self, rows: Sequence[Row], text: Callable[[Row], str]) -> None:
        self.rows = list(rows)
        self._text = text

    @cached_property
    def _texts(self) -> list[str]:
        return [self._text(row).casefold() for row in self.rows]

    @cached_property
    def _plain(self) -> list[str]:
        from rapidfuzz import utils  # not for the first picture

        return [utils.default_process(text) for text in self._texts]

    def select(self, typed: str) -> list[Row]:
        """The rows that fit. Those that hold the very words stand first, in their order; then what is alike."""
        wanted = typed.casefold().split()
        if not wanted:
            return list(self.rows)
        texts = self._texts
        exact = list(range(len(texts)))
        for word in wanted:
            exact = [at for at in exact if word in texts[at]]
        found = [self.rows[at] for at in exact]
        if len(typed) < LETTERS or len(exact) > ENOUGH:
            return found
        from rapidfuzz import fuzz, process, utils

        taken = set(exact)
        query = utils.default_process(typed)
        alike = process.extract(query, self._plain, scorer=fuzz.partial_ratio, score_cutoff=CUTOFF, limit=ENOUGH)
        return found + [self.rows[at] for _, _, at in alike if at not in taken]


def select(rows: Sequence[Row], typed: str, text: Callable[[Row], str]) -> list[Row]:
    """As `Haystack.select`, for rows that are looked through once."""
    return Haystack(rows, text).select(typed)


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
