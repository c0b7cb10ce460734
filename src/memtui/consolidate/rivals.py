"""Rivals and siblings: two memories of which a sentence differs in one telling word.

They are no duplicates. Rivals can't both hold, such as those with another number, name, environment or verb, or with
two words in each other's place; siblings are records of different days.
"""

import re
from difflib import SequenceMatcher
from typing import NamedTuple

from memtui.consolidate import coverage
from memtui.core.memories.memory import Memory

# What one sentence has where the other has something else, at most, and what both have, at least; in words.
APART, SHARED = 2, 2
# Characters of text without blanks that count as a word.
CHARACTERS = 3
# Statements of a memory that are compared, at most.
MOST = 60
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
# A day or a month in digits, and beside a number in letters, in the languages that drafts know.
_DATE = re.compile(r"\d{4}-\d{2}(?:-\d{2})?\S*|\d{1,4}[./]\d{1,2}[./]\d{0,4}")
_MONTH = re.compile(
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez|janv|févr|avr|juin|juil|août|déc|ene|abr|ago"
    r"|dic)[^\W\d_]{0,7}\.?|[年月日]",
    re.IGNORECASE,
)


class Difference(NamedTuple):
    """Two sentences that differ in one telling word, and whether that is a date."""

    one: str
    other: str
    is_date: bool


def between(one: Memory, other: Memory) -> Difference | None:
    """Return the first sentences of two memories that differ in one telling word; None if none do. What both have word
    for word differs from nothing. A date goes first: then the memories are records of different days."""
    sides = [_statements(each) for each in (one, other)]
    mine, theirs = (
        [(words, text) for key, (words, text) in side.items() if key not in against]
        for side, against in zip(sides, reversed(sides), strict=True)
    )
    differences = [
        Difference(text, against, is_date)
        for words, text in mine
        for rival, against in theirs
        if (is_date := _differ(words, rival)) is not None
    ]
    return next((each for each in differences if each.is_date), differences[0] if differences else None)


def _statements(found: Memory) -> dict[str, tuple[tuple[str, ...], str]]:
    text = [*coverage.of_text("", found.description), *coverage.of_text("", found.body[:4000])]
    running = [each.text for each in text if each.kind in {"sentence", "item", "row"}][:MOST]
    return {coverage.literal(each): (coverage.words(each), each) for each in running}


def _differ(one: tuple[str, ...], other: tuple[str, ...]) -> bool | None:
    """Return whether two sentences differ in a date; None if they differ in more than one telling word, or in none."""
    both = set(one) & set(other)
    if _length(tuple(both)) < SHARED or one == other or abs(len(one) - len(other)) > APART * CHARACTERS:
        return None
    if len(one) == len(other) and sorted(one) == sorted(other):
        return False
    changes = [each for each in SequenceMatcher(None, one, other, autojunk=False).get_opcodes() if each[0] != "equal"]
    if len(changes) == 1 and changes[0][0] == "replace":
        _, start, end, begin, stop = changes[0]
        if max(_length(one[start:end]), _length(other[begin:stop])) > APART:
            return None
        return all(_is_date(words, *span) for words, span in ((one, (start, end)), (other, (begin, stop))))
    kinds = [(one[change[1] : change[2]], other[change[3] : change[4]]) for change in changes]
    if len(changes) == 2 and kinds[0][0] == kinds[1][1] and kinds[0][1] == kinds[1][0]:
        return False
    dates = [_is_date(one, *change[1:3]) and _is_date(other, *change[3:5]) for change in changes]
    return True if dates and len(dates) <= APART and all(dates) else None


def _is_date(words: tuple[str, ...], start: int, end: int) -> bool:
    near = words[max(0, start - 1) : end + 1]
    own = words[start:end]
    has_number = any(word[:1].isdigit() for word in near)
    return bool(own) and (any(map(_DATE.fullmatch, own)) or (has_number and any(map(_MONTH.fullmatch, near))))


def _length(words: tuple[str, ...]) -> int:
    """Return how many words there are; characters of text without blanks count as words together."""
    wide = sum(_WIDE.match(word) is not None for word in words)
    return len(words) - wide + -(-wide // CHARACTERS)
