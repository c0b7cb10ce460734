"""The live filter: the rows that have what is typed, whole words first, and the matches highlighted."""

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Generic, TypeVar

from rich.text import Text

Row = TypeVar("Row")
STYLE = "bold underline not dim"
ENOUGH = 50  # with more matches in the rows themselves, nobody misses those in bodies
LEAST_IN_BODY = 3  # a word with fewer letters is in nearly every body
# The most matches that are highlighted in a long text.
MARKED = 500
NO_WORD = re.compile(r"[\W_]+")


class Haystack(Generic[Row]):
    """Rows to filter, their texts prepared once. `body`: a long text, whose matches come last."""

    def __init__(
        self, rows: Sequence[Row], text: Callable[[Row], str], body: Callable[[Row], str] | None = None
    ) -> None:
        self.rows = list(rows)
        self._text, self._body = text, body

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
        """Return the rows with all typed words: as whole words first, then as parts of words, then in the body."""
        words = _words_of(typed)
        if not words:
            return self.rows
        places = _containing(self._texts, words)
        if min(map(len, words)) > 1:  # a single letter is hardly a word
            whole = _containing(self._padded, [_padded(word) for word in words])
            places = [*whole, *places]
        if len(places) <= ENOUGH and self._body is not None and max(map(len, words)) >= LEAST_IN_BODY:
            places += _containing(self._wholes, words)
        return [self.rows[at] for at in dict.fromkeys(places)]


def mark(texts: Sequence[Text], typed: str) -> None:
    """Highlight in a row's texts the typed words."""
    words = _words_of(typed)
    for text in texts if words else ():
        for start, end in _places(text.plain, words):
            text.stylize(STYLE, start, end)


def mark_long(text: Text, typed: str) -> int | None:
    """Highlight in a long text what was typed, and return where the first match begins; None if there is none."""
    places = sorted(_places(text.plain, [word for word in _words_of(typed) if len(word) > 1]))[:MARKED]
    for start, end in places:
        text.stylize(STYLE, start, end)
    return places[0][0] if places else None


def _words_of(typed: str) -> list[str]:
    return list(dict.fromkeys(typed.casefold().split()))


def _padded(text: str) -> str:
    """Return a text in which blanks stand around each word, and nothing else between words."""
    return f" {NO_WORD.sub(' ', text).strip()} "


def _containing(texts: Sequence[str], words: Sequence[str]) -> list[int]:
    places = list(range(len(texts)))
    for word in words:
        places = [at for at in places if word in texts[at]]
    return places


def _places(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Return (start, end) of each of the words in a text."""
    low = text.casefold()
    if len(low) != len(text):  # a letter folds to two
        low = "".join([char.casefold() if len(char.casefold()) == 1 else char for char in text])
    return [match.span() for word in words for match in re.finditer(re.escape(word), low)]
