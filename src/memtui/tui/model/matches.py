"""The live filter: the rows that have what is typed, whole words first, and the matches highlighted."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Generic, TypeVar

from rich.text import Text

Row = TypeVar("Row")
STYLE = "bold underline not dim"
ENOUGH = 50  # with more matches in the rows themselves, nobody misses those in bodies
LEAST_IN_BODY = 3  # a word with fewer letters is in nearly every body
MARKED = 500  # the most matches that are highlighted in a long text
NO_WORD = re.compile(r"[\W_]+")


class Haystack(Generic[Row]):
    """Rows to filter, their texts prepared once. `body`: a long text, whose matches come last."""

    def __init__(
        self, rows: Sequence[Row], text: Callable[[Row], str], body: Callable[[Row], str] | None = None
    ) -> None:
        self.rows = list(rows)
        self._text, self._body = text, body
        self._before: tuple[Sequence[str], Sequence[int]] = ((), range(len(self.rows)))

    @cached_property
    def _texts(self) -> list[str]:
        return [self._text(row).casefold() for row in self.rows]

    def prepare(self) -> None:
        """Prepare the texts, before the first letter waits for them."""
        _ = self._texts

    def select(self, typed: str) -> list[Row]:
        """Return the rows with all typed words: as whole words first, then as parts of words, then in the body."""
        words = _words_of(typed)
        if not words:
            return self.rows
        texts = self._texts
        places = _containing(texts, words)
        if min(map(len, words)) > 1:  # a single letter is hardly a word
            wholes = list(map(_whole, words))
            likely = _containing(texts, [part for word in words for part in NO_WORD.split(word)])
            places = [*(at for at in likely if all(whole.search(texts[at]) for whole in wholes)), *places]
        if len(places) <= ENOUGH and self._body is not None and max(map(len, words)) >= LEAST_IN_BODY:
            places += self._in_bodies(words)
        return [self.rows[at] for at in dict.fromkeys(places)]

    def _in_bodies(self, words: Sequence[str]) -> Iterable[int]:
        """List the rows that have all words in text and body, which is read anew: thousands are too much to hold."""
        assert self._body is not None
        before, places = self._before
        # Of more letters no other row has them.
        likely = places if all(any(word in longer for longer in words) for word in before) else range(len(self.rows))
        places = []
        for at in likely:
            if missing := [word for word in words if word not in self._texts[at]]:
                body = self._body(self.rows[at]).casefold()
                if not all(word in body for word in missing):
                    continue
            places.append(at)
        self._before = words, places
        return places


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


def _whole(word: str) -> re.Pattern[str]:
    """Return what finds a word that stands by itself; between its parts stands anything that is no word."""
    if word.isalnum():  # it begins with the letters, which is what takes the least time
        return re.compile(rf"{word}(?<![^\W_]{word})(?![^\W_])")
    parts = NO_WORD.pattern.join(map(re.escape, filter(None, NO_WORD.split(word))))
    return re.compile(rf"(?<![^\W_]){parts or '(?!)'}(?![^\W_])")


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
