"""The detail text of a note on the Guidance screen."""

from collections.abc import Sequence

from rich.text import Text

from memtui import actions
from memtui.core.base import clock
from memtui.core.base.finding import Finding
from memtui.core.base.phrasing import ago, until
from memtui.core.base.short_ids import short_id
from memtui.core.deliveries.notes import Note
from memtui.core.deliveries.record import Delivery
from memtui.core.health import findings
from memtui.core.inbox.under_way import UnderWay
from memtui.core.review.waiting import Waiting
from memtui.present import notes, safe_text
from memtui.present.deliveries import GLYPHS, MEANINGS, session_words
from memtui.tui.model import times
from memtui.tui.screens.guidance.rows import WORDS, GuidanceRow, addressee, called
from memtui.tui.widgets.key_lines import append_keys

DELIVERED_KEYS = (("guidance.again", "send it again: the form opens with this text"),)
WAITING_KEYS = (("guidance.edit", "change the text, for whom, until when"), ("guidance.withdraw", "withdraw it"))

# By the code of a finding: what it means that a note is not delivered, and what can be done.
STUCK = {
    "inbox.held": ("It stays here until you decide.", "{guidance.again} sends it again."),
    "inbox.expired": (
        "Nobody gets it any more.",
        "{guidance.again} sends it again without an expiry, {guidance.edit} gives it another one.",
    ),
    "inbox.long": ("Sessions only get the name of its file.", "{guidance.edit} shortens it."),
}


def detail(
    row: GuidanceRow, titles: dict[str, str], project: str, now: float, *, start: str = "", read_only: bool = False
) -> Text:
    """Return all about a note: its text, what became of it or why it waits, and the keys that work on it. `start`: the
    directory to start a first session in, if none was started yet."""
    text = Text()
    text.append(safe_text.clean(row.text) + "\n\n")
    if row.note is not None:
        _delivered(text, row, row.note, titles, now)
        append_keys(text, DELIVERED_KEYS, read_only=read_only)
    elif row.under_way is not None:
        _under_way(text, row.under_way, titles, now)
    elif row.item is not None:
        begin = notes.first_session(row.item.entry.fields.get("for", ""), start) if start and not row.states else ""
        if begin:
            text.append(f"{begin}\n", style="bold")
        _waiting(text, row.item, row.states, titles, project, now, read_only=read_only)
        append_keys(text, WAITING_KEYS, read_only=read_only)
    return text


def _delivered(text: Text, row: GuidanceRow, note: Note, titles: dict[str, str], now: float) -> None:
    glyph, style = GLYPHS[row.outcome]
    text.append(f"{glyph} {WORDS.get(row.outcome, row.outcome)}", style=style)
    text.append(f": {MEANINGS[row.outcome]}\n")
    if row.back:
        text.append("It is back in the queue, above.\n", style="yellow")
    delivery = note.delivery
    lines = [
        f"sent {_moment(delivery.time or None, now)} to {_titled(delivery, titles)}",
        f"in {delivery.project_root or delivery.cwd}",
        f"by {delivery.event}" + (f", {note.reason}" if note.reason else ""),
        f"from {called(note.sender)} · {note.scope}",
        f"delivery {short_id(delivery.id)}",
    ]
    for line in lines:
        text.append(safe_text.line(line) + "\n", style="dim")


def _titled(delivery: Delivery, titles: dict[str, str]) -> str:
    """Return the title of the session of a delivery, else its id."""
    return session_words(delivery.session, delivery.entrypoint, titles.get(delivery.session, ""))


def _moment(seconds: float | None, now: float) -> str:
    """Write when something was: `2d ago (Fri 13:02)`."""
    return ago(seconds, now) if seconds is None else f"{ago(seconds, now)} ({times.when(seconds, now)})"


def _under_way(text: Text, note: UnderWay, titles: dict[str, str], now: float) -> None:
    text.append("→ under way", style="cyan")
    text.append(": a hook has given it to the client; the transcript does not show it yet\n")
    taken = f"taken {_moment(note.time, now)} by {_titled(note.record, titles)}"
    text.append(safe_text.line(taken) + "\n", style="dim")
    text.append(safe_text.line(f"delivery {short_id(note.delivery)}") + "\n", style="dim")
    text.append("What does not arrive comes back into the queue by itself.\n", style="dim")


def _waiting(
    text: Text,
    item: Waiting,
    states: Sequence[Finding],
    titles: dict[str, str],
    project: str,
    now: float,
    *,
    read_only: bool,
) -> None:
    fields = item.entry.fields
    for each in states:
        text.append(f"! {safe_text.line(findings.flag(each))}\n", style="yellow")
    for code, (means, remedy) in STUCK.items():
        if any(each.code == code for each in states):
            text.append(f"  {means}{'' if read_only else ' ' + actions.keyed(remedy)}\n", style="yellow")
            break
    given = [each.strip() for each in fields.get("for", "").split(",") if each.strip()]
    whom = " and ".join(addressee(each, titles) for each in given) or "anyone"
    where = "any project" if item.slug is None else project
    lines = [f"for {whom}, in {where}" if given else f"for the next session of {where}"]
    if not states:
        lines.append(f"goes {notes.moment(fields.get('for', ''), urgent=item.entry.flag('urgent'))}")
    expires = clock.parse(fields.get("expires"))
    if expires is not None:
        lines.append(f"expires {until(expires, now)}" if expires > now else f"expired {ago(expires, now)}")
    written = f", {_moment(item.entry.time(), now)}" if item.entry.time() else ""
    lines.append(f"from {called(fields['from'])}{written}" if "from" in fields else f"written by hand{written}")
    if item.entry.flag("repeat"):
        lines.append("may have been delivered before")
    lines.append(item.path)
    for line in lines:
        text.append(safe_text.line(line) + "\n", style="dim")
