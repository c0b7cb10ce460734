"""How much two texts say the same, by their words; of thousands only those that share rare words are scored."""

import difflib
import math
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from itertools import combinations, islice, pairwise
from typing import Any, NamedTuple

from memtui.client.transcripts.conversation import normalised
from memtui.inbox import drafts as inbox_drafts
from memtui.review.evidence import Similar
from memtui.store.memory import Memory

WORD = re.compile(r"[぀-ヿ㐀-鿿가-힣]+|[^\W_]+")
WIDE = re.compile(r"[぀-ヿ㐀-鿿가-힣]")
# The rarest words of a text by which its partners are found, in how many texts a word may be at most, and how many of
# these words two texts must share. Measured on planted near-duplicates.
RAREST, COMMON, SHARED = 12, 60, 2
# How many of the words that both have are named; characters of a body that are compared.
NAMED, BODY = 8, 4000
# The least share, of 1, of a pair.
LEAST = 0.35
# The least score, of 1, of what is similar for a person: below it two texts share only common words; and of texts of
# the same name, which would be one file.
SIMILAR, SAME_NAME = 0.55, 0.97
# The most that are listed; characters of a body that tell how similar texts are: enough to judge by, and a file of
# megabytes takes no longer.
SHOWN, JUDGED = 5, 2000
# The newest known texts with a rare word that are compared; words of a part that is found by itself, at least.
COMPARED, LEAST_WORDS = 1000, 3
# Words of each text that are compared one by one, in a time that grows with the product. Differing words are marked if
# they are less than the part FEW of a text.
ONE_BY_ONE, FEW = 1500, 0.5
_IMPORTING = threading.Lock()


@cache
def rapidfuzz() -> Any:
    """Return rapidfuzz, imported once by one thread: two would find each other's half imported parts."""
    with _IMPORTING:
        import rapidfuzz.fuzz
        import rapidfuzz.process
        import rapidfuzz.utils

    return rapidfuzz


def words(text: str) -> frozenset[str]:
    """Return a text's words in lower case; text without blanks (Chinese, Japanese) as pairs of characters."""
    bag: set[str] = set()
    for word in WORD.findall(text.casefold()):
        bag.update(map("".join, pairwise(word)) if WIDE.match(word) and len(word) > 1 else [word])
    return frozenset(bag)


# Words that say little about what a sentence is about.
FILLERS = words("a an and are as at be by for from has have in is it its of on or that the this to was we with you")


def telling(text: str) -> frozenset[str]:
    """Return the words that tell what a text is about."""
    return words(text) - FILLERS


class Pair(NamedTuple):
    """Two memories, the share of their words that both have, by rarity (0 to 1), and the rarest that they share."""

    one: Memory
    other: Memory
    share: float
    shared: tuple[str, ...]


def pairs(memories: Iterable[Memory], most: int = 200, least: float = LEAST) -> list[Pair]:
    """List the pairs that share at least `least`, most first."""
    whole, bags = [], []
    for memory in memories:
        if memory.broken is None:
            whole.append(memory)
            bags.append(words(f"{memory.name} {memory.description} {memory.body[:BODY]}"))
    counts = Counter(word for bag in bags for word in bag)
    # A word's rarity is the logarithm of how few of the texts have it.
    weights = {word: math.log((1 + len(bags)) / count) for word, count in counts.items()}
    scored = [
        (score, one, other)
        for one, other in _candidates(bags, counts)
        if (score := _share(bags[one], bags[other], weights)) >= least
    ]
    scored.sort(key=lambda pair: (-pair[0], pair[1], pair[2]))
    return [
        Pair(whole[one], whole[other], round(score, 3), _rarest(bags[one] & bags[other], weights, NAMED))
        for score, one, other in scored[:most]
    ]


def _rarest(bag: Iterable[str], weights: dict[str, float], most: int) -> tuple[str, ...]:
    return tuple(sorted(bag, key=lambda word: (-weights[word], word))[:most])


def by_rarest(bags: Sequence[Collection[str]], most: int) -> dict[str, list[int]]:
    """Return the texts (numbers) by each of their `most` rarest words."""
    counts = Counter(word for bag in bags for word in bag)
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for at, bag in enumerate(bags):
        for word in sorted(bag, key=lambda word: (counts[word], word))[:most]:
            holders[word].append(at)
    return holders


def _candidates(bags: Sequence[frozenset[str]], counts: Counter[str]) -> Iterable[tuple[int, int]]:
    """Return the pairs of texts (numbers) that have SHARED of their RAREST words in common."""
    rare = [[word for word in bag if 1 < counts[word] <= COMMON] for bag in bags]
    shared = Counter(pair for texts in by_rarest(rare, RAREST).values() for pair in combinations(texts, 2))
    return (pair for pair, count in shared.items() if count >= SHARED)


def _share(one: frozenset[str], other: frozenset[str], weights: dict[str, float]) -> float:
    """Return how much of two texts is in both, by rarity of words (0 to 1): of the smaller and of both, averaged."""
    # Exact sums: the order of a set is another in each process, and pairs that are alike equally must keep their order.
    both = math.fsum(weights[word] for word in one & other)
    sizes = [math.fsum(weights[word] for word in bag) for bag in (one, other)]
    smaller, union = min(sizes), sum(sizes) - both
    return (both / smaller + both / union) / 2 if smaller and union else 0.0


def to_draft(name: str, text: str, memories: Iterable[Memory]) -> list[Similar]:
    """List the memories most similar to a draft, best first, without broken ones."""
    own = _Measure(name, *text.partition("\n")[::2])
    scores = [Similar(memory, round(own.score(memory), 2)) for memory in memories if memory.broken is None]
    similars = [similar for similar in scores if similar.score >= SIMILAR]
    return sorted(similars, key=lambda similar: (-similar.score, similar.memory.name))[:SHOWN]


def of_two(one: Memory, other: Memory) -> float:
    """Return how similar two memories are, from 0 to 1: the number that every screen and command shows."""
    return round(_Measure(one.name, one.description, one.body).score(other), 2)


class _Measure:
    """How similar memories and drafts are to a text with a name, a description and a body."""

    def __init__(self, name: str, description: str, body: str) -> None:
        loaded = rapidfuzz()
        self._fuzz, self._clean = loaded.fuzz, loaded.utils.default_process
        self._name, self._description = self._clean(name), self._clean(description)
        self._text = self._clean(f"{name} {description} {body[:JUDGED]}")

    def score(self, other: Memory) -> float:
        """Return the similarity, from 0 to 1; of one of the same name at least SAME_NAME."""
        fuzz, name, description = self._fuzz, self._clean(other.name), self._clean(other.description)
        names: float = fuzz.token_sort_ratio(self._name, name) / 100
        described: float = fuzz.token_set_ratio(self._description, description) / 100
        # Descriptions of fewer than four words count less, since they match by chance.
        described *= min(1.0, min(len(self._description.split()), len(description.split())) / 4)
        text = self._clean(f"{other.name} {other.description} {other.body[:JUDGED]}")
        texts: float = fuzz.token_sort_ratio(self._text, text) / 100
        score = max(0.9 * described, 0.5 * names + 0.5 * described, texts, 0.8 * names)
        return max(score, SAME_NAME) if self._name and self._name == name else score


def differing(one: str, other: str) -> list[list[tuple[int, int]]]:
    """Return the spans of words that only one text has, for each; none for a text that differs in FEW or more."""
    texts = (one, other)
    places = [[m.span() for m in islice(re.finditer(r"\S+", text), ONE_BY_ONE)] for text in texts]
    plain = [
        [text[start:end].casefold().strip(".,:;!?()[]`*_\"'") for start, end in spans]
        for text, spans in zip(texts, places, strict=True)
    ]
    changes = difflib.SequenceMatcher(None, plain[0], plain[1], autojunk=False).get_opcodes()
    ends = [(start, end, begin, stop) for kind, start, end, begin, stop in changes if kind != "equal"]
    sides = [[end[:2] for end in ends], [end[2:] for end in ends]]
    runs: list[list[tuple[int, int]]] = []
    for spans, side in zip(places, sides, strict=True):
        own = [(start, end) for start, end in side if start < end]
        is_few = sum(end - start for start, end in own) < FEW * len(spans)
        runs.append([(spans[start][0], spans[end - 1][1]) for start, end in own] if is_few else [])
    return runs


class KnownTexts:
    """Texts among which one that says the same is found; `share`: of all words, how many two must have in common."""

    def __init__(self, share: float) -> None:
        self._share = share
        self._rules: list[tuple[inbox_drafts.Rule, str]] = []
        self._holders: dict[str, list[int]] = {}
        self._exact: dict[str, str] = {}

    def add(self, text: str, what: str) -> None:
        """Know a text, named by `what`; its first line and what is below it also by themselves."""
        rule = inbox_drafts.rule_of(text)
        for word in rule.words:
            self._holders.setdefault(word, []).append(len(self._rules))
        self._rules.append((rule, what))
        self._exact.setdefault(normalised(text), what)
        for part in text.partition("\n")[::2]:
            key = normalised(part)
            if len(key.split()) >= LEAST_WORDS:
                self._exact.setdefault(key, what)

    def find(self, text: str, part: str = "") -> str | None:
        """Return what names the text that says the same, or exactly the same as a `part`; None if there is none."""
        words = normalised(part or text)
        if words in self._exact and words:  # what has no words says nothing
            return self._exact[words]
        rule = inbox_drafts.rule_of(text)
        rarest_first = sorted(rule.words & self._holders.keys(), key=lambda word: len(self._holders[word]))
        numbers = dict.fromkeys(at for word in rarest_first[:RAREST] for at in self._holders[word][-COMPARED:])
        rows = (self._rules[at] for at in numbers)
        return next((what for other, what in rows if inbox_drafts.same_rule(rule, other, self._share)), None)
