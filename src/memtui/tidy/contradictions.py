"""Plain contradictions between memories, and what differs in two that are alike.

Rivals differ in one telling word (a number, name, environment, verb), siblings in a date."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import combinations
from typing import NamedTuple

from memtui.store.memory import CODE, Memory
from memtui.tidy import coverage, similar_memories

NOT = coverage.SECTIONS["not"].split("|")
ORDER, END, CASE, NEGATION, HELPER = map(coverage.pattern, ("order", "order_end", "case", "negation", "helper"))
_DATE, _MONTH = map(coverage.pattern, ("date", "month"))
WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
FILLERS, CASES = (frozenset(coverage.SECTIONS[name].split()) for name in ("fillers", "cases"))
OPPOSITES = (("tabs", "spaces"), ("tab", "space"), ("single", "double"))
KEYS = {word: "/".join(pair) for pair in OPPOSITES for word in pair}
# In sentences that are the same otherwise.
_SIDES = [pair.split("/") for pair in coverage.SECTIONS["opposites"].split()]
SWAPPED = {one: other for pair in _SIDES for one, other in (pair, pair[::-1])}
ENDING = re.compile(r"(?:e|es|s|ed|ing)$")
# A sentence; emphasis, links between memories and headings are none of its words.
SENTENCE = re.compile(r"[^.!?;:()—–\n]+(?:[.:](?=\S)[^.!?;:()—–\n]+)*")
NO_WORDS = re.compile(r"\*\*|__|\[\[[^\]\n]*\]\]|^#.*$", re.MULTILINE)
# The share of words that two subjects have in common.
SAME = 0.8
# The fewest words of a sentence that is compared as a whole, and the rarest of them by which its partners are found.
FEWEST, RAREST = 3, 3
# A subject that more memories have than this is no subject.
COMMON = 40
# What one sentence has where the other has something else, at most, and what both have, at least; in words.
APART, SHARED = 2, 2
# Characters of text without blanks that count as a word; statements of a memory that are compared, at most.
CHARACTERS, MOST = 3, 60
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


class Order(NamedTuple):
    """An order or statement: whether it says to do something, its subject in words, the sentence, its part."""

    memory: Memory
    positive: bool
    terms: tuple[str, ...]  # its subject: 300,000 sets take 600 MB
    words: str
    part: str = ""

    @property
    def subject(self) -> frozenset[str]:
        return frozenset(self.terms)


class Difference(NamedTuple):
    """Two sentences that differ in one telling word, and whether that is a date or a case, so that both hold."""

    one: str
    other: str
    both_hold: bool


def find(memories: Iterable[Memory]) -> Iterator[tuple[Order, Order]]:
    """Yield the pairs of sentences of different memories that contradict each other, one for each pair of memories."""
    holders: defaultdict[str, list[Order]] = defaultdict(list)
    whole: list[Order] = []
    for memory in memories:
        # The words of a code span stay; fenced code is no sentence.
        plain = CODE.sub(lambda code: "\n" if code["fence"] else code[0].strip("`"), memory.body)
        text = NO_WORDS.sub("", f"{memory.description}\n{plain}")
        whole += _statements(memory, text)
        for order in _orders(memory, text):
            for word in {KEYS.get(term, term) for term in order.terms}:
                holders[word].append(order)
    compared: set[frozenset[str]] = set()
    ordered = (pair for orders in holders.values() if len(orders) <= COMMON for pair in combinations(orders, 2))
    for pairs, opposed in ((ordered, _contradict), (_candidates(whole), _negates)):
        for one, other in pairs:
            paths = frozenset((one.memory.path, other.memory.path))
            if len(paths) == 2 and paths not in compared and opposed(one, other):
                compared.add(paths)
                yield one, other


def _candidates(orders: Sequence[Order]) -> Iterator[tuple[Order, Order]]:
    """Yield pairs that share a rare word, and of which one negates, or both have a word with an opposite."""
    marked = [order for order in orders if not order.positive or not SWAPPED.keys().isdisjoint(order.terms)]
    common = frozenset(word for order in marked for word in order.terms) - SWAPPED.keys()
    rare = similar_memories.by_rarest([tuple(filter(common.__contains__, order.terms)) for order in orders], RAREST)
    for members in ([orders[at] for at in texts] for texts in rare.values()):
        negative = [order for order in members if not order.positive]
        swapping = [order for order in members if not SWAPPED.keys().isdisjoint(order.terms)]
        if len(negative) <= COMMON:
            yield from ((one, other) for one in negative for other in members if other.positive)
        if len(swapping) <= COMMON:
            yield from combinations(swapping, 2)


def _orders(memory: Memory, text: str) -> Iterator[Order]:
    for match in ORDER.finditer(text):
        first, *others = END.split(match["object"], maxsplit=1)[0].split(", ")
        lead = re.split(r"[.!?;]\s", text[text.rfind("\n", 0, match.start()) + 1 : match.start()])[-1]
        subject = " ".join([first, *filter(CASE.match, [lead, *others])])
        if words := frozenset(WORD.findall(subject.casefold())) - FILLERS:
            yield Order(memory, match["verb"].casefold() not in NOT, (*words,), match[0].strip())


def _statements(memory: Memory, text: str) -> Iterator[Order]:
    """Yield the sentences of a text that say enough to be compared as a whole. An even number of negations is none."""
    for match in SENTENCE.finditer(text):
        parts = match[0].casefold().split(", ")
        cases = " ".join(filter(CASE.match, parts)) if len(parts) > 1 else ""
        shown = match[0].strip(" \t*_>-+#")
        for part in parts:
            if "=" in part or (cases and CASE.match(part)):
                continue
            plain, negations = NEGATION.subn(lambda negation: f" {negation['verb'] or ''}", part)
            words = frozenset(WORD.findall(f"{plain} {cases}")) - FILLERS
            if len(words) >= FEWEST:
                yield Order(memory, negations % 2 == 0, (*frozenset(map(_stem, words)),), shown, part)


def _denies(negative: str, positive: str) -> bool:
    """Return whether one part of a sentence denies the verb of another: what stands behind its negation or helps it."""
    negations = [match for match in NEGATION.finditer(negative) if match[0].split()[0] != "no"]
    verbs = [match["verb"] for match in negations if match["verb"]]
    verbs += HELPER.findall(" ".join(match[0] for match in negations) if negations else negative)
    return not {*map(_stem, verbs)}.isdisjoint(map(_stem, WORD.findall(positive)))


@cache
def _stem(word: str) -> str:
    return word if word in SWAPPED else ENDING.sub("", word)


def _contradict(one: Order, other: Order) -> bool:
    own, against = one.subject, other.subject
    both, union = own & against, own | against
    if one.positive != other.positive:
        return bool(union) and len(both) >= SAME * len(union)
    pairs = [pair for pair in map(frozenset, OPPOSITES) if pair <= union]
    apart = [pair for pair in pairs if not pair <= own and not pair <= against]
    return one.positive and any(_is_part(own - pair, against - pair) for pair in apart)


def _negates(one: Order, other: Order) -> bool:
    """Return whether two whole sentences are the same but for a negation or two opposites."""
    mine, theirs = one.subject, other.subject
    swapped = {word for word in mine if SWAPPED.get(word) in theirs}
    mine, theirs = mine - swapped, theirs - {SWAPPED[word] for word in swapped}
    # What a negative one says besides may be just what it negates: "… and never npm", "not on Fridays".
    if one.positive == other.positive:
        is_said = _is_part(mine, theirs)
    else:
        is_said = mine <= theirs if other.positive else theirs <= mine
    same = is_said and len(mine & theirs) >= max(2, SAME * len(mine | theirs))
    if not same or (len(swapped) + (one.positive != other.positive)) % 2 == 0:
        return False
    negative, positive = (other, one) if one.positive else (one, other)
    # A heading or a name denies nothing.
    return negative.positive or _denies(negative.part, positive.part)


def _is_part(one: frozenset[str], other: frozenset[str]) -> bool:
    return one <= other or other <= one


def difference(one: Memory, other: Memory) -> Difference | None:
    """Return the first sentences of two memories that differ in one telling word, a date first; None if none do."""
    sides = []
    for memory in (one, other):
        text = [*coverage.of_text("", memory.description), *coverage.of_text("", memory.body[:4000])]
        running = [item.text for item in text if item.kind in {"sentence", "item", "row"}][:MOST]
        sides.append({coverage.literal(item): (coverage.words(item), item) for item in running})
    mine, theirs = ([side[key] for key in side if key not in against] for side, against in (sides, sides[::-1]))
    pairs = ((text, against, _differ(words, rival)) for words, text in mine for rival, against in theirs)
    differences = [Difference(one, two, both_hold) for one, two, both_hold in pairs if both_hold is not None]
    return next((item for item in differences if item.both_hold), differences[0] if differences else None)


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
        spans = (one, start, end), (other, begin, stop)
        return all(_is_date(*span) for span in spans) or all(_is_case(*span) for span in spans)
    kinds = [(one[change[1] : change[2]], other[change[3] : change[4]]) for change in changes]
    if len(changes) == 2 and kinds[0] == kinds[1][::-1]:
        return False
    dates = [_is_date(one, *change[1:3]) and _is_date(other, *change[3:5]) for change in changes]
    return True if dates and len(dates) <= APART and all(dates) else None


def _is_case(words: tuple[str, ...], start: int, end: int) -> bool:
    return start > 0 and CASE.fullmatch(words[start - 1]) is not None and CASES.issuperset(words[start:end])


def _is_date(words: tuple[str, ...], start: int, end: int) -> bool:
    near = words[max(0, start - 1) : end + 1]
    own = words[start:end]
    has_number = any(word[:1].isdigit() for word in near)
    return bool(own) and (any(map(_DATE.fullmatch, own)) or (has_number and any(map(_MONTH.fullmatch, near))))


def _length(words: tuple[str, ...]) -> int:
    """Return how many words there are; characters of text without blanks count as words together."""
    wide = sum(_WIDE.match(word) is not None for word in words)
    return len(words) - wide + -(-wide // CHARACTERS)
