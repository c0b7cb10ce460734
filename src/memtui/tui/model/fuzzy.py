"""The live filter: find the rows that match what is typed, best first, and highlight the match."""

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Generic, TypeVar

from rich.text import Text

Row = TypeVar("Row")
STYLE = "bold underline"
# The least partial ratio (rapidfuzz, 0 to 100) of a row that is similar. With the lower one, two of four letters may be
# swapped.
CUTOFF, SHORT_CUTOFF = 80.0, 75.0
# With this many exact matches, nobody misses the similar ones.
ENOUGH = 50
# With fewer letters everything is similar.
LETTERS = 4


class Haystack(Generic[Row]):
    """Rows and their texts to filter, prepared once, since every key searches all of them."""

    def __init__(self, rows: Sequence[Row], text: Callable[[Row], str]) -> None:
        self.rows = list(rows)
        self._text = text

    @cached_property
    def _texts(self) -> list[str]:
        return [self._text(row).casefold() for row in self.rows]

    @cached_property
    def _plain(self) -> list[str]:
        from rapidfuzz import utils  # not needed for the first paint

        return [utils.default_process(text) for text in self._texts]

    @cached_property
    def _words(self) -> list[str]:
        return [f" {text.replace('_', ' ')} " for text in self._plain]

    def select(self, typed: str) -> list[Row]:
        """Return the rows that match: first those that contain all typed words, in the order of the rows, whole words
        before parts; then those where one word has the letters in this order, closest together first; then similar
        ones."""
        wanted = typed.casefold().split()
        if not wanted:
            return list(self.rows)
        texts = self._texts
        found = list(range(len(texts)))
        for word in wanted:
            found = [at for at in found if word in texts[at]]
        if min(map(len, wanted)) > 1:  # a single letter is hardly a word
            found = self._whole_first(wanted, found)
        if len(found) <= ENOUGH:
            found = list(dict.fromkeys([*found, *self._in_order(wanted), *self._similar(typed)]))
        return [self.rows[at] for at in found]

    def _whole_first(self, wanted: list[str], found: list[int]) -> list[int]:
        from rapidfuzz import utils

        words = self._words
        whole = found
        for word in wanted:
            needle = f" {utils.default_process(word).replace('_', ' ')} "
            whole = [at for at in whole if needle in words[at]] if needle.strip() else whole
        if not whole or len(whole) == len(found):
            return found
        first = set(whole)
        return whole + [at for at in found if at not in first]

    def _in_order(self, wanted: list[str]) -> list[int]:
        pattern = _letters_pattern(wanted)
        if pattern is None:
            return []
        hits = [
            (match.end() - match.start(), at) for at, text in enumerate(self._texts) if (match := pattern.search(text))
        ]
        return [at for _, at in sorted(hits)[:ENOUGH]]

    def _similar(self, typed: str) -> list[int]:
        if len(typed) < LETTERS:
            return []
        from rapidfuzz import fuzz, process, utils

        query = utils.default_process(typed)
        hits = process.extract(query, self._plain, scorer=fuzz.partial_ratio, score_cutoff=_cutoff(typed), limit=ENOUGH)
        return [at for _, _, at in hits]


def load() -> None:
    """Import what a filter of several letters needs, before a key waits for it."""
    import rapidfuzz.fuzz
    import rapidfuzz.process
    import rapidfuzz.utils  # noqa: F401


def select(rows: Sequence[Row], typed: str, text: Callable[[Row], str]) -> list[Row]:
    """Filter rows as `Haystack.select` does, for rows that are searched once."""
    return Haystack(rows, text).select(typed)


def spans(text: str, typed: str) -> list[tuple[int, int]]:
    """Return (start, end) of every occurrence of the typed words in a text."""
    low = text.casefold()
    if len(low) != len(text):
        return []
    return [found.span() for word in typed.casefold().split() for found in re.finditer(re.escape(word), low)]


def mark(texts: Sequence[Text], typed: str) -> None:
    """Highlight in a row's texts what was typed: the words, else the letters in their order, else the similar part."""
    if not typed.strip():
        return
    found = [spans(text.plain, typed) for text in texts]
    if not any(found):
        found = [_loose(text.plain, typed) for text in texts]
    for text, places in zip(texts, found, strict=True):
        for start, end in places:
            text.stylize(STYLE, start, end)


def _loose(text: str, typed: str) -> list[tuple[int, int]]:
    low = text.casefold()
    if len(low) != len(text):
        return []
    pattern = _letters_pattern(typed.casefold().split())
    match = pattern.search(low) if pattern else None
    if match:
        return [match.span(number) for number in range(1, len(match.groups()) + 1)]
    if len(typed) < LETTERS:
        return []
    from rapidfuzz import fuzz

    hit = fuzz.partial_ratio_alignment(typed.casefold(), low, score_cutoff=_cutoff(typed))
    return [(hit.dest_start, hit.dest_end)] if hit else []


def _letters_pattern(wanted: list[str]) -> "re.Pattern[str] | None":
    """Return the pattern for letters in their order within one word, from the beginning of a part of it on. None where
    more than one word is typed, one letter, or too many."""
    if len(wanted) != 1 or not 1 < len(wanted[0]) <= ENOUGH:
        return None
    return re.compile(r"(?:\b|(?<=_))" + r"[^\s]*?".join(f"({re.escape(letter)})" for letter in wanted[0]))


def _cutoff(typed: str) -> float:
    return SHORT_CUTOFF if len(typed) <= LETTERS else CUTOFF
