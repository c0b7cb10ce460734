"""A secret that was found, and what the rules that look for one share."""

import re
from functools import cache

from memtui.core.redaction import key_shapes

# Stands for what was redacted before, in the text that is looked through: no rule takes it in.
BARRIER = "\0"


class Found:  # `guide` has no time for typing and dataclasses
    """A secret: from where to where it stands, and its kind. The smaller the rank, the surer the kind."""

    __slots__ = ("end", "kind", "rank", "start")

    def __init__(self, start: int, end: int, kind: str, rank: int) -> None:
        self.start, self.end, self.kind, self.rank = start, end, kind, rank


@cache
def shape(pattern: str) -> re.Pattern[str]:
    """A shape of `key_shapes` as a pattern."""
    return re.compile(key_shapes.expanded(pattern))


def trie(words: list[str]) -> str:
    """A pattern of many words that looks at each character once; the longest word wins."""
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
