"""Texts that are known, among which one that says the same as another is found by the words that both have; and which
drafts of a list say what a memory says, or what a person rejected."""

from collections.abc import Iterable

from memtui.core.base import paths
from memtui.core.client.conversation import normalised
from memtui.core.inbox import refused, same_rule
from memtui.core.memories.memory import Memory
from memtui.core.review.waiting import Waiting

# The rarest known words of a text by which texts that may be the same are found, and how many of the newest of these
# are compared for each.
RAREST, COMPARED = 12, 1000
# Words that a part has at least, to be found by itself.
LEAST_WORDS = 3
# How many of the words of two drafts, of all that either has, make them alike.
ALIKE = 0.6
# What a draft is like.
REJECTED, SIMILAR = "rejected", "similar"


class KnownTexts:
    """The texts. `share`: how many of the words of two texts, of all that either has, make them the same for a
    person."""

    def __init__(self, share: float) -> None:
        self._share = share
        self._rules: list[tuple[same_rule.Rule, str]] = []
        self._holders: dict[str, list[int]] = {}
        self._exact: dict[str, str] = {}

    def add(self, text: str, what: str) -> None:
        """Know a text, named by `what`; its first line and what is below it also by themselves."""
        rule = same_rule.of(text)
        for word in rule.words:
            self._holders.setdefault(word, []).append(len(self._rules))
        self._rules.append((rule, what))
        self._exact.setdefault(normalised(text), what)
        for part in text.partition("\n")[::2]:
            key = normalised(part)
            if len(key.split()) >= LEAST_WORDS:
                self._exact.setdefault(key, what)

    def find(self, text: str, part: str = "") -> str | None:
        """Return what names the text that says the same as a text, or exactly the same as a `part` of it; None if there
        is none."""
        words = normalised(part or text)
        if words in self._exact and words:  # what has no words says nothing
            return self._exact[words]
        rule = same_rule.of(text)
        known = sorted(rule.words & self._holders.keys(), key=lambda each: len(self._holders[each]))
        numbers = dict.fromkeys(at for word in known[:RAREST] for at in self._holders[word][-COMPARED:])
        rows = (self._rules[at] for at in numbers)
        return next((what for other, what in rows if same_rule.same(rule, other, self._share)), None)


def likeness(root: str, items: Iterable[Waiting], memories: Iterable[Memory]) -> dict[str, str]:
    """Return by the key of an entry REJECTED for drafts like one that was rejected from their inbox or the global one,
    and SIMILAR for those like a memory."""
    known = KnownTexts(ALIKE)
    for each in memories:
        if each.broken is None:
            known.add(each.description, each.ref)
    rejected: dict[str, KnownTexts] = {}
    likenesses = {}
    for item in items:
        if item.kind != "updates":
            continue
        if item.directory not in rejected:
            texts = rejected[item.directory] = KnownTexts(ALIKE)
            for draft in refused.near([item.directory, paths.inbox_dir(root, None)]):
                texts.add(draft.description, REJECTED)
        first = item.text.partition("\n")[0]
        if rejected[item.directory].find(first) is not None:
            likenesses[item.key] = REJECTED
        elif known.find(first) is not None:
            likenesses[item.key] = SIMILAR
    return likenesses
