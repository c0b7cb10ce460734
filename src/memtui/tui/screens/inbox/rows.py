"""The rows of the inbox: their order, and which drafts are folded."""

from collections.abc import Sequence
from dataclasses import dataclass

from memtui.core.review.waiting import Waiting

# A draft with less confidence than this that was seen only once is likely a one-off.
DOUBTFUL = 0.6
DEFAULT_CONFIDENCE = "0.7"
FOLD = "fold"


@dataclass(frozen=True)
class InboxRow:
    """A row of the list: a draft, an unfinished item, or (`item` None) the fold with the number of drafts in it."""

    key: str
    item: Waiting | None
    count: int = 0

    @property
    def kind(self) -> str:
        """`updates` or `items`; empty for the fold."""
        return self.item.kind if self.item is not None else ""


def in_order(waiting: Sequence[Waiting]) -> list[InboxRow]:
    """Return a row for each entry: drafts, those with most confidence and newest first, then items."""
    drafts = sorted(
        (each for each in waiting if each.kind == "updates"),
        key=lambda each: (-confidence(each), -(each.entry.time() or 0.0)),
    )
    return [InboxRow(each.key, each) for each in [*drafts, *(each for each in waiting if each.kind == "items")]]


def folded(rows: list[InboxRow], *, unfolded: bool) -> list[InboxRow]:
    """Return the rows with a fold below the drafts, and below that, if `unfolded`, the doubtful drafts."""
    doubtful = [row for row in rows if is_doubtful(row)]
    if not doubtful:
        return rows
    drafts = [row for row in rows if row.kind == "updates" and not is_doubtful(row)]
    fold = InboxRow(FOLD, None, len(doubtful))
    return [*drafts, fold, *(doubtful if unfolded else ()), *(row for row in rows if row.kind == "items")]


def is_doubtful(row: InboxRow) -> bool:
    """Return whether a row is a draft that is folded."""
    item = row.item
    if item is None or item.kind != "updates" or "confidence" not in item.entry.fields:
        return False
    return confidence(item) < DOUBTFUL and item.entry.count("seen", 1) < 2


def confidence(item: Waiting) -> float:
    """Return how sure the rules are of a draft, from 0 to 1."""
    try:
        return float(item.entry.fields.get("confidence", DEFAULT_CONFIDENCE))
    except ValueError:
        return 0.0


def searched(row: InboxRow) -> str:
    """Return the text that the filter searches."""
    if row.item is None:
        return ""
    fields = row.item.entry.fields
    return f"{fields.get('name', '')} {fields.get('kind', '')} {row.item.text[:2000]}"
