"""Plain contradictions between memories: one says always what the other says never, or tabs where it says spaces.

Sentences that begin as an order are compared by what they order; all others as a whole: these contradict each other
only if both have the same words but for a negation ("must always be reviewed", "must never be") or two opposites
("before", "after").
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations
from typing import NamedTuple

from memtui.core.memories.memory import CODE, Memory

DO = ("always", "use", "prefer", "do", "must", "keep", "run", "write", "put", "add", "commit", "call", "choose")
NOT = ("never", "avoid", "don't", "do not", "don’t", "must not", "mustn't", "stop")
ORDER = re.compile(
    r"(?:^|(?<=[.!?;:] )|(?<=\*\* )|(?<=[-*+] ))[\"*_]*(?P<verb>"
    + "|".join(re.escape(each) for each in (*NOT, *DO))
    + r")\b"
    r"(?P<object>[^.!?;:\n(—–]{2,120})",
    re.IGNORECASE | re.MULTILINE,
)
# What follows one of these is the reason or the other choice, not the subject.
END = re.compile(
    r"\b(?:instead of|rather than|over|because|since|so that|as|but|except|unless|if|when|not)\b|,", re.IGNORECASE
)
WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
FILLERS = frozenset(
    WORD.findall(
        "a an the to of for in on at with by from and or any all every your you we it its is are be this that these "
        "those here there use using used do run write put add keep make new code file files please just only ever "
        "one ones two another other others more less again always never anything nothing everything something them "
        "him her us me my our so too as well both each much many first last same way thing things"
    )
)
OPPOSITES = (("tabs", "spaces"), ("tab", "space"), ("single", "double"))
KEYS = {word: "/".join(pair) for pair in OPPOSITES for word in pair}
# In sentences that are the same otherwise.
SWAPPED = dict(
    pair
    for one, other in (
        *OPPOSITES,
        ("enable", "disable"),
        ("enabled", "disabled"),
        ("allow", "forbid"),
        ("allowed", "forbidden"),
        ("include", "exclude"),
        ("required", "optional"),
        ("before", "after"),
        ("true", "false"),
    )
    for pair in ((one, other), (other, one))
)
# "Not" between two nouns ("this not that") negates only the second one.
HELPS = "do|does|did|is|are|was|were|must|should|can|may|need|has|have|had|will|would|could|be"
NEGATION = re.compile(rf"\b(?:never|no|cannot|avoid|stop|(?:{HELPS}) not|(?:{HELPS}|wo)n['’]?t)\b")
# A sentence, or the part of one between commas.
PART = re.compile(r"[^.!?;:,()—–\n]+(?:[.:,](?=\S)[^.!?;:,()—–\n]+)*")
# The share of words that two subjects have in common.
SAME = 0.8
# The fewest words of a sentence that is compared as a whole, and the rarest of them by which its partners are found.
FEWEST, RAREST = 3, 3
# A subject that more memories have than this is no subject.
COMMON = 40


class Order(NamedTuple):
    """An order or a statement in a memory: whether it says to do something, or that it is so; its subject in words,
    and the sentence."""

    memory: Memory
    positive: bool
    subject: frozenset[str]
    words: str


def find(memories: Iterable[Memory]) -> Iterator[tuple[Order, Order]]:
    """Yield the pairs of sentences of different memories that contradict each other, one for each pair of memories."""
    holders: defaultdict[str, list[Order]] = defaultdict(list)
    whole: list[Order] = []
    for memory in memories:
        whole += statements(memory)
        for order in orders(memory):
            for word in {KEYS.get(each, each) for each in order.subject}:
                holders[word].append(order)
    seen: set[frozenset[str]] = set()
    ordered = (pair for held in holders.values() if len(held) <= COMMON for pair in combinations(held, 2))
    for one, other, opposed in chain(
        ((*pair, _contradict) for pair in ordered),
        ((*pair, _negates) for pair in _candidates(whole)),
    ):
        pair = frozenset((one.memory.path, other.memory.path))
        if len(pair) == 2 and pair not in seen and opposed(one, other):
            seen.add(pair)
            yield one, other


def _candidates(found: Sequence[Order]) -> Iterator[tuple[Order, Order]]:
    """Yield the pairs of whole sentences that share one of their rarest words, and of which one negates, or both have
    a word that has an opposite."""
    marked = [each for each in found if not each.positive or each.subject & SWAPPED.keys()]
    told = frozenset(word for each in marked for word in each.subject) - SWAPPED.keys()
    counts = Counter(word for each in found for word in each.subject & told) if told else Counter[str]()
    holders: defaultdict[str, list[Order]] = defaultdict(list)
    for each in found if told else []:
        for word in sorted(each.subject & told, key=lambda word: (counts[word], word))[:RAREST]:
            holders[word].append(each)
    for held in holders.values():
        negative = [each for each in held if not each.positive]
        swapping = [each for each in held if each.subject & SWAPPED.keys()]
        if len(negative) <= COMMON:
            yield from ((one, other) for one in negative for other in held if other.positive)
        if len(swapping) <= COMMON:
            yield from combinations(swapping, 2)


def orders(memory: Memory) -> Iterator[Order]:
    """Yield the orders in a memory's description and text, outside of code."""
    for match in ORDER.finditer(_text(memory)):
        verb = match["verb"].casefold()
        subject = END.split(match["object"], maxsplit=1)[0]
        words = frozenset(WORD.findall(subject.casefold())) - FILLERS
        if words:
            yield Order(memory, verb not in NOT, words, match[0].strip())


def statements(memory: Memory) -> Iterator[Order]:
    """Yield the sentences of a memory's description and text, outside of code, that say enough to be compared as a
    whole. An even number of negations is none."""
    for match in PART.finditer(_text(memory)):
        plain, negations = NEGATION.subn(" ", match[0].casefold())
        words = frozenset(WORD.findall(plain)) - FILLERS
        if len(words) >= FEWEST:
            yield Order(memory, negations % 2 == 0, words, match[0].strip(" \t*_>-+#"))


def _text(memory: Memory) -> str:
    return f"{memory.description}\n{CODE.sub(_spared, memory.body)}"


def _spared(match: "re.Match[str]") -> str:
    """Keep the words of a code span; fenced code is no sentence."""
    return "\n" if match["fence"] else match[0].strip("`")


def _contradict(one: Order, other: Order) -> bool:
    both, union = one.subject & other.subject, one.subject | other.subject
    if one.positive != other.positive:
        return bool(union) and len(both) >= SAME * len(union)
    return one.positive and any(
        {first, second} <= union
        and not {first, second} <= one.subject
        and not {first, second} <= other.subject
        and _is_part(one.subject - {first, second}, other.subject - {first, second})
        for first, second in OPPOSITES
    )


def _negates(one: Order, other: Order) -> bool:
    """Return whether two whole sentences are the same but for a negation or two opposites."""
    swapped = {word for word in one.subject if SWAPPED.get(word) in other.subject}
    mine, theirs = one.subject - swapped, other.subject - {SWAPPED[word] for word in swapped}
    # What a negative one says besides may be just what it negates: "… and never npm", "not on Fridays".
    said = (
        _is_part(mine, theirs)
        if one.positive == other.positive
        else mine <= theirs
        if other.positive
        else theirs <= mine
    )
    same = said and len(mine & theirs) >= max(2, SAME * len(mine | theirs))
    return same and (len(swapped) + (one.positive != other.positive)) % 2 == 1


def _is_part(one: frozenset[str], other: frozenset[str]) -> bool:
    return one <= other or other <= one
