"""The rows of the inbox: their order, and what is folded: drafts that look like one-offs, snoozed ones, and many
memories that others changed."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from memtui.consolidate import told_before
from memtui.core.review.changed import Changed
from memtui.core.review.waiting import Waiting, best_first

# The marks of items.
OPEN, KEPT = "☐", "="
# The mark of a memory that somebody else wrote. More of them than this are folded.
CHANGED_MARK, MANY = "~", 12
MARKS = ((OPEN, "a todo"), (KEPT, "an item that is kept when the next session leaves others"))
# The marks of drafts that are like something.
ALIKE = {
    told_before.REJECTED: ("!", "a draft like one that you rejected"),
    told_before.SIMILAR: ("=", "a draft like a memory that is there"),
}
# The keys of the folds.
ONE_OFFS, SNOOZED, CHANGED = "one-offs", "snoozed", "changed"


@dataclass(frozen=True)
class InboxRow:
    """A row of the list: a draft or a todo (`item`), a memory that somebody else wrote (`changed`), or the
    fold of some rows. `until`: when a snoozed draft shows again, in seconds since the epoch."""

    key: str
    item: Waiting | None
    folds: tuple["InboxRow", ...] = ()
    until: float | None = None
    changed: Changed | None = None

    @property
    def kind(self) -> str:
        """`updates`, `items` or `changed`; empty for a fold."""
        if self.changed is not None:
            return CHANGED
        return self.item.kind if self.item is not None else ""


def in_order(waiting: Sequence[Waiting], now: float) -> list[InboxRow]:
    """Return a row for each entry: drafts, those that are most worth keeping and newest first; items; and snoozed
    drafts, in the order in which they come back."""
    drafts = best_first(each for each in waiting if each.kind == "updates")
    found = [
        InboxRow(each.key, each, until=each.until(now))
        for each in [*drafts, *(each for each in waiting if each.kind == "items")]
    ]
    return sorted(found, key=lambda row: row.until or 0.0)


def of_changed(found: Sequence[Changed]) -> list[InboxRow]:
    """Return a row for each memory that somebody else wrote."""
    return [InboxRow(f"{CHANGED}:{each.key}", None, changed=each) for each in found]


def folded(rows: Sequence[InboxRow], unfolded: Collection[str]) -> list[InboxRow]:
    """Return the rows with the doubtful drafts below those to review, then what others changed, and the snoozed drafts
    at the end, in folds; `unfolded` are the keys of the folds that are open."""
    doubtful, snoozed = tuple(filter(is_doubtful, rows)), tuple(row for row in rows if row.until is not None)
    shown = [row for row in rows if row not in doubtful and row not in snoozed]
    drafts, items = [row for row in shown if row.kind == "updates"], [row for row in shown if row.kind == "items"]
    others = tuple(row for row in shown if row.kind == CHANGED)
    changed = others if len(others) <= MANY else _fold(CHANGED, others, unfolded)
    return [*drafts, *_fold(ONE_OFFS, doubtful, unfolded), *changed, *items, *_fold(SNOOZED, snoozed, unfolded)]


def _fold(key: str, rows: tuple[InboxRow, ...], unfolded: Collection[str]) -> Sequence[InboxRow]:
    return (InboxRow(key, None, rows), *(rows if key in unfolded else ())) if rows else ()


def is_doubtful(row: InboxRow) -> bool:
    """Return whether a row is a draft to review that looks like a one-off."""
    return row.until is None and row.kind == "updates" and row.item is not None and row.item.entry.one_off()


def searched(row: InboxRow) -> str:
    """Return the text that the filter searches."""
    if row.changed is not None:
        return f"{row.changed.ref} {row.changed.kind}"
    if row.item is None:
        return ""
    fields = row.item.entry.fields
    return f"{fields.get('name', '')} {fields.get('kind', '')} {row.item.text[:2000]}"
