"""The rows of the inbox: which drafts are folded, and in what order they stand."""

from collections.abc import Sequence
from dataclasses import dataclass

from memtui.core.review.waiting import Waiting

# Below this, and heard only once, a draft is likely a one-off.
DOUBTFUL = 0.6
UNSAID = "0.7"
FOLD = "fold"


@dataclass(frozen=True)
class InboxRow:
    """A row: a pending update, a pending item, or (`item` None) the one that stands for `count` folded ones."""

    key: str
    item: Waiting | None
    count: int = 0

    @property
    def kind(self) -> str:
        """updates or items; empty for the fold."""
        return self.item.kind if self.item is not None else ""


def in_order(waiting: Sequence[Waiting]) -> list[InboxRow]:
    """A row each: drafts, surest first, then items."""
    drafts = sorted(
        (each for each in waiting if each.kind == "updates"),
        key=lambda each: (-confidence(each), -(each.entry.time() or 0.0)),
    )
    return [InboxRow(each.key, each) for each in [*drafts, *(each for each in waiting if each.kind == "items")]]


def folded(rows: list[InboxRow], *, unfolded: bool) -> list[InboxRow]:
    """The rows with one that stands for the doubtful drafts, which are left out unless `unfolded`."""
    doubtful = sum(is_doubtful(row) for row in rows)
    if not doubtful:
        return rows
    drafts = [row for row in rows if row.kind == "updates" and (unfolded or not is_doubtful(row))]
    return [*drafts, InboxRow(FOLD, None, doubtful), *(row for row in rows if row.kind == "items")]


def is_doubtful(row: InboxRow) -> bool:
    """Whether it is a draft that is folded."""
    item = row.item
    if item is None or item.kind != "updates" or "confidence" not in item.entry.fields:
        return False
    return confidence(item) < DOUBTFUL and item.entry.count("seen", 1) < 2


def confidence(item: Waiting) -> float:
    """How sure the rules are of a draft, from 0 to 1."""
    try:
        return float(item.entry.fields.get("confidence", UNSAID))
    except ValueError:
        return 0.0


def searched(row: InboxRow) -> str:
    """What the filter looks at."""
    if row.item is None:
        return ""
    fields = row.item.entry.fields
    return f"{fields.get('name', '')} {fields.get('kind', '')} {row.item.text[:2000]}"
