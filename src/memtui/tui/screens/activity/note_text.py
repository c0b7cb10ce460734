"""The detail of a note that waits."""

from collections.abc import Mapping, Sequence

from rich.text import Text

from memtui import actions
from memtui.core.base import clock
from memtui.core.base.finding import Finding
from memtui.core.base.phrasing import ago, until
from memtui.core.base.short_ids import short_id
from memtui.core.health import findings
from memtui.core.inbox.under_way import UnderWay
from memtui.core.review.waiting import Waiting
from memtui.present import notes, safe_text
from memtui.present.deliveries import GLYPHS, session_words
from memtui.subconscious import whispers
from memtui.tui.model import times
from memtui.tui.widgets.key_lines import append_keys

ADDRESSEES = {"path": "files"}  # what kinds of addressees are called, if not as in the file
BY_HAND = "by hand"
WAITING_KEYS = (("activity.edit", "change the text, for whom, until when"), ("activity.withdraw", "withdraw it"))

# By the code of a finding: what it means that a note is not delivered, and what can be done.
STUCK = {
    "inbox.held": ("It stays here until you decide.", "{activity.again} sends it again."),
    "inbox.expired": (
        "Nobody gets it any more.",
        "{activity.again} sends it again without an expiry, {activity.edit} gives it another one.",
    ),
    "inbox.long": ("Sessions only get the name of its file.", "{activity.edit} shortens it."),
}


def addressee(given: str, titles: Mapping[str, str]) -> str:
    """Say whom an addressee means, such as `agent:reviewer` or `session:` and an id."""
    kind, colon, name = given.partition(":")
    if kind == "session" and name in titles:
        return f"“{titles[name]}”"
    return f"{ADDRESSEES.get(kind, kind)} {name[:8] if kind == 'session' else name}" if colon else given


def called(sender: str) -> str:
    """Return how a sender is called: `you` for what was written in the TUI."""
    return {"tui": "you", whispers.SENDER: "the model"}.get(sender, sender) or BY_HAND


def waiting(
    item: Waiting,
    states: Sequence[Finding],
    titles: Mapping[str, str],
    project: str,
    now: float,
    *,
    start: str = "",
    read_only: bool = False,
) -> Text:
    """Return all about a note that waits: its text, why it waits, and the keys that work on it. `states`: why it is
    stuck; `start`: the directory to start a first session in, if none was started yet."""
    text = Text(safe_text.clean(item.text) + "\n\n")
    begin = notes.first_session(item.entry.fields.get("for", ""), start) if start and not states else ""
    text.append(f"{begin}\n" if begin else "", style="bold")
    _waiting(text, item, states, titles, project, now, read_only=read_only)
    append_keys(text, WAITING_KEYS, read_only=read_only)
    return text


def under_way(note: UnderWay, titles: Mapping[str, str], now: float) -> Text:
    """Return all about a note that a hook took."""
    text = Text(safe_text.clean(note.entry.text) + "\n\n")
    glyph, style = GLYPHS["waiting"]
    text.append(f"{glyph} on its way", style=style)
    text.append(": a hook has given it to the client; the transcript does not show it yet\n")
    session = note.record.session
    taker = session_words(session, note.record.entrypoint, titles.get(session, ""))
    text.append(safe_text.line(f"taken {_moment(note.time, now)} by {taker}") + "\n", style="dim")
    text.append(safe_text.line(f"delivery {short_id(note.delivery)}") + "\n", style="dim")
    text.append("What does not arrive comes back and waits again.\n", style="dim")
    return text


def _moment(seconds: float | None, now: float) -> str:
    """Write when something was: `2d ago (Fri 13:02)`."""
    return ago(seconds, now) if seconds is None else f"{ago(seconds, now)} ({times.when(seconds, now)})"


def _waiting(
    text: Text,
    item: Waiting,
    states: Sequence[Finding],
    titles: Mapping[str, str],
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
