"""A secret found in a text, and what the rules that find them share."""

import re
from functools import cache

from memtui.core.redaction import key_shapes

# Replaces what was redacted before, in the text that is searched: no rule matches it.
BARRIER = "\0"


class Secret:  # no dataclass: importing dataclasses takes `guide` too long
    """A secret found in a text, from `start` to `end`. The smaller the `rank`, the surer the `kind`."""

    __slots__ = ("end", "kind", "rank", "start")

    def __init__(self, start: int, end: int, kind: str, rank: int) -> None:
        self.start, self.end, self.kind, self.rank = start, end, kind, rank


@cache
def shape(pattern: str) -> re.Pattern[str]:
    """Compile a shape of `key_shapes`."""
    return re.compile(key_shapes.expanded(pattern))


def trie(words: list[str]) -> str:
    """Return a pattern for many words that tests each character once; the longest word wins."""
    if len(words) == 1:
        return re.escape(words[0])
    heads: dict[str, list[str]] = {}
    for word in words:
        heads.setdefault(word[:1], []).append(word[1:])
    ends = "" in heads
    heads.pop("", None)
    branches = [re.escape(head) + (trie(rest) if rest != [""] else "") for head, rest in heads.items()]
    if not branches:
        return ""
    found = branches[0] if len(branches) == 1 and not ends else "(?:" + "|".join(branches) + ")"
    return found + "?" if ends else found
