"""The detail of a reading of a session by the model: what it did, what that cost, what it changed and said."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from memtui.core.base.phrasing import ago, many
from memtui.core.deliveries import receipts
from memtui.present import models, safe_text
from memtui.present import subconscious as present
from memtui.present.deliveries import GLYPHS
from memtui.subconscious import blocks, whispers
from memtui.subconscious.overview import WaitingMention
from memtui.subconscious.runs import BY_HAND, Run
from memtui.tui.model import line_diff
from memtui.tui.widgets.key_lines import append_keys

if TYPE_CHECKING:
    from memtui.tui.model.data import Data

KEYS = (("activity.withdraw", "undo what it changed"),)
# The newest notes of the model to a session that are looked through.
NOTES = 100


def detail(data: "Data", run: Run, *, read_only: bool) -> Text:
    """Return all about a run."""
    now, text = data.now(), Text()
    said, style = present.outcome(run, now)
    text.append(said, style=style).append(f": {safe_text.line(present.did(run))}\n" if present.did(run) else "\n")
    text.append(safe_text.clean(run.note) + "\n\n" if run.note else "\n")
    _line(text, f"{ago(run.time, now)}, {run.event if run.event == BY_HAND else f'after {run.event}'}, in {run.cwd}")
    _line(text, f"heard {many(run.heard, 'message')}, {many(run.calls, 'call')} of {models.short_name(run.model)}")
    _line(text, f"{run.tokens:,} tokens, {models.dollars(run.cost)}, {run.seconds:.1f} s, tools {run.tools}")
    for title, lines in (("Looked at", run.looks), ("Refused", run.refused)):
        text.append(f"\n{title}\n" if lines else "", style="bold")
        for each in lines:
            _line(text, each, "")
    for whisper in whispers.newest_first(data.root, NOTES, run.session) if run.whispers else ():
        if whisper.id in run.whispers:
            _note(text, data, whisper)
    for name, before, after in blocks.changes_of(data.root, run.id):
        text.append(f"\n{safe_text.line(name)}\n", style="bold")
        text.append_text(
            line_diff.drawn(before, after, ("before", "after")) if before else Text(safe_text.clean(after))
        )
        text.append("\n")
    append_keys(text, KEYS if run.blocks else (), read_only=read_only)
    return text


def _note(text: Text, data: "Data", whisper: whispers.Whisper) -> None:
    try:
        delivered = whispers.delivered(data.root, whisper)
    except OSError:
        delivered = None
    if delivered is not None:
        delivery = delivered.delivery
        outcome = data.outcomes([delivery.record]).get(delivery.id, receipts.UNKNOWN)
        state, style = f"{GLYPHS[outcome][0]} {outcome}", GLYPHS[outcome][1]
    elif whispers.waits(data.root, whisper):
        state, style = "○ waits", "cyan"
    else:
        state, style = present.ended(whisper, data.now()), "dim"
    text.append(f"\n{'Reply' if whisper.reply else 'Note'} to the session", style="bold").append(f"  {state}\n", style)
    text.append(safe_text.clean(whisper.text) + "\n")
    if whisper.reply:
        _line(text, f"to: {whisper.reply}")
    if whisper.because:
        _line(text, f"because of: “{whisper.because}”")


def read_along(text: Text, found: Sequence[Run], mentions: Sequence[WaitingMention], now: float) -> None:
    """Append how often a model read a session, and what waits for its reply."""
    if found:
        text.append("\nRead by the model", style="bold")
        text.append(f"  {many(len(found), 'time')}, last {ago(found[0].time, now)}", style="dim")
        text.append(f", {models.dollars(sum(run.cost or 0.0 for run in found))}\n", style="dim")
    for each in mentions:
        who = "you" if each.who == "person" else "the agent"
        _line(text, f"waits for a reply to {who}, {ago(each.time, now)}: {each.words}", "cyan")


def _line(text: Text, words: str, style: str = "dim") -> None:
    text.append(safe_text.line(words) + "\n", style=style)
