"""The detail of a session: what it is about, what became of what it got, and what waits for it."""

import time
from collections.abc import Sequence

from rich.text import Text

from memtui.core.base.phrasing import ago, cut, many, short
from memtui.core.deliveries.sessions import SessionRow
from memtui.core.review.waiting import Waiting
from memtui.present import safe_text, sessions
from memtui.tui.widgets.key_lines import append_keys

WAITING_SHOWN = 8
# Characters of a delivery or a note, up to the end of a word.
WORDS_SHOWN = 110


def detail(row: SessionRow, project: str, waiting: Sequence[Waiting], resume: str, now: float) -> Text:
    """Return all about a session. `waiting`: the notes that wait for it; `resume`: the command that resumes it."""
    text = head(row, project, now)
    text.append("\nWhat it got", style="bold")
    if row.deliveries:
        size = f"{short(row.characters)} characters, about {row.tokens:,} tokens · {row.ms:,} ms in hooks"
        text.append(f"  {many(row.deliveries, 'delivery', 'deliveries')}, {size}\n", style="dim")
        text.append_text(receipts(row)).append("\n")
    else:
        text.append("\nNothing yet.\n", style="dim")
    _waiting(text, waiting, project, now)
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
    since = f" · started {ago(row.started, now)}" if row.started else ""
    text.append(f"last seen {_time(row.last, now)}{since}\n", style="dim")
    text.append(safe_text.line(row.cwd or row.project, 300) + "\n", style="dim")
    return text


def _time(seconds: float | None, now: float) -> str:
    if seconds is None:
        return "-"
    return f"{ago(seconds, now)}, {time.strftime('%a %d %b %H:%M', time.localtime(seconds))}"


def receipts(row: SessionRow) -> Text:
    """Return what became of what was delivered to a session, in words."""
    return Text("  ").join(Text(words, style) for words, style in sessions.told(row))


def tail(row: SessionRow, waiting: Sequence[Waiting]) -> Text:
    """Return the last line of the preview: what became of what it got, and how many notes it can get. Those that are
    not for it alone go to whichever session prompts first."""
    text = receipts(row)
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


def _waiting(text: Text, waiting: Sequence[Waiting], project: str, now: float) -> None:
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
    keys = [("app.note", "write a note to it" if row.live else over)]
    keys += [] if sessions.is_gone(row) else [("app.copy", "copy the command that resumes it")]
    append_keys(text, keys, read_only=read_only)
