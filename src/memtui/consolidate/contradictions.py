"""Plain contradictions between memories: one says always what the other says never, or tabs where it says spaces.

Only sentences that begin as an order are compared, and only those about the same words.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations
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
# The share of words that two subjects have in common.
SAME = 0.8
# A subject that more memories have than this is no subject.
COMMON = 40


class Order(NamedTuple):
    """An order in a memory: whether it says to do something, its subject in words, and the sentence."""

    memory: Memory
    positive: bool
    subject: frozenset[str]
    words: str


def find(memories: Iterable[Memory]) -> Iterator[tuple[Order, Order]]:
    """Yield the pairs of orders of different memories that contradict each other, one for each pair of memories."""
    holders: defaultdict[str, list[Order]] = defaultdict(list)
    for memory in memories:
        for order in orders(memory):
            for word in {KEYS.get(each, each) for each in order.subject}:
                holders[word].append(order)
    seen: set[frozenset[str]] = set()
    for held in holders.values():
        if len(held) > COMMON:
            continue
        for one, other in combinations(held, 2):
            pair = frozenset((one.memory.path, other.memory.path))
            if len(pair) == 2 and pair not in seen and _contradict(one, other):
                seen.add(pair)
                yield one, other


def orders(memory: Memory) -> Iterator[Order]:
    """Yield the orders in a memory's description and text, outside of code."""
    text = f"{memory.description}\n{CODE.sub(_spared, memory.body)}"
    for match in ORDER.finditer(text):
        verb = match["verb"].casefold()
        subject = END.split(match["object"], maxsplit=1)[0]
        words = frozenset(WORD.findall(subject.casefold())) - FILLERS
        if words:
            yield Order(memory, verb not in NOT, words, match[0].strip())


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


def _is_part(one: frozenset[str], other: frozenset[str]) -> bool:
    return one <= other or other <= one
