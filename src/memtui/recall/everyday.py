"""What any prompt says: the words of everyday prompts, and their direction in the space of vectors, which tell little.

`everyday.txt` has a prompt a line, in the languages of the lexicon; none is of a set that anything is measured with."""

import os
from collections import Counter
from functools import cache

from memtui.recall import gloss_hot, words_hot
from memtui.recall.vectors_hot import Table

LEAST_WEIGHT = 0.5  # what of its weight a word of everyday prompts keeps, however many of them have it
SHARE = 1.2  # how much of that direction is taken from a prompt, as a share of the mean of everyday prompts of length 1
_PATH = os.path.join(os.path.dirname(__file__), "everyday.txt")
_DIRECTIONS: dict[int, list[float]] = {}


@cache
def word_weights() -> dict[str, float]:
    """Return what the terms of everyday prompts count beside others: the less, the more of these prompts have them."""
    with open(_PATH, encoding="utf-8") as file:
        prompts = file.read().splitlines()
    texts = [f"{prompt}\n{gloss_hot.english(prompt)}" for prompt in prompts]
    counts = Counter(term for text in texts for term in {*words_hot.terms(text)})
    return {term: LEAST_WEIGHT + (1.0 - LEAST_WEIGHT) / (1 + count) for term, count in counts.items()}


def direction(table: Table) -> list[float]:
    """Return what is taken from the vector of a prompt, if that has length 1. Tables are told apart by their size."""
    if table.size in _DIRECTIONS:
        return _DIRECTIONS[table.size]
    with open(_PATH, encoding="utf-8") as file:
        vectors = [vector for line in file.read().splitlines() if (vector := table.of_text(gloss_hot.in_english(line)))]
    columns = zip(*[[value / vector.length for value in vector.values] for vector in vectors], strict=True)
    _DIRECTIONS[table.size] = [SHARE * sum(column) / len(vectors) for column in columns]
    return _DIRECTIONS[table.size]
