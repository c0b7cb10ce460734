"""Near-duplicates: pairs of memories that have many words in common, for a person to decide.

Comparing all with all takes minutes for thousands of memories. Two that say the same share rare words, so only pairs
that do are scored.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, pairwise, takewhile
from typing import NamedTuple

from memtui.core.memories.memory import Memory

# The rarest words of a text by which its partners are found, in how many texts a word may be at most, and how many of
# these words two texts must share. Measured on planted near-duplicates: tests/benchmarks/consolidate.py.
RAREST, COMMON, SHARED = 12, 60, 2
# How many of the words that both have are told.
TOLD = 8
# The least share, of 1, of a pair.
LEAST = 0.35
# Characters of a body that are compared.
BODY = 4000
WORD = re.compile(r"[぀-ヿ㐀-鿿가-힣]+|[^\W_]+")
WIDE = re.compile(r"[぀-ヿ㐀-鿿가-힣]")


class Pair(NamedTuple):
    """Two memories: `share`, how much of their words both have, by their rarity, from 0 to 1; `shared`, the rarest of
    these, rarest first. How similar the two are for a person, consolidate/similar.py says."""

    one: Memory
    other: Memory
    share: float
    shared: tuple[str, ...]


def pairs(
    memories: Sequence[Memory], most: int = 200, least: float = LEAST, go_on: Callable[[], bool] = lambda: True
) -> list[Pair]:
    """List the pairs of memories that share at least `least`, the most first, at most `most`. A broken memory is left
    out: its text is not known. `go_on` is asked before each memory and each pair; False ends the search."""
    whole = [memory for memory in memories if memory.broken is None]
    bags = [words(f"{each.name} {each.description} {each.body[:BODY]}") for each in takewhile(lambda _: go_on(), whole)]
    weights = _weights(bags)
    found = []
    for one, other in takewhile(lambda _: go_on(), _candidates(bags, weights)):
        score = _similarity(bags[one], bags[other], weights)
        if score >= least:
            found.append((score, one, other))
    found.sort(key=lambda each: (-each[0], each[1], each[2]))
    return [
        Pair(whole[one], whole[other], round(score, 3), _rarest(bags[one] & bags[other], weights, TOLD))
        for score, one, other in found[:most]
    ]


def words(text: str) -> frozenset[str]:
    """Return the words of a text, in lower case. Text without blanks between words (Chinese, Japanese) counts by
    pairs of characters."""
    found: set[str] = set()
    for word in WORD.findall(text.casefold()):
        if WIDE.match(word) and len(word) > 1:
            found.update(map("".join, pairwise(word)))
        else:
            found.add(word)
    return frozenset(found)


def _weights(bags: Iterable[frozenset[str]]) -> dict[str, float]:
    """Return each word's rarity: the logarithm of how few of the texts have it. Shared words have at least two."""
    counts: Counter[str] = Counter()
    total = 0
    for bag in bags:
        counts.update(bag)
        total += 1
    return {word: math.log((1 + total) / count) for word, count in counts.items()}


def _rarest(bag: Iterable[str], weights: dict[str, float], most: int) -> tuple[str, ...]:
    return tuple(sorted(bag, key=lambda word: (-weights[word], word))[:most])


def _candidates(bags: Sequence[frozenset[str]], weights: dict[str, float]) -> Iterable[tuple[int, int]]:
    """Return the pairs of texts (numbers) that have SHARED of their RAREST words in common."""
    alone, common = math.log(1 + len(bags)), math.log((1 + len(bags)) / COMMON)
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for at, bag in enumerate(bags):
        usable = [word for word in bag if common <= weights[word] < alone]
        for word in _rarest(usable, weights, RAREST):
            holders[word].append(at)
    shared: Counter[tuple[int, int]] = Counter()
    for held in holders.values():
        shared.update(combinations(held, 2))
    return (pair for pair, count in shared.items() if count >= SHARED)


def _similarity(one: frozenset[str], other: frozenset[str], weights: dict[str, float]) -> float:
    """Return how much of two texts is in both, by the rarity of the words, from 0 to 1: the mean of the part of the
    smaller one and the part of both together. One that is a part of the other scores at least a half."""
    # Exact sums: the order of a set is another in each process, and pairs that are alike equally must keep their order.
    both = math.fsum(weights[word] for word in one & other)
    sizes = [math.fsum(weights[word] for word in bag) for bag in (one, other)]
    smaller, union = min(sizes), sum(sizes) - both
    return (both / smaller + both / union) / 2 if smaller and union else 0.0
