"""Words for what a dream proposes, and for what it left out."""

from collections import Counter
from collections.abc import Iterable

from memtui.consolidate.changeset import Kind, Proposal
from memtui.consolidate.dreaming import ADDED, Dropped, Why
from memtui.core.base.phrasing import many

KINDS: dict[Kind, str] = {
    "merge": "merge",
    "rewrite": "rewrite",
    "split": "split",
    "retype": "change the type of",
    "move": "move",
    "archive": "archive",
    "delete": "delete",
    "relink": "relink",
}
WHYS: dict[Why, str] = {
    "stranger": "named a memory that was not asked about together",
    "twice": "named a memory that another proposal has already",
    "incomplete": "left out what it needs",
    "budget": "would have removed more than a run may",
    "same": "would have changed nothing",
    "redacted": "would have lost a text that no model sees",
    "impossible": "can't be made",
}


def headline(found: Proposal) -> str:
    """Describe a proposal in a line: `merge prefer-pnpm, use-pnpm into prefer-pnpm`."""
    read = [_stem(each.path) for each in found.inputs]
    gone = {_stem(path) for path in found.gone}
    if found.kind == "merge":
        return f"merge {', '.join(read)} into {_stem(found.written[0].path)}"
    if found.kind == "archive":
        return f"archive {', '.join(each for each in read if each in gone)}"
    return f"{KINDS[found.kind]} {', '.join(read)}"


def reason(found: Proposal) -> str:
    """Say why, in the words of the model, else by the evidence."""
    if found.reason:
        return found.reason
    return ", ".join(dict.fromkeys(each.code for each in found.evidence))


def added(found: Proposal) -> list[str]:
    """List what the model wrote that no memory says, as far as words tell."""
    return [text for each in found.evidence if each.code == ADDED for text in each.texts]


def left_out(dropped: Iterable[Dropped]) -> list[str]:
    """Say what was left out, and why, each kind of reason in a line."""
    counts = Counter(each.why for each in dropped)
    return [f"{many(number, 'proposal')} left out: {WHYS[why]}" for why, number in counts.most_common()]


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")
