"""The rows of the inbox: which drafts are folded, and what a row says."""

from dataclasses import dataclass

from memtui.core.review.waiting import Waiting

# Below this, and heard only once, a draft is likely a one-off.
DOUBTFUL = 0.6
UNSAID = "0.7"


@dataclass(frozen=True)
class Line:
    """A row: a pending update, a pending item, or (`item` None) the one that stands for the folded ones."""

    key: str
    item: Waiting | None
    count: int = 0


def key_of(item: Waiting) -> str:
    """What names an entry as long as it stands: two inboxes may hold the same hand-written words."""
    return f"{item.path}#{item.id}"


def is_doubtful(item: Waiting) -> bool:
    """Whether a draft is folded."""
    return confidence(item) < DOUBTFUL and item.entry.count("seen", 1) < 2 and "confidence" in item.entry.fields


def confidence(item: Waiting) -> float:
    try:
        return float(item.entry.fields.get("confidence", UNSAID))
    except ValueError:
        return 0.0


def searched(line: Line) -> str:
    if line.item is None:
        return ""
    fields = line.item.entry.fields
    return f"{fields.get('name', '')} {fields.get('kind', '')} {line.item.text[:2000]}"
