"""The rows of the Guidance screen: notes that wait, are under way, or were delivered."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rich.text import Text

from memtui.core.base.finding import Finding
from memtui.core.deliveries import receipts
from memtui.core.deliveries.notes import Note
from memtui.core.deliveries.record import Delivery, session_kind
from memtui.core.inbox.under_way import UnderWay
from memtui.core.review.waiting import Waiting
from memtui.present.deliveries import GLYPHS

# The words for outcomes that differ from the usual ones.
WORDS = {receipts.WAITING: "sent"}
SESSION = "session:"
ADDRESSEES = {"path": "files"}  # what kinds of addressees are called, if not as in the file
BY_HAND = "by hand"
# Why a note is not delivered, short enough for a column.
WAITS, UNDER_WAY, STOPPED = "○", "→", "!"
MARKS = (
    (WAITS, "waits for the next prompt; urgent: also before the next tool use"),
    (UNDER_WAY, "under way: a hook took it; in “to”: the session that got it"),
    (STOPPED, "is not delivered: expired, held after three times, binary or too long"),
)
STUCK = {"inbox.expired": "expired", "inbox.held": "held", "inbox.binary": "binary", "inbox.long": "too long"}


@dataclass(frozen=True)
class GuidanceRow:
    """One note, in one of three forms: `item` if it waits (`states`: why it is stuck), `under_way`, or `note` if it was
    delivered (`outcome`: what became of it; `back`: it is in the queue again)."""

    key: str
    text: str
    time: float | None
    item: Waiting | None = None
    under_way: UnderWay | None = None
    note: Note | None = None
    outcome: str = ""
    states: tuple[Finding, ...] = ()
    back: bool = False


def state(row: GuidanceRow) -> Text:
    """Return the state of a note: a glyph and a word."""
    if row.note is not None:
        glyph, style = GLYPHS[row.outcome]
        # What a hook has printed waits no longer: "sent" instead of "waiting".
        return Text(f"{glyph} {WORDS.get(row.outcome, row.outcome)}", style=style)
    if row.under_way is not None:
        return Text(f"{UNDER_WAY} under way", style="cyan")
    if row.states:
        return Text(f"{STOPPED} {STUCK[row.states[0].code]}", style="yellow")
    if row.item is not None and row.item.entry.flag("urgent"):
        return Text(f"{WAITS} urgent", style="bold")
    return Text(f"{WAITS} waits")


def is_over(row: GuidanceRow) -> bool:
    """Return whether a note in the queue is no longer delivered: it has expired, or came back too often."""
    return any(each.code in {"inbox.expired", "inbox.held"} for each in row.states)


def session_of(row: GuidanceRow) -> str:
    """Return the id of the session that got a note, or that a waiting one is for, maybe only its beginning; or ""."""
    if row.note is not None:
        return row.note.delivery.session
    if row.under_way is not None:
        return row.under_way.session
    given = row.item.entry.fields.get("for", "").split(",") if row.item is not None else []
    return next((each.strip()[len(SESSION) :] for each in given if each.strip().startswith(SESSION)), "")


def to(row: GuidanceRow, project: str, titles: Mapping[str, str], elsewhere: bool = False) -> str:
    """Return for whom a waiting note is, or which session got a delivered one. `titles`: by session id; `elsewhere`:
    the note is another project's, so its addressees alone don't say whose."""
    if row.note is not None:
        return "→ " + _session(row.note.delivery, titles)
    if row.under_way is not None:
        return "→ " + _session(row.under_way.record, titles)
    if row.item is None:
        return ""
    given = [each.strip() for each in row.item.entry.fields.get("for", "").split(",")]
    words = [addressee(each, titles) for each in given if each]
    whom = " and ".join(words)
    if whom and elsewhere:
        return f"{project}, {whom}"
    return whom or (project if row.item.slug else "every project")


def addressee(given: str, titles: Mapping[str, str]) -> str:
    """Say whom an addressee means, such as `agent:reviewer` or `session:` and an id."""
    kind, colon, name = given.partition(":")
    if kind + colon == SESSION and name in titles:
        return f"“{titles[name]}”"
    return f"{ADDRESSEES.get(kind, kind)} {name[:8] if kind + colon == SESSION else name}" if colon else given


def _session(delivery: Delivery, titles: Mapping[str, str]) -> str:
    """Return a session's title, else the start of its id; where its kind is known, less of the id and the kind."""
    session, kind = delivery.session, session_kind(delivery.entrypoint)
    name = f"“{titles[session]}”" if titles.get(session) else session[:4] if kind else session[:8]
    return f"{name} {kind}".rstrip()


def sender(row: GuidanceRow) -> str:
    """Return who wrote a note."""
    if row.note is not None:
        return called(row.note.sender)
    entry = row.item.entry if row.item is not None else row.under_way.entry if row.under_way is not None else None
    return called(entry.fields.get("from", BY_HAND)) if entry is not None else ""


def called(sender: str) -> str:
    """Return how a sender is called: `you` for what was written in the TUI."""
    return "you" if sender == "tui" else sender or BY_HAND


def newest(text: str) -> Callable[[Sequence[GuidanceRow]], int | None]:
    """Return a function that finds, among shown rows, the number of the newest waiting note with this text."""

    def find(rows: Sequence[GuidanceRow]) -> int | None:
        found = [at for at, row in enumerate(rows) if row.item is not None and row.text == text]
        return max(found, key=lambda at: rows[at].time or 0.0, default=None)

    return find


def searched(row: GuidanceRow, whom: str) -> str:
    """Return the text that the filter searches; `whom`: what `to` says."""
    return f"{row.text[:2000]} {sender(row)} {whom} {state(row).plain}"
