"""The list of the inbox: which rows stand in which order, and what is folded."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from memtui.core.base.phrasing import many
from memtui.core.base.when import NEVER
from memtui.core.review.changed import Changed
from memtui.core.review.waiting import Waiting, best_first
from memtui.present import drafts
from memtui.tui.screens.inbox.change_rows import FIX, MERGE, RULE, SAFE_FIX
from memtui.tui.screens.inbox.changed import CHANGED, ChangedRow
from memtui.tui.screens.inbox.entry_rows import DRAFT, TODO, EntryRow
from memtui.tui.screens.inbox.problem_rows import PROBLEM, TRUST
from memtui.tui.screens.inbox.row import FoldRow, InboxRow

# The kinds, in their order.
ORDER = (DRAFT, CHANGED, MERGE, FIX, PROBLEM, RULE, TRUST, TODO)
# More memories that others changed than this are folded.
MANY = 12
# The keys of the folds.
ONE_OFFS, SNOOZED, BY_OTHERS = "one-offs", "snoozed", "changed"
WHY = {
    ONE_OFFS: "Drafts of what was said once and was likely not meant for good.",
    SNOOZED: "You hid these. They come back by themselves.",
    BY_OTHERS: "Memories that Claude, an editor or a program wrote since you last saw them.",
}


def of_entries(waiting: Sequence[Waiting], now: float) -> list[InboxRow]:
    """Return a row for each draft and todo: drafts that are most worth keeping and newest first, then todos."""
    drafts_first = best_first(each for each in waiting if each.kind == "updates")
    todos = [each for each in waiting if each.kind == "items"]
    return [EntryRow(each.key, each.until(now), item=each) for each in (*drafts_first, *todos)]


def of_changed(found: Sequence[Changed]) -> list[InboxRow]:
    """Return a row for each memory that somebody else wrote."""
    return [ChangedRow(f"changed:{each.key}", changed=each) for each in found]


def in_order(found: Sequence[InboxRow], hidden: Mapping[str, float], now: float) -> list[InboxRow]:
    """Return the rows kind by kind, as ORDER has them, and within a kind as they are; those `hidden` until a time at
    the end, in the order in which they come back, without those hidden for good."""
    rows = []
    for row in found:
        until = hidden.get(row.later_key, 0.0) if row.later_key else 0.0
        if until != NEVER:
            rows.append(replace(row, until=until) if until > now else row)

    def place(row: InboxRow) -> tuple[float, int]:
        kind = row.kind
        return row.until or 0.0, ORDER.index(FIX if kind is SAFE_FIX else kind)

    return sorted(rows, key=place)


def folded(found: Sequence[InboxRow], unfolded: Collection[str], now: float) -> list[InboxRow]:
    """Return the rows with likely one-offs and snoozed rows in folds at the end, and many memories that others changed
    in one; `unfolded` are the keys of the folds that are open."""
    one_offs = [row for row in found if isinstance(row, EntryRow) and row.is_one_off]
    snoozed = [row for row in found if row.until is not None]
    aside = {row.key for row in (*one_offs, *snoozed)}
    shown = [row for row in found if row.key not in aside]
    changed = [row for row in shown if isinstance(row, ChangedRow)]
    if len(changed) > MANY:
        says = many(len(changed), "memory", "memories") + " that others changed"
        at, fold = shown.index(changed[0]), _fold(BY_OTHERS, changed, says, unfolded)
        shown[at : at + len(changed)] = fold
    untils = [row.until for row in snoozed if row.until is not None]
    return [
        *shown,
        *_fold(ONE_OFFS, one_offs, drafts.one_offs(len(one_offs)), unfolded),
        *_fold(SNOOZED, snoozed, drafts.waiting(untils, now) if untils else "", unfolded),
    ]


def _fold(key: str, found: Sequence[InboxRow], says: str, unfolded: Collection[str]) -> list[InboxRow]:
    if not found:
        return []
    is_open = key in unfolded
    fold = FoldRow(key, None, tuple(found), says, WHY[key], is_open, whole=key == BY_OTHERS)
    return [fold, *(found if is_open else ())]
