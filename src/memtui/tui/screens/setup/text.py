"""The detail pane of Setup: what was seen, what to do about it, and which key does it."""

from collections.abc import Sequence

from rich.text import Text

from memtui import actions
from memtui.base import clock, findings
from memtui.base.finding import NOTE, OK, Finding
from memtui.base.phrasing import ago, many
from memtui.deliver.record import Record
from memtui.hooks.install import entries
from memtui.models.subconscious.control import Overview
from memtui.settings import config, setting
from memtui.settings.setting import Setting
from memtui.tui.model.data import Data
from memtui.tui.screens.frame import Described
from memtui.tui.screens.setup import rows
from memtui.tui.screens.setup.rows import SetupRow, Snapshot
from memtui.tui.widgets.detail import append_keys
from memtui.views import colours, models, safe_text
from memtui.views import setup as setup_words
from memtui.views.deliveries import waited

NO_RUNS = (
    "Only runs with something to deliver or to record are logged, so it may have run. Sessions that were open before"
    " the hooks were installed don't run it."
)
# What the detail of a heading says, by title.
HEADINGS = {
    rows.PROBLEMS: "What is wrong with the setup, worst first. Those of memories are in the Inbox (press {app.inbox}),"
    " those of notes in Activity (press {app.activity}).",
    rows.MORE: "The rest of them.",
    rows.HOOKS: "Where each hook is installed, how long Claude Code waited for it, how many runs were logged, and how"
    " old the last is. A run that has nothing to deliver is not logged.",
    rows.PROJECT: "What sessions of this project get.",
    rows.MODEL: "memtui works without a model. One is asked only if the setting llm_backend says how it is reached;"
    " until then nothing is sent. Then `memtui consolidate --ask-model` asks it, and so do the settings"
    " recall_select (each prompt) and subconscious (each turn), which are off by default.",
    rows.DISK: "What is kept, and for how long: the settings keep_days and keep_mb. An error in a hook never stops a"
    " session: it is noted here, as memtui doctor --errors shows it.",
    rows.SETTINGS: "The settings that people change first. Comments in config.toml stay.",
    rows.ADVANCED: "The settings that few people change.",
}
# Characters of a heading's words that every list has room for.
ROOM = 36
WORDS = {"head": "", "event": "hook", "error": "error", "reading": "model", "setting": "setting"}


def describe(
    row: SetupRow, snapshot: Snapshot, keys: Sequence[tuple[str, str]], data: Data, *, read_only: bool
) -> Described:
    """Return the detail of a row. `keys`: those that work on it, as (action id, what it does)."""
    text, tail = _about(row, snapshot, data), Text()
    if isinstance(row.about, Finding) and (read_only or not keys) and (remedy := findings.remedy(row.about)):
        tail.append("What to do\n", style="bold")
        tail.append(safe_text.clean(remedy) + "\n")
    append_keys(tail, keys, read_only=read_only)
    text.rstrip()
    tail = tail[1:] if tail.plain.startswith("\n") else tail
    glance = text.copy().append("\n\n").append_text(tail)
    whole = text.append("\n\n").append_text(_values(row.about)).append_text(tail)
    word = WORDS.get(row.kind, "problem")
    if isinstance(row.about, Finding):
        word = {OK: "all good", NOTE: "worth knowing"}.get(row.about.level, word)
    title = row.title if row.kind == "head" else f"{word} · {row.title}"
    return Described(whole, glance, safe_text.line(title, 80))


def _about(row: SetupRow, snapshot: Snapshot, data: Data) -> Text:
    text, about, now = Text(), row.about, data.now()
    if row.kind == "head":
        text.append(_behind_heading(row, snapshot)).append(actions.keyed(HEADINGS[row.title]) + "\n", style="dim")
    elif isinstance(about, Finding):
        text.append(safe_text.clean(findings.message(about) or "Nothing to fix.") + "\n")
    elif isinstance(about, Setting):
        _setting(text, about)
    elif isinstance(about, Overview):
        _reading(text, about, now)
    elif row.kind == "event":
        _event(text, row.title, snapshot, data)
    elif isinstance(about, dict):
        _error(text, about, now)
    return text


def _behind_heading(row: SetupRow, snapshot: Snapshot) -> str:
    """Return what the row of a heading has no room for."""
    words = row.words if len(row.words) > ROOM else ""
    if isinstance(row.about, Finding):
        words = findings.message(row.about)
    elif row.title == rows.HOOKS and (times := [each for several in snapshot.times.values() for each in several]):
        words = f"Claude Code waited for {waited(times, 'runs')}."
    return f"{safe_text.line(words)}\n\n" if words else ""


def _event(text: Text, event: str, snapshot: Snapshot, data: Data) -> None:
    text.append(f"It {setup_words.DOES.get(event, 'runs')}.\n")
    installed = snapshot.hooks.events().get(event, []) if snapshot.hooks else []
    if not installed:
        text.append("\nNot installed.\n", style=colours.PROBLEM)
    for hook in installed:
        text.append(f"\n{safe_text.line(hook.source)}  ", style="bold")
        text.append(safe_text.line(data.tilde(hook.path)) + "\n", style="dim")
        text.append(safe_text.clean(hook.command) + "\n")
        missing = [] if hook.interpreter_exists else [f"interpreter {hook.interpreter}"]
        for what in missing if hook.launcher_exists else [*missing, f"launcher {hook.launcher}"]:
            text.append(f"✗ the {safe_text.line(what)} does not exist\n", style=colours.PROBLEM)
        if not hook.current:
            text.append("This version of memtui writes it differently.\n", style="yellow")
    if times := snapshot.times.get(event):
        last = ago(snapshot.last_runs.get(event), data.now())
        text.append(f"\nClaude Code waited for it: {waited(times, 'runs')}, at most {max(times):.0f} ms.\n")
        text.append(f"{many(len(times), 'logged run')}, the last {last}\n", style="dim")
    elif installed and snapshot.counted:
        is_silent = event in rows.SILENT
        sentence = "Its runs are not logged: it delivers nothing." if is_silent else "Nothing is logged yet."
        text.append(f"\n{sentence}\n", "bold").append("" if is_silent else f"{NO_RUNS}\n")
    limit = next((seconds for name, _, seconds in entries.EVENTS if name == event), 0)
    text.append(f"After {limit} s Claude Code goes on without it.\n", style="dim")


def _error(text: Text, about: Record, now: float) -> None:
    text.append(safe_text.line(f"{about.get('where')}: {about.get('error')}") + "\n", style="bold")
    text.append(f"{ago(clock.parse(about.get('time')), now)}, {safe_text.line(str(about.get('time')))}\n", style="dim")
    text.append(safe_text.clean(str(about.get("message"))) + "\n\n")
    trace = about.get("trace")
    for place in trace if isinstance(trace, list) else []:
        text.append(safe_text.line(str(place)) + "\n", style="dim")


def _reading(text: Text, about: Overview, now: float) -> None:
    text.append("After each turn the model reads the session in the background\n", style="bold")
    text.append(safe_text.line(models.state(about, now)) + "\n")
    for name, words in models.facts(about, now):
        text.append(f"{name:<9}{safe_text.line(words)}\n")
    waiting = many(len(about.mentions), "question waits", "questions wait")
    text.append(f"{waiting} for a reply\n" if about.mentions else "", style="cyan")
    text.append(actions.keyed("{app.activity} has each session that it read, {app.memories} its blocks.\n"), "dim")


def _setting(text: Text, about: Setting) -> None:
    text.append(about.meaning + "\n")
    where = {"default": "the default", "config": "from config.toml", "project": "this project's, from config.toml"}
    text.append(f"value    {safe_text.line(setting.as_typed(about.value))}, {where[about.source]}\n")
    own = ". A project can have its own." if about.key in config.PER_PROJECT else ""
    text.append(f"default  {safe_text.line(setting.as_typed(about.default))}{own}\n", style="dim")
    if about.problem:
        text.append(f"! the value in config.toml {about.problem}, so it is not used\n", style=colours.PROBLEM)


def _values(about: object) -> Text:
    """Return which values a setting has, and what each does where that is known; empty for other things."""
    text = Text()
    if isinstance(about, Setting) and (meanings := setting.VALUES.get(about.key)):
        text.append("Its values\n", style="bold")
        for value, words in meanings.items():
            text.append(f"{value:<7} ", style="bold").append(f"{words}\n")
        text.append("\n")
    elif isinstance(about, Setting) and (choices := config.CHOICES.get(about.key)):
        text.append(f"One of {', '.join(choices)}.\n\n", style="dim")
    return text
