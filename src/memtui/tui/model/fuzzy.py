"""The live filter: find the rows that match what is typed, best first, and highlight the match."""

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from rich.text import Text

if TYPE_CHECKING:
    from memtui.consolidate.similarity import RapidFuzz

Row = TypeVar("Row")
STYLE = "bold underline not dim"
# The least partial ratio (rapidfuzz, 0 to 100) of a row that is similar. With the lower one, two of four letters may be
# swapped.
CUTOFF, SHORT_CUTOFF = 80.0, 75.0
# With this many exact matches, nobody misses those in bodies, and the similar ones.
ENOUGH = 50
# With fewer letters everything is similar; with fewer than the second, nearly every body has them.
LETTERS, LEAST_IN_BODY = 4, 3
# The most matches that are highlighted in a long text.
MARKED = 500
# The lines of a long text, and the most characters of one, that are searched for what is only similar.
LOOSE_LINES, LOOSE_LENGTH = 40, 500
# The words that are compared as wholes, as in the search.
WORD = re.compile(r"[^\s-]+")
NUMBER = re.compile(r"\d+")


def rapidfuzz() -> "RapidFuzz":
    """Return rapidfuzz, which the first paint does not need."""
    from memtui.consolidate import similarity

    return similarity.rapidfuzz()


class Haystack(Generic[Row]):
    """Rows and their texts to filter, prepared once, since every key searches all of them. `body` returns a long text
    of a row, in which only whole typed words count."""

    def __init__(
        self, rows: Sequence[Row], text: Callable[[Row], str], body: Callable[[Row], str] | None = None
    ) -> None:
        self.rows = list(rows)
        self._text, self._body = text, body

    @cached_property
    def _texts(self) -> list[str]:
        return [self._text(row).casefold() for row in self.rows]

    @cached_property
    def _bodies(self) -> list[str]:
        return [self._body(row).casefold() for row in self.rows] if self._body is not None else []

    @cached_property
    def _plain(self) -> list[str]:
        utils = rapidfuzz().utils  # not needed for the first paint
        return [utils.default_process(text) for text in self._texts]

    @cached_property
    def _words(self) -> list[str]:
        return [f" {text.replace('_', ' ')} " for text in self._plain]

    def select(self, typed: str) -> list[Row]:
        """Return the rows that match: first those that contain all typed words, in the order of the rows, whole words
        before parts; then those with them in the body; then those where one word has the letters in this order, closest
        together first; then similar ones."""
        wanted = typed.casefold().split()
        if not wanted:
            return list(self.rows)
        texts = self._texts
        found = list(range(len(texts)))
        for word in wanted:
            found = [at for at in found if word in texts[at]]
        if min(map(len, wanted)) > 1:  # a single letter is hardly a word
            found = self._whole_first(wanted, found)
        if len(found) <= ENOUGH and self._body is not None and max(map(len, wanted)) >= LEAST_IN_BODY:
            found = list(dict.fromkeys([*found, *self._in_bodies(wanted)]))
        if len(found) <= ENOUGH:
            found = list(dict.fromkeys([*found, *self._in_order(wanted), *self._similar(typed)]))
        return [self.rows[at] for at in found]

    def _in_bodies(self, wanted: list[str]) -> list[int]:
        texts = self._texts
        return [at for at, body in enumerate(self._bodies) if all(word in body or word in texts[at] for word in wanted)]

    def _whole_first(self, wanted: list[str], found: list[int]) -> list[int]:
        utils = rapidfuzz().utils
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
        fuzz, process, utils, _ = rapidfuzz()
        query = utils.default_process(typed)
        hits = process.extract(query, self._plain, scorer=fuzz.partial_ratio, score_cutoff=_cutoff(typed), limit=ENOUGH)
        # What differs in a number is another thing, not a typing error: project-05 is not project-59.
        numbers = NUMBER.findall(typed)
        return [at for _, _, at in hits if all(number in self._texts[at] for number in numbers)]


def load() -> None:
    """Import what a filter of several letters needs, before a key waits for it."""
    rapidfuzz()


def select(rows: Sequence[Row], typed: str, text: Callable[[Row], str]) -> list[Row]:
    """Filter rows as `Haystack.select` does, for rows that are searched once."""
    return Haystack(rows, text).select(typed)


def spans(text: str, typed: str) -> list[tuple[int, int]]:
    """Return (start, end) of every occurrence of the typed words in a text."""
    low = _folded(text)
    return [found.span() for word in _words_of(typed) for found in re.finditer(re.escape(word), low)]


def mark(texts: Sequence[Text], typed: str) -> None:
    """Highlight in a row's texts what was typed: the words, or words similar to one that none of the texts has; else
    the letters in their order, else the similar part."""
    words = _words_of(typed)
    if not words:
        return
    low = [_folded(text.plain) for text in texts]
    found = [_places(each, words, "\n".join(low)) for each in low]
    if not any(found):
        found = [_loose(each, typed) for each in low]
    for text, places in zip(texts, found, strict=True):
        for start, end in places:
            text.stylize(STYLE, start, end)


def mark_long(text: Text, typed: str) -> int | None:
    """Highlight in a text of many lines what was typed, as `mark` does, and return where the first match begins; None
    if there is none. A word of one letter is not sought: it is everywhere. The letters in their order and the similar
    part are sought in the first lines only, where names and descriptions are."""
    words = [word for word in _words_of(typed) if len(word) > 1]
    if not words:
        return None
    low = _folded(text.plain)
    found = sorted(_places(low, words, low))[:MARKED] or _first_loose(low, typed)
    for start, end in found:
        text.stylize(STYLE, start, end)
    return found[0][0] if found else None


def _words_of(typed: str) -> list[str]:
    return list(dict.fromkeys(typed.casefold().split()))


def _folded(text: str) -> str:
    """Fold the case of a text, and keep its length."""
    low = text.casefold()
    return low if len(low) == len(text) else "".join([c.casefold() if len(c.casefold()) == 1 else c for c in text])


def _places(low: str, words: Sequence[str], whole: str) -> list[tuple[int, int]]:
    """Return (start, end) of each of the words in a text, and of words similar to one that is nowhere in `whole`."""
    found = []
    for word in words:
        if word in whole:
            found += [match.span() for match in re.finditer(re.escape(word), low)]
        elif len(word) >= LETTERS:
            found += _similar_words(low, word)
    return found


def _similar_words(low: str, word: str) -> list[tuple[int, int]]:
    fuzz = rapidfuzz().fuzz
    near = range(len(word) - 2, len(word) + 3)
    return [
        match.span()
        for match in WORD.finditer(low)
        if len(match[0]) in near and fuzz.ratio(word, match[0], score_cutoff=SHORT_CUTOFF)
    ]


def _first_loose(low: str, typed: str) -> list[tuple[int, int]]:
    at = 0
    for line in low.split("\n", LOOSE_LINES)[:LOOSE_LINES]:
        if len(line) <= LOOSE_LENGTH and (found := _loose(line, typed)):
            return [(at + start, at + end) for start, end in found]
        at += len(line) + 1
    return []


def _loose(low: str, typed: str) -> list[tuple[int, int]]:
    pattern = _letters_pattern(typed.casefold().split())
    match = pattern.search(low) if pattern else None
    if match:
        return [match.span(number) for number in range(1, len(match.groups()) + 1)]
    if len(typed) < LETTERS:
        return []
    fuzz = rapidfuzz().fuzz
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
