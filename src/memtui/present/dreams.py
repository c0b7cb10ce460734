"""Words for what a dream proposes, and for what it left out."""

from collections import Counter
from collections.abc import Iterable

from memtui.consolidate.changeset import Proposal
from memtui.consolidate.dream import MOST_CHARACTERS, Dropped, Why, WhyNot
from memtui.core.base.phrasing import many, some
from memtui.core.memories.memory import Memory

WHY_NOT: dict[WhyNot, str] = {
    "read_only": "in a scope that memtui can't change",
    "broken": "can't be read",
    "empty": "empty",
    "long": f"longer than {MOST_CHARACTERS:,} characters",
    "untrusted": "not trusted",
    "secret": "may contain a secret",
}
WHYS: dict[Why, str] = {
    "stranger": "named a memory that was not asked about together",
    "twice": "named a memory that another change has already",
    "incomplete": "left out what it needs",
    "budget": "would have removed more than a run may",
    "same": "would have changed nothing",
    "redacted": "would have lost a text that no model sees",
    "impossible": "can't be made",
}


def reason(found: Proposal) -> str:
    """Say why, in the words of the model, else by the evidence."""
    if found.reason:
        return found.reason
    return ", ".join(dict.fromkeys(each.code for each in found.evidence))


def not_looked_at(found: Iterable[tuple[Memory, WhyNot]]) -> list[str]:
    """Say which memories are not looked at, each kind of reason in a line: `not counted, empty: style, lint`."""
    names: dict[WhyNot, list[str]] = {}
    for each, why in found:
        names.setdefault(why, []).append(each.stem)
    return [f"not counted, {WHY_NOT[why]}: {some(each)}" for why, each in names.items()]


def left_out(dropped: Iterable[Dropped]) -> list[str]:
    """Say what was left out, and why, each kind of reason in a line."""
    counts = Counter(each.why for each in dropped)
    return [f"{many(number, 'change')} left out: {WHYS[why]}" for why, number in counts.most_common()]
