"""Texts that are known, among which one that says the same as another is found by the words that both have."""

from memtui.core.client.conversation import normalised
from memtui.core.inbox import same_rule

# The rarest known words of a text by which texts that may be the same are found, and how many of the newest of these
# are compared for each.
RAREST, COMPARED = 12, 1000
# Words that a part has at least, to be found by itself.
LEAST_WORDS = 3


class KnownTexts:
    """The texts; `share`: how many of all their words two have in common that are the same for a person."""

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
