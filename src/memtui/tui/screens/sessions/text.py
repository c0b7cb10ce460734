"""The detail of a session: what it is about, what it was told and what became of that, and what waits for it."""

import time

from rich.text import Text

from memtui import actions
from memtui.core.base.phrasing import ago, cut, many, short
from memtui.core.deliveries.record import Delivery
from memtui.core.deliveries.session_list import SessionRow
from memtui.core.review.waiting import Waiting
from memtui.present import safe_text, sessions
from memtui.present.deliveries import EVENTS, GLYPHS, in_short, recalls
from memtui.tui.model.times import when
from memtui.tui.screens.sessions.reading import TOLD_SHOWN, DetailRead
from memtui.tui.screens.sessions.rows import joined
from memtui.tui.widgets.key_lines import append_keys

WAITING_SHOWN = 8
# Characters of a delivery or a note, up to the end of a word.
WORDS_SHOWN = 110


def detail(row: SessionRow, project: str, found: DetailRead | None, resume: str, now: float) -> Text:
    """Return all about a session. `found`: what was read for the detail, None while it is read; `resume`: the command
    that resumes it."""
    text = head(row, project, now)
    _told(text, row, found, now)
    if found is not None:
        _waiting(text, found.waiting, project, now)
    if resume:
        text.append("\nResume it\n", style="bold")
        text.append(safe_text.line(resume) + "\n", style="dim")
    elif sessions.is_gone(row):
        text.append("\nIt can't be resumed: its transcript is gone.\n", style="dim")
    return text


def head(row: SessionRow, project: str, now: float) -> Text:
    """Return what a session is about, where it runs, since when, and what arrived of what it was told."""
    text = Text()
    text.append(safe_text.line(sessions.title(row), 300) + "\n", style="bold")
    glyph, style = sessions.LIVE
    text.append(f"{glyph} live" if row.live else "past", style=style if row.live else "")
    facts = [project, f"branch {row.branch}" if row.branch else "", f"of a {row.kind}" if row.kind else ""]
    text.append(safe_text.line("".join(f" · {each}" for each in facts if each), 200) + "\n", style="dim")
    text.append(f"started {_time(row.started, now)}\n" if row.started else "", style="dim")
    text.append(f"last seen {_time(row.last, now)}\n", style="dim")
    text.append(safe_text.line(row.cwd or row.project, 300) + "\n", style="dim")
    return text


def _time(seconds: float | None, now: float) -> str:
    if seconds is None:
        return "-"
    return f"{ago(seconds, now)}, {time.strftime('%a %d %b %H:%M', time.localtime(seconds))}"


def _told(text: Text, row: SessionRow, found: DetailRead | None, now: float) -> None:
    text.append("\nWhat it got", style="bold")
    if not row.deliveries:
        text.append("\nNothing yet.\n", style="dim")
        return
    size = f"{short(row.characters)} characters, about {row.tokens:,} tokens"
    text.append(f"  {many(row.deliveries, 'delivery', 'deliveries')}, {size}\n", style="dim")
    text.append_text(receipts(row)).append("\n")
    text.append(f"{came}\n" if (came := recalls(row.recalls)) else "", style="dim")
    _deliveries(text, row, found, now)


def _deliveries(text: Text, row: SessionRow, found: DetailRead | None, now: float) -> None:
    if found is None:
        text.append("reading …\n", style="dim")
        return
    for delivery, outcome in found.told:
        _delivery(text, delivery, outcome, now)
    left = row.deliveries - len(found.told)
    if left > 0:
        more = f"The newest {TOLD_SHOWN}" if len(found.told) == TOLD_SHOWN else f"{left:,} more are not shown"
        text.append(actions.keyed(f"{more}; {{sessions.deliveries}} lists all.\n"), style="dim")


def receipts(row: SessionRow) -> Text:
    """Return what became of what was delivered to a session, in words."""
    return joined(sessions.told(row), "  ")


def glance(row: SessionRow, project: str, found: DetailRead | None, now: float) -> Text:
    """Return the preview: what a session is about, and what it got. What became of that is in `tail`."""
    text = head(row, project, now)
    if row.deliveries:
        text.append("\n")
        _deliveries(text, row, found, now)
    return text


def tail(row: SessionRow, found: DetailRead | None) -> Text:
    """Return the last line of the preview: what became of what it got, and how many notes it can get. Those that are
    not for it alone go to whichever session prompts first."""
    text = receipts(row)
    waiting = found.waiting if found is not None else []
    own = sum(sessions.is_own(item) for item in waiting)
    facts = [f"{many(own, 'note waits', 'notes wait')} for it"] if own else []
    facts += [f"{many(len(waiting) - own, 'note')} for whichever session prompts first"] if own < len(waiting) else []
    text.append("".join(f"  {fact}" for fact in facts), style="dim")
    return text


def _narrower(item: Waiting) -> str:
    """Return what else a note waits for: that a tool touches some files, or an agent of a name."""
    given = (each.strip().partition(":") for each in item.entry.fields.get("for", "").split(","))
    words = {"path": "files", "agent": "agent"}
    return "".join(f", {words[kind]} {name}" for kind, _, name in given if kind in words)


def _delivery(text: Text, delivery: Delivery, outcome: str, now: float) -> None:
    glyph, style = GLYPHS.get(outcome, ("…", "dim"))
    text.append(f"{glyph} ", style=style)
    event = EVENTS.get(delivery.event, delivery.event)
    text.append(safe_text.line(f"{when(delivery.time, now)} {event:<6} ", 40), style="dim")
    text.append(cut(safe_text.line(in_short(delivery.contents)), WORDS_SHOWN))
    text.append(f"  {outcome}\n" if outcome and outcome != "arrived" else "\n", style=style)


def _waiting(text: Text, waiting: list[Waiting], project: str, now: float) -> None:
    text.append("\nWhat waits for it", style="bold")
    if not waiting:
        text.append("\nNothing.\n", style="dim")
        return
    text.append(f"  {many(len(waiting), 'note')}\n", style="dim")
    for item in waiting[:WAITING_SHOWN]:
        whom = (
            "for it alone" if sessions.is_own(item) else "for every project" if item.slug is None else f"for {project}"
        )
        whom += _narrower(item)
        text.append(f"{sessions.WAITING} ")
        text.append(f"“{cut(safe_text.line(sessions.beginning(item.text)), WORDS_SHOWN)}”")
        since = f", {ago(item.entry.time(), now)}" if item.entry.time() else ""
        text.append(safe_text.line(f"  {whom}{since}", 80) + "\n", style="dim")
    if len(waiting) > WAITING_SHOWN:
        text.append(f"and {len(waiting) - WAITING_SHOWN} more\n", style="dim")
    if not all(map(sessions.is_own, waiting)):
        text.append(f"{sessions.SHARED}\n", style="dim")


def add_keys(text: Text, row: SessionRow, *, read_only: bool) -> None:
    """Append the keys that work on a session, and what each does."""
    over = (
        "write a note to its project"
        if sessions.is_gone(row)
        else "write to it for when it is resumed, or to its project"
    )
    keys = [("app.guide", "write a note to it" if row.live else over)]
    keys.append(("sessions.deliveries", "all that it got, in Deliveries"))
    keys += [] if sessions.is_gone(row) else [("app.copy", "copy the command that resumes it")]
    append_keys(text, keys, read_only=read_only)
