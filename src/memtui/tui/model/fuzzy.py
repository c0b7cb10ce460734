"""The live filter: find the rows that match what is typed, best first, and highlight the match."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Generic, TypeVar

from rich.text import Text

Row = TypeVar("Row")
STYLE = "bold underline not dim"
# The least partial ratio (rapidfuzz, 0 to 100) of a row that is similar. With the lower one, two of four letters may be
# swapped.
CUTOFF, SHORT_CUTOFF = 80.0, 75.0
# With this many exact matches, nobody misses those in bodies; the most similar ones.
ENOUGH = 50
# With fewer letters everything is similar; with fewer than the second, nearly every body has them.
LETTERS, LEAST_IN_BODY = 4, 3
# The most queries whose rows are kept.
QUERIES = 100
# The most matches that are highlighted in a long text.
MARKED = 500
# The words that are compared as wholes, as in the search.
WORD = re.compile(r"[^\s-]+")
NUMBER = re.compile(r"\d+")


def rapidfuzz() -> Any:
    """Return rapidfuzz, which the first paint does not need; a worker imports it before a key waits for it."""
    from memtui.tidy import similarity

    return similarity.rapidfuzz()


class Haystack(Generic[Row]):
    """Rows to filter, their texts prepared once. `body`: a long text, in which only whole typed words count."""

    def __init__(
        self, rows: Sequence[Row], text: Callable[[Row], str], body: Callable[[Row], str] | None = None
    ) -> None:
        self.rows = list(rows)
        self._text, self._body = text, body
        # What was typed since the rows were read: most keys add a letter, or take one back.
        self._selected: dict[str, list[Row]] = {}
        self._in_text: dict[str, Sequence[int]] = {}
        self._in_whole: dict[str, Sequence[int]] = {}

    @cached_property
    def _texts(self) -> list[str]:
        return [self._text(row).casefold() for row in self.rows]

    @cached_property
    def _wholes(self) -> list[str]:
        bodies = map(self._body, self.rows) if self._body is not None else ()
        return [f"{text}\n{body.casefold()}" for text, body in zip(self._texts, bodies, strict=True)]

    @cached_property
    def _padded(self) -> list[str]:
        return [_padded(text) for text in self._texts]

    def prepare(self) -> None:
        """Prepare the texts, before the first letter waits for them."""
        _ = self._padded

    def select(self, typed: str) -> list[Row]:
        """Return the rows with all typed words, whole words first, then in the body; similar ones if there are none."""
        if len(self._selected) > QUERIES:
            for level in (self._selected, self._in_text, self._in_whole):
                level.clear()
        if typed not in self._selected:
            self._selected[typed] = self._select(typed)
        return self._selected[typed]

    def _select(self, typed: str) -> list[Row]:
        words = typed.casefold().split()
        if not words:
            return self.rows
        places = self._containing(self._texts, words, self._in_text)
        ranked = [places]
        if min(map(len, words)) > 1:  # a single letter is hardly a word
            whole, padded = places, self._padded
            for needle in filter(str.strip, map(_padded, reversed(words))):  # the last is rarely whole yet
                whole = [at for at in whole if needle in padded[at]]
            ranked = [whole, places] if 0 < len(whole) < len(places) else ranked
        if len(places) <= ENOUGH and self._body is not None and max(map(len, words)) >= LEAST_IN_BODY:
            ranked.append(self._containing(self._wholes, words, self._in_whole))
        if not any(ranked) and len(typed) >= LETTERS:
            ranked = [self._similar(typed)]
        if len(ranked) == 1 and len(places) == len(self.rows):
            return self.rows
        best: Iterable[int] = ranked[0] if len(ranked) == 1 else dict.fromkeys(chain.from_iterable(ranked))
        return [self.rows[at] for at in best]

    def _containing(self, texts: list[str], words: list[str], by_word: dict[str, Sequence[int]]) -> Sequence[int]:
        """Return the positions of the texts with all words. `by_word`: those with one, where longer ones are sought."""
        for word in words:
            if word not in by_word:
                start = next((word[:end] for end in range(len(word) - 1, 0, -1) if word[:end] in by_word), "")
                within = by_word[start] if start else range(len(texts))
                by_word[word] = [at for at in within if word in texts[at]]
        first, *others = sorted(words, key=lambda word: len(by_word[word]))
        places = by_word[first]
        for word in others:
            if len(by_word[word]) < len(texts):  # else all have it
                places = [at for at in places if word in texts[at]]
        return places

    def _similar(self, typed: str) -> list[int]:
        loaded = rapidfuzz()
        query, cutoff = _padded(typed).strip(), SHORT_CUTOFF if len(typed) <= LETTERS else CUTOFF
        hits = loaded.process.extract(
            query, self._padded, scorer=loaded.fuzz.partial_ratio, score_cutoff=cutoff, limit=ENOUGH
        )
        # What differs in a number is another thing, not a typing error: project-05 is not project-59.
        numbers = NUMBER.findall(typed)
        return [at for _, _, at in hits if all(number in self._texts[at] for number in numbers)]


def mark(texts: Sequence[Text], typed: str) -> None:
    """Highlight in a row's texts the typed words, or words similar to one that none of the texts has."""
    words = _words_of(typed)
    if not words:
        return
    low = [_folded(text.plain) for text in texts]
    whole = "\n".join(low)
    for text, folded in zip(texts, low, strict=True):
        for start, end in _places(folded, words, whole):
            text.stylize(STYLE, start, end)


def mark_long(text: Text, typed: str) -> int | None:
    """Highlight in a long text what was typed, and return where the first match begins; None if there is none."""
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
    places: list[tuple[int, int]] = []
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
