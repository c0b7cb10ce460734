"""The live filter: find the rows that match what is typed, best first, and highlight the match."""

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar

from rich.text import Text

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
# The words that are compared as wholes, as in the search.
WORD = re.compile(r"[^\s-]+")
NUMBER = re.compile(r"\d+")


def rapidfuzz() -> Any:
    """Return rapidfuzz, which the first paint does not need; a worker imports it before a key waits for it."""
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
    def _padded(self) -> list[str]:
        return [_padded(text) for text in self._texts]

    def select(self, typed: str) -> list[Row]:
        """Return the rows that match: first those that contain all typed words, in the order of the rows, whole words
        before parts; then those with them in the body; then similar ones."""
        wanted = typed.casefold().split()
        if not wanted:
            return list(self.rows)
        texts = self._texts
        places = list(range(len(texts)))
        for word in wanted:
            places = [at for at in places if word in texts[at]]
        if min(map(len, wanted)) > 1:  # a single letter is hardly a word
            whole, padded = places, self._padded
            for needle in filter(str.strip, map(_padded, wanted)):
                whole = [at for at in whole if needle in padded[at]]
            places = list(dict.fromkeys([*whole, *places])) if len(whole) < len(places) else places
        if len(places) <= ENOUGH and self._bodies and max(map(len, wanted)) >= LEAST_IN_BODY:
            inside = list(range(len(texts)))
            for word in wanted:
                inside = [at for at in inside if word in self._bodies[at] or word in texts[at]]
            places += inside
        if len(places) <= ENOUGH and len(typed) >= LETTERS:
            places += self._similar(typed)
        return [self.rows[at] for at in dict.fromkeys(places)]

    def _similar(self, typed: str) -> list[int]:
        loaded = rapidfuzz()
        query, cutoff = _padded(typed).strip(), SHORT_CUTOFF if len(typed) <= LETTERS else CUTOFF
        hits = loaded.process.extract(
            query, self._padded, scorer=loaded.fuzz.partial_ratio, score_cutoff=cutoff, limit=ENOUGH
        )
        # What differs in a number is another thing, not a typing error: project-05 is not project-59.
        numbers = NUMBER.findall(typed)
        return [at for _, _, at in hits if all(number in self._texts[at] for number in numbers)]


def spans(text: str, typed: str) -> list[tuple[int, int]]:
    """Return (start, end) of every occurrence of the typed words in a text."""
    low = _folded(text)
    return [match.span() for word in _words_of(typed) for match in re.finditer(re.escape(word), low)]


def mark(texts: Sequence[Text], typed: str) -> None:
    """Highlight in a row's texts the typed words, or words similar to one that none of the texts has."""
    words = _words_of(typed)
    if not words:
        return
    low = [_folded(text.plain) for text in texts]
    for text, each in zip(texts, low, strict=True):
        for start, end in _places(each, words, "\n".join(low)):
            text.stylize(STYLE, start, end)


def mark_long(text: Text, typed: str) -> int | None:
    """Highlight in a text of many lines what was typed, as `mark` does, and return where the first match begins; None
    if there is none. A word of one letter is not sought: it is everywhere."""
    words = [word for word in _words_of(typed) if len(word) > 1]
    if not words:
        return None
    low = _folded(text.plain)
    places = sorted(_places(low, words, low))[:MARKED]
    for start, end in places:
        text.stylize(STYLE, start, end)
    return places[0][0] if places else None


def _padded(text: str) -> str:
    """Return a text in which blanks stand around each word, and nothing else between words."""
    return f" {rapidfuzz().utils.default_process(text).replace('_', ' ')} "


def _words_of(typed: str) -> list[str]:
    return list(dict.fromkeys(typed.casefold().split()))


def _folded(text: str) -> str:
    low = text.casefold()
    return low if len(low) == len(text) else "".join([c.casefold() if len(c.casefold()) == 1 else c for c in text])


def _places(low: str, words: Sequence[str], whole: str) -> list[tuple[int, int]]:
    """Return (start, end) of each of the words in a text, and of words similar to one that is nowhere in `whole`."""
    places = []
    for word in words:
        if word in whole:
            places += [match.span() for match in re.finditer(re.escape(word), low)]
        elif len(word) >= LETTERS:
            fuzz, near = rapidfuzz().fuzz, range(len(word) - 2, len(word) + 3)
            places += [
                match.span()
                for match in WORD.finditer(low)
                if len(match[0]) in near and fuzz.ratio(word, match[0], score_cutoff=SHORT_CUTOFF)
            ]
    return places
