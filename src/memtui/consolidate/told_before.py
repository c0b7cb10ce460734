"""Which drafts of a list say what a memory says, or what a person rejected: found by their words, for many at once."""

from collections.abc import Iterable

from memtui.consolidate.known_texts import KnownTexts
from memtui.core.base import paths
from memtui.core.inbox import refused
from memtui.core.memories.memory import Memory
from memtui.core.review.waiting import Waiting

# How many of the words of two texts, of all that either has, make them alike.
ALIKE = 0.6
# What a draft is like.
REJECTED, SIMILAR = "rejected", "similar"


def likeness(root: str, items: Iterable[Waiting], memories: Iterable[Memory]) -> dict[str, str]:
    """Return by the key of an entry REJECTED for drafts like one that was rejected from their inbox or the global one,
    and SIMILAR for those like a memory."""
    known = KnownTexts(ALIKE)
    for each in memories:
        if each.broken is None:
            known.add(each.description, each.ref)
    rejected: dict[str, KnownTexts] = {}
    found = {}
    for item in items:
        if item.kind != "updates":
            continue
        if item.directory not in rejected:
            texts = rejected[item.directory] = KnownTexts(ALIKE)
            for draft in refused.near([item.directory, paths.inbox_dir(root, None)]):
                texts.add(draft.description, REJECTED)
        first = item.text.partition("\n")[0]
        if rejected[item.directory].find(first) is not None:
            found[item.key] = REJECTED
        elif known.find(first) is not None:
            found[item.key] = SIMILAR
    return found
