"""The detail texts of the Subconscious screen."""

from collections.abc import Sequence

from rich.text import Text

from memtui.core.base.phrasing import ago, many
from memtui.core.base.short_ids import short_id
from memtui.present import models, safe_text
from memtui.present import subconscious as present
from memtui.present.deliveries import GLYPHS, MEANINGS
from memtui.subconscious import places
from memtui.subconscious.block_versions import before
from memtui.subconscious.conversations import Remark
from memtui.subconscious.overview import Overview
from memtui.subconscious.runs import BY_HAND, Run
from memtui.subconscious.whispers import Whisper
from memtui.tui.model import line_diff
from memtui.tui.screens.subconscious.rows import WAITING, SubconsciousRow
from memtui.tui.widgets.key_lines import append_keys

# Versions of a block whose changes are shown.
CHANGES = 3
BLOCK_KEYS = (
    ("subconscious.edit", "change it"),
    ("subconscious.back", "undo one change of it, and keep the later ones"),
    ("subconscious.history", "all its versions; restore one"),
)
RUN_KEYS = (("subconscious.back", "undo what it changed, and keep later changes"),)
SESSION_KEYS = (("subconscious.session", "what its session got"),)
WHISPER_KEYS = (("subconscious.back", "withdraw it before it is delivered"),)


def detail(
    row: SubconsciousRow, found: Overview | None, remarks: Sequence[Remark], path: str, now: float, *, read_only: bool
) -> Text:
    """Return all about a row. `remarks`: the conversation about its session; `path`: the file of a block."""
    text = Text()
    if row.mention is not None:
        text.append(safe_text.clean(row.mention.words) + "\n\n")
        who = "You" if row.mention.who == "person" else "The agent"
        _line(text, f"{who} asked {ago(row.mention.time, now)}, in session {row.mention.session[:8]}{_of(row)}")
        why = found.powers.why if found is not None else ""
        _line(text, why or "It replies once it has read that session's next turn.", "yellow" if why else "dim")
        append_keys(text, SESSION_KEYS, read_only=read_only)
    elif row.whisper is not None:
        _whisper(text, row, row.whisper, now)
        keys = WHISPER_KEYS if row.outcome == WAITING else ()
        append_keys(text, (*keys, *SESSION_KEYS), read_only=read_only)
    elif row.run is not None:
        _run(text, row, row.run, remarks, now)
        append_keys(text, (*(RUN_KEYS if row.changes else ()), *SESSION_KEYS), read_only=read_only)
    else:
        _block(text, row, path, now)
        append_keys(text, BLOCK_KEYS, read_only=read_only)
    return text


def changed(old: str, after: str) -> Text:
    """Return what a version of a block changed; of the first one, its text."""
    return line_diff.drawn(old, after, ("before", "after")) if old else Text(safe_text.clean(after))


def _of(row: SubconsciousRow) -> str:
    return f" of {row.project}" if row.project else ""


def _line(text: Text, words: str, style: str = "dim") -> None:
    text.append(safe_text.line(words) + "\n", style=style)


def _block(text: Text, row: SubconsciousRow, path: str, now: float) -> None:
    of_project, purpose = places.BLOCKS[row.name]
    text.append(row.name, style="bold").append(f"  {purpose}\n\n", style="dim")
    text.append(safe_text.clean(row.content) + "\n\n" if row.content else "It is empty.\n\n")
    _line(
        text,
        f"{len(row.content):,} of {places.MOST:,} characters, for {'this project' if of_project else 'all projects'}",
    )
    _line(text, path)
    writers = present.writers(row.versions)
    for at, version in enumerate(row.versions[:CHANGES]):
        text.append(f"\n{safe_text.line(writers[at])}, {ago(version.time, now)}\n", style="bold")
        text.append_text(changed(before(row.versions, at), version.content)).append("\n")
    if len(row.versions) > CHANGES:
        _line(text, f"… {many(len(row.versions) - CHANGES, 'older version')}")


def _whisper(text: Text, row: SubconsciousRow, whisper: Whisper, now: float) -> None:
    text.append(safe_text.clean(whisper.text) + "\n\n")
    if row.outcome in GLYPHS:
        glyph, style = GLYPHS[row.outcome]
        text.append(f"{glyph} {row.outcome}", style=style).append(f": {MEANINGS[row.outcome]}\n")
    elif row.outcome == WAITING:
        before = "tool" if whisper.urgent else "prompt"
        text.append("… waits", style="cyan").append(f": it comes before the session's next {before}, for a day\n")
    else:
        text.append(f"{present.ended(whisper, now)}", style="dim").append(": it did not reach the session\n")
    _line(
        text, f"said {ago(whisper.time, now)} to session {whisper.session[:8]}{_of(row)}{', urgent' * whisper.urgent}"
    )
    if whisper.reply:
        _line(text, f"a reply to: {whisper.reply}")
    if whisper.because:
        _line(text, f"because of: “{whisper.because}”")
    if row.delivery:
        _line(text, f"delivery {short_id(row.delivery)}")


def _run(text: Text, row: SubconsciousRow, run: Run, remarks: Sequence[Remark], now: float) -> None:
    said, style = present.outcome(run, now)
    text.append(said, style=style).append(f": {safe_text.line(present.did(run))}\n" if present.did(run) else "\n")
    if run.note:
        text.append(safe_text.clean(run.note) + "\n")
    text.append("\n")
    event = run.event if run.event == BY_HAND else f"after {run.event}"
    _line(text, f"{ago(run.time, now)}, {event}, session {run.session[:8]}{_of(row)}")
    _line(text, f"in {run.cwd}")
    _line(text, f"heard {many(run.heard, 'message')}, {many(run.calls, 'call')} of {models.short_name(run.model)}")
    _line(text, f"{run.tokens:,} tokens, {models.dollars(run.cost)}, {run.seconds:.1f} s, tools {run.tools}")
    for title, rows in (("Looked at", run.looks), ("Refused", run.refused)):
        if rows:
            text.append(f"\n{title}\n", style="bold")
            for each in rows:
                _line(text, each, "")
    for version, old in row.changes:
        text.append(f"\n{version.block}\n", style="bold")
        text.append_text(changed(old, version.content)).append("\n")
    if remarks:
        text.append("\nIts conversation about this session\n", style="bold")
    for remark in remarks:
        text.append(f"{present.kind(remark)}, {ago(remark.time, now)}: ", style="dim").append(
            safe_text.line(remark.text) + "\n"
        )
