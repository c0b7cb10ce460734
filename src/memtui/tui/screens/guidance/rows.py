"""The rows of the guidance screen: what waits, is under way, was told."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.text import Text

from memtui.core.base.finding import Finding
from memtui.core.base.phrasing import age
from memtui.core.deliveries import receipts
from memtui.core.deliveries.notes import Note
from memtui.core.deliveries.record import Delivery, session_kind
from memtui.core.inbox.under_way import UnderWay
from memtui.core.review.waiting import Waiting
from memtui.present.deliveries import GLYPHS

WORDS = {receipts.WAITING: "unproven"}
# What keeps a note, in the room of a column.
STUCK = {"inbox.expired": "expired", "inbox.held": "held", "inbox.binary": "binary", "inbox.long": "too long"}


@dataclass(frozen=True)
class GuidanceRow:
    """One note: `item` waits, `taken` is under way, `note` was told, with its `outcome`. `states`: what keeps it."""

    key: str
    text: str
    time: float | None
    item: Waiting | None = None
    taken: UnderWay | None = None
    note: Note | None = None
    outcome: str = ""
    states: tuple[Finding, ...] = ()
    back: bool = False


def state(row: GuidanceRow) -> Text:
    """A glyph and a word."""
    if row.note is not None:
        glyph, style = GLYPHS[row.outcome]
        # What a hook has printed is no longer waiting to be told.
        return Text(f"{glyph} {WORDS.get(row.outcome, row.outcome)}", style=style)
    if row.taken is not None:
        return Text("→ under way", style="cyan")
    if row.states:
        return Text(f"! {STUCK[row.states[0].code]}", style="yellow")
    if row.item is not None and row.item.entry.flag("urgent"):
        return Text("○ urgent", style="bold")
    return Text("○ waits")


def is_over(row: GuidanceRow) -> bool:
    """Whether a note in the queue is told to nobody any more: it expired, or came back too often."""
    return any(each.code in {"inbox.expired", "inbox.held"} for each in row.states)


def to(row: GuidanceRow, project: str) -> str:
    """For whom it is, or which session got it."""
    if row.note is not None:
        return _holder(row.note.delivery)
    if row.taken is not None:
        return _holder(row.taken.record)
    if row.item is None:
        return ""
    addressees = row.item.entry.fields.get("for", "")
    if addressees:
        return addressees.replace("session:", "session ")
    return project if row.item.slug else "every project"


def _holder(delivery: Delivery) -> str:
    """The session that got it: what kind it is, where that is known, in place of the rest of its id."""
    session, kind = delivery.session, session_kind(delivery.entrypoint)
    return f"→ {session[:4]} {kind}" if kind else f"→ {session[:8]}"


def sender(row: GuidanceRow) -> str:
    """Who says so."""
    if row.note is not None:
        return row.note.sender
    entry = row.item.entry if row.item is not None else row.taken.entry if row.taken is not None else None
    return entry.fields.get("from", "by hand") if entry is not None else ""


def newest(text: str) -> Callable[[Sequence[GuidanceRow]], int | None]:
    """Find, among the rows that are shown, the number of the newest that waits with this text."""

    def find(rows: Sequence[GuidanceRow]) -> int | None:
        found = [at for at, row in enumerate(rows) if row.item is not None and row.text == text]
        return max(found, key=lambda at: rows[at].time or 0.0, default=None)

    return find


def searched(row: GuidanceRow) -> str:
    """What the filter looks at."""
    return f"{row.text[:2000]} {sender(row)} {to(row, '')} {state(row).plain}"


def when(row: GuidanceRow, now: float) -> Text:
    """Its age."""
    return Text(age(row.time, now), style="dim")
