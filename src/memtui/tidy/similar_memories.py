"""Memories that say much the same, and texts that are known; of thousands, those that share rare words are scored."""

import difflib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import chain, combinations, islice
from typing import NamedTuple

from memtui.base.similarity import ALIKE, SAME_NAME, SIMILAR, TextWords, rule_of, similarity, words
from memtui.client.transcripts.conversation import normalised
from memtui.review.evidence import Similar
from memtui.rules.rule_hot import parse_all
from memtui.store.memory import Memory

# The rarest words of a text by which its partners are found, in how many texts a word may be at most, and how many of
# these words two texts must share. Measured on planted near-duplicates.
RAREST, COMMON, SHARED = 12, 60, 2
# How many of the words that both have are named; characters of a body that are compared; the most that are listed.
NAMED, BODY, SHOWN = 8, 4000, 5
# The newest known texts with a rare word that are compared; words of a part that is found by itself, at least.
COMPARED, LEAST_WORDS = 1000, 3
# Words of each text that are compared one by one; differing ones are marked if they are less than the part FEW of it.
ONE_BY_ONE, FEW = 1500, 0.5


class Pair(NamedTuple):
    """Two memories, how similar they are by the rarity of their words (0 to 1), and the rarest that they share."""

    one: Memory
    other: Memory
    score: float
    shared: tuple[str, ...]


def _words(name: str, description: str, body: str) -> TextWords:
    return TextWords(words(f"{name} {description} {body[:BODY]}"))


def _rarity(bags: Sequence[Collection[str]]) -> dict[str, float]:
    """Return how rare each word is: the logarithm of how few of the texts have it."""
    counts = Counter(chain.from_iterable(bags))
    return {word: math.log((1 + len(bags)) / count) for word, count in counts.items()}


def pairs(memories: Iterable[Memory], most: int = 200, least: float = ALIKE) -> list[Pair]:
    """List the pairs that are as similar as `least`, or state the same rules, most similar first."""
    whole = [memory for memory in memories if memory.broken is None]
    # As tuples, of which many take an eighth of the memory of sets.
    bags = [tuple(_words(memory.name, memory.description, memory.body).bag) for memory in whole]
    weights = _rarity(bags)
    scored = []
    same = set(_of_one_rule(whole))
    for one, other in same.union(_candidates(bags)):
        alike = similarity(TextWords(frozenset(bags[one])), TextWords(frozenset(bags[other])), weights)
        if alike.score >= least or (one, other) in same:
            scored.append((alike.score, one, other, alike.shared))
    scored.sort(key=lambda pair: (-pair[0], *pair[1:3]))
    return [
        Pair(whole[one], whole[other], round(score, 2), tuple(sorted(bag, key=lambda w: (-weights[w], w))[:NAMED]))
        for score, one, other, bag in scored[:most]
    ]


def _of_one_rule(memories: Sequence[Memory]) -> Iterable[tuple[int, int]]:
    """Yield the pairs of memories (numbers) that state the same rules, also where only one says what to do instead."""
    holders: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    stated = [parse_all(memory.fields)[0] for memory in memories]
    for at, rules in enumerate(stated):
        if rules:
            holders[tuple(sorted(f"{rule.kind} {rule.subject}" for rule in rules))].append(at)
    for one, other in chain.from_iterable(combinations(same, 2) for same in holders.values() if len(same) <= COMMON):
        beside = [{(rule.relation, str(rule.other)) for rule in stated[at] if rule.other} for at in (one, other)]
        if beside[0] <= beside[1] or beside[1] <= beside[0]:
            yield one, other


def by_rarest(bags: Sequence[Collection[str]], most: int) -> dict[str, list[int]]:
    """Return the texts (numbers) by each of their `most` rarest words."""
    counts = Counter(chain.from_iterable(bags))
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for at, bag in enumerate(bags):
        for word in sorted(bag, key=lambda word: (counts[word], word))[:most]:
            holders[word].append(at)
    return holders


def _candidates(bags: Sequence[Collection[str]]) -> Iterable[tuple[int, int]]:
    """Return the pairs of texts (numbers) that have SHARED of their RAREST words in common."""
    counts = Counter(chain.from_iterable(bags))
    rare = [[word for word in bag if 1 < counts[word] <= COMMON] for bag in bags]
    shared = Counter(pair for texts in by_rarest(rare, RAREST).values() for pair in combinations(texts, 2))
    return (pair for pair, count in shared.items() if count >= SHARED)


def to_draft(name: str, text: str, memories: Iterable[Memory]) -> list[Similar]:
    """List the memories most similar to a draft, best first, without broken ones."""
    whole = [memory for memory in memories if memory.broken is None]
    own = _words(name, "", text)
    bags = [tuple(_words(memory.name, memory.description, memory.body).bag) for memory in whole]
    weights = _rarity([own.bag, *bags])
    similars = []
    for memory, bag in zip(whole, bags, strict=True):
        score = similarity(own, TextWords(frozenset(bag)), weights).score
        score = max(score, SAME_NAME) if memory.name.casefold() == name.casefold() else score
        if score >= SIMILAR:
            similars.append(Similar(memory, round(score, 2)))
    return sorted(similars, key=lambda similar: (-similar.score, similar.memory.name))[:SHOWN]


def differing(one: str, other: str) -> list[list[tuple[int, int]]]:
    """Return the spans of words that only one text has, for each; none for a text that differs in FEW or more."""
    places = [[*islice(re.finditer(r"\S+", text), ONE_BY_ONE)] for text in (one, other)]
    plain = [[word[0].casefold().strip(".,:;!?()[]`*_\"'") for word in words] for words in places]
    changes = difflib.SequenceMatcher(None, plain[0], plain[1], autojunk=False).get_opcodes()
    ends = [(start, end, begin, stop) for kind, start, end, begin, stop in changes if kind != "equal"]
    sides = [[end[:2] for end in ends], [end[2:] for end in ends]]
    runs: list[list[tuple[int, int]]] = []
    for matches, side in zip(places, sides, strict=True):
        own = [(start, end) for start, end in side if start < end]
        is_few = sum(end - start for start, end in own) < FEW * len(matches)
        runs.append([(matches[start].start(), matches[end - 1].end()) for start, end in own] if is_few else [])
    return runs


class KnownTexts:
    """Texts among which one that says the same is found, with the score `least`."""

    def __init__(self, least: float) -> None:
        self._least = least
        self._rules: list[tuple[TextWords, str]] = []
        self._holders: dict[str, list[int]] = {}
        self._exact: dict[str, str] = {}

    def add(self, text: str, what: str) -> None:
        """Know a text, named by `what`; its first line and what is below it also by themselves."""
        rule = rule_of(text)
        for word in rule.bag:
            self._holders.setdefault(word, []).append(len(self._rules))
        self._rules.append((rule, what))
        self._exact.setdefault(normalised(text), what)
        for part in text.partition("\n")[::2]:
            key = normalised(part)
            if len(key.split()) >= LEAST_WORDS:
                self._exact.setdefault(key, what)

    def find(self, text: str, part: str = "") -> str | None:
        """Return what names the text that says the same, or exactly the same as a `part`; None if there is none."""
        key = normalised(part or text)
        if key in self._exact and key:  # what has no words says nothing
            return self._exact[key]
        rule = rule_of(text)
        rarest_first = sorted(rule.bag & self._holders.keys(), key=lambda word: len(self._holders[word]))
        numbers = dict.fromkeys(at for word in rarest_first[:RAREST] for at in self._holders[word][-COMPARED:])
        rows = (self._rules[at] for at in numbers)
        return next((what for other, what in rows if similarity(rule, other).says_same(self._least)), None)
