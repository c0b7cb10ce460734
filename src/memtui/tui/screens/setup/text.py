"""The detail pane of Setup: what was found, what to do about it, and which key does it."""

from rich.text import Text

from memtui import actions
from memtui.core.base import clock
from memtui.core.base.finding import Finding
from memtui.core.base.phrasing import ago, many
from memtui.core.deliveries.record import Record
from memtui.core.deliveries.statistics import percentile
from memtui.core.health import findings
from memtui.core.memories import index as memory_index
from memtui.core.memories.index_state import IndexState
from memtui.core.settings import config, config_text, setting
from memtui.core.settings.modes import Mode
from memtui.core.settings.setting import Setting
from memtui.hooks.installer import entries
from memtui.present import safe_text
from memtui.present import subconscious as model_words
from memtui.present.bars import bar
from memtui.subconscious.overview import Overview
from memtui.tui.screens.setup import rows
from memtui.tui.screens.setup.rows import MARKS, SetupRow
from memtui.tui.screens.setup.snapshot import Snapshot
from memtui.tui.widgets.gauges import gauge

# Lines of MEMORY.md on either side of the cut, and memories below it.
LINES_SHOWN = 6
BELOW_SHOWN = 30
# What the hook of an event does.
EVENTS = {
    "SessionStart": "gives a session the index of memories and what is unfinished",
    "UserPromptSubmit": "gives the agent notes and drafts with the next prompt",
    "PreToolUse": "gives the agent urgent notes before the next tool",
    "PostToolUse": "records which memories the agent opens or writes",
    "PreCompact": "records that the context is about to be compacted",
    "Stop": "checks what arrived, and reads the conversation",
    "SessionEnd": "reads the conversation, and what is left to do",
}
# Which runs of a hook are logged.
LOGGED = {
    "SessionStart": "Only the starts that something was delivered with are logged",
    "UserPromptSubmit": "Only the prompts that something was delivered with are logged",
    "PreToolUse": "It runs before a tool, and only the urgent notes that it delivers are logged",
    "PostToolUse": "It runs after a tool, and only that a memory was opened or written is logged",
}
BEFORE = "Sessions that were open before the hooks were installed don't run it."
# What the detail of a heading says, by title.
HEADINGS = {
    rows.PROBLEMS: "What memtui doctor finds wrong, worst first. {setup.accept} fixes what can be fixed,"
    " {setup.follow} goes to what a problem is about. {list.project} shows all projects, or only this one.",
    rows.MORE: "The rest of them.",
    rows.HOOKS: "Where each hook is installed; its time in milliseconds (half of the runs are faster than p50, 95 %"
    " than p95); how many runs were logged, and how old the last is. A run that has nothing to deliver is not logged.\n"
    "{setup.accept} installs the hooks where they are missing, {setup.remove} removes them.",
    rows.PROJECT: "{setup.edit} sets the mode of this project: full delivers everything, notes only notes and"
    f" todos, off nothing.\nClaude Code loads {memory_index.MAX_LINES} lines or {memory_index.MAX_UNITS:,} characters"
    " of each MEMORY.md; what is below the cut is never loaded.",
    rows.MODEL: "memtui works without a model. One is asked only if the setting llm_backend says how it is reached;"
    " until then nothing is sent. Then `memtui consolidate --ask-model` and `memtui model triggers` ask it, and so do"
    " the settings recall_select (each prompt) and subconscious (each turn), which are off by default.\n"
    "{setup.edit} changes llm_backend.",
    rows.DISK: "What is kept, and for how long: the settings keep_days and keep_mb. An error in a hook never stops a"
    " session: it is noted here, as memtui doctor --errors shows it.",
    rows.SETTINGS: "{setup.edit} changes a setting, {setup.remove} resets it to its default. Comments in config.toml"
    " stay.",
    rows.ADVANCED: "The settings that few people change. {setup.edit} changes one.",
}
# By the code of a finding: the keys that do what its remedy says.
_MODE, _GATE = (f"Or here: {{setup.edit}} on {key} changes it." for key in ("mode", "gate"))
HERE = {
    "config.mode_off": _MODE,
    "config.mode_off_here": _MODE,
    "config.gate_off": _GATE,
    "config.gate_off_here": _GATE,
    "dream.off": "{setup.edit} on dream changes it.",
}


def setup_text(
    row: SetupRow, found: Snapshot, fix: str, now: float, place: str = "", *, read_only: bool = False
) -> Text:
    """Return the detail of a row. `fix`: what `setup.accept` does; `place`: where `setup.follow` goes; in words, or
    empty. `read_only`: no key that changes something is named."""
    text = _about(row, found, now, read_only=read_only)
    if isinstance(row.about, Setting):
        _values(text, row.about.key)
    if remedy := _remedy(row, read_only=read_only):
        text.append("\nWhat to do\n", style="bold")
        text.append(safe_text.clean(remedy) + "\n")
    keys = _keys(fix, place)
    return text.append("\n" if keys else "").append_text(keys)


def setup_glance(
    row: SetupRow, found: Snapshot, fix: str, now: float, place: str = "", *, read_only: bool = False
) -> tuple[Text, Text]:
    """Return a row in a few lines; and what to do about it, which is never cut."""
    text, tail = _about(row, found, now, read_only=read_only), Text()
    if remedy := _remedy(row, read_only=read_only):
        tail.append("do    ", style="bold").append(safe_text.line(remedy) + "\n")
    tail.append_text(_keys(fix, place))
    text.rstrip()
    tail.rstrip()
    return text, tail


def _remedy(row: SetupRow, *, read_only: bool) -> str:
    """Return what to do about a finding: a command, and the keys of this screen that do the same; empty for others."""
    if not isinstance(row.about, Finding):
        return ""
    keys = "" if read_only else HERE.get(row.about.code, "")
    return f"{findings.remedy(row.about)} {actions.keyed(keys)}".strip()


def _keys(fix: str, place: str) -> Text:
    text = Text()
    if fix:
        text.append(f"{actions.key_of('setup.accept'):<6}", style="bold").append(safe_text.line(fix) + "\n")
    if place:
        text.append(f"{actions.key_of('setup.follow'):<6}", style="bold").append(f"goes to {place}\n")
    return text


def _about(row: SetupRow, found: Snapshot, now: float, *, read_only: bool) -> Text:
    text = Text()
    about = row.about
    if row.kind == "head":
        text.append(f"{row.title}\n", style="bold")
        text.append(safe_text.line(row.words) + "\n", style=row.style)
        text.append("\n" + actions.keyed(HEADINGS[row.title], read_only=read_only) + "\n", style="dim")
    elif isinstance(about, Finding):
        _finding(text, about)
    elif isinstance(about, IndexState):
        _report(text, about)
    elif isinstance(about, Setting):
        _setting(text, about, read_only=read_only)
    elif isinstance(about, Mode):
        _mode(text, row, about, read_only=read_only)
    elif isinstance(about, Overview):
        _reading(text, about, now, read_only=read_only)
    elif row.kind == "event":
        _event(text, str(about), found, now)
    elif row.kind == "error" and isinstance(about, dict):
        _error(text, about, now)
    return text


def _finding(text: Text, about: Finding) -> None:
    mark, style = MARKS[about.level]
    text.append(f"{mark} {findings.AREAS.get(about.area, about.area)}\n", style=f"{style} bold")
    text.append(safe_text.clean(findings.message(about) or "Nothing to fix.") + "\n")


def _event(text: Text, event: str, found: Snapshot, now: float) -> None:
    text.append(f"{event}\n", style="bold")
    text.append(EVENTS.get(event, "") + "\n")
    here = found.hooks.events().get(event, []) if found.hooks else []
    if not here:
        text.append("\nNot installed: ", style="yellow")
        text.append(actions.keyed("{setup.accept} shows what would be written, and installs it.\n"))
    for each in here:
        text.append(f"\n{safe_text.line(each.source)}  ", style="bold")
        text.append(safe_text.line(each.path) + "\n", style="dim")
        text.append(safe_text.clean(each.command) + "\n")
        for what, exists, path in (
            ("interpreter", each.interpreter_exists, each.interpreter),
            ("launcher", each.launcher_exists, each.launcher),
        ):
            if not exists:
                text.append(f"✗ the {what} {safe_text.line(path)} does not exist\n", style="red")
        if not each.current:
            text.append(
                actions.keyed("This version of memtui writes it differently: {setup.accept} writes it again.\n"),
                style="yellow",
            )
    times = found.times.get(event)
    if times:
        text.append("\nTime in the hook\n", style="bold")
        slowest = percentile(times, 1.0)
        for word, share in (("p50", 0.5), ("p95", 0.95), ("most", 1.0)):
            value = percentile(times, share)
            text.append(f"{word:<5}{value:>6.0f} ms ")
            text.append(bar(value, slowest, 24) + "\n", style="dim")
        last = ago(found.last_runs.get(event), now)
        text.append(f"{many(len(times), 'logged run')}, the last {last}\n", style="dim")
    elif here and found.counted:
        logged = LOGGED.get(event)
        text.append(
            "\nNothing is logged yet. " if logged else "\nIts runs are not logged: it delivers nothing.\n", "bold"
        )
        text.append(f"{logged}: it may have run with nothing to log. {BEFORE}\n" if logged else f"{BEFORE}\n")
    limit = next((seconds for name, _, seconds in entries.EVENTS if name == event), 0)
    text.append(f"Claude Code waits at most {limit} s for it.\n", style="dim")


def _report(text: Text, about: IndexState) -> None:
    budget = about.budget
    text.append(f"MEMORY.md of {safe_text.line(about.scope.shown)}\n", style="bold")
    text.append(safe_text.line(about.scope.index_path) + "\n", style="dim")
    for word, value, most in (
        ("lines", budget.lines, budget.max_lines),
        ("characters", budget.units, budget.max_units),
    ):
        text.append(f"{word:<11}")
        text.append_text(gauge(value / most, 20))
        text.append(f" {value:,} of {most:,}\n")
    _cut(text, about)
    for entry in about.dangling:
        what = "points to" if entry.leads else "mentions"
        text.append(f"! line {entry.line} {what} {safe_text.line(entry.target)}", style="yellow")
        text.append(", which does not exist\n", style="yellow")
    for name in about.missing:
        text.append(f"! {safe_text.line(name)} has no line\n", style="yellow")


def _cut(text: Text, about: IndexState) -> None:
    """Append the lines around the cut, with the cut drawn between them."""
    budget = about.budget
    if budget.cut_line is None:
        left = budget.max_lines - budget.lines
        text.append(f"Everything is loaded; room for {many(left, 'more line')}.\n", style="dim")
        return
    text.append("\n")
    first = max(0, budget.cut_line - 1 - LINES_SHOWN)
    for number, raw in enumerate(about.index.lines[first : budget.cut_line - 1 + LINES_SHOWN], first + 1):
        if number == budget.cut_line:
            text.append("──── cut: nothing below is loaded ────\n", style="bold red")
        style = "dim" if number >= budget.cut_line else ""
        text.append(f"{number:>4} {safe_text.line(raw.rstrip(), 200)}\n", style=style)
    text.append(f"\n{many(len(budget.below), 'memory', 'memories')} below the cut\n", style="bold")
    for entry in budget.below[:BELOW_SHOWN]:
        text.append(f"{entry.line:>4} {safe_text.line(entry.title, 60)}  ")
        text.append(safe_text.line(entry.target, 100) + "\n", style="dim")
    if len(budget.below) > BELOW_SHOWN:
        text.append(f"     and {len(budget.below) - BELOW_SHOWN} more\n", style="dim")
    text.append(
        actions.keyed("Its fix is in the inbox ({app.inbox}): it shows which lines become shorter or move.\n"), "dim"
    )


def _error(text: Text, about: Record, now: float) -> None:
    text.append(safe_text.line(f"{about.get('where')}: {about.get('error')}") + "\n", style="bold")
    text.append(f"{ago(clock.parse(about.get('time')), now)}, {safe_text.line(str(about.get('time')))}\n", style="dim")
    text.append(safe_text.clean(str(about.get("message"))) + "\n\n")
    trace = about.get("trace")
    for place in trace if isinstance(trace, list) else []:
        text.append(safe_text.line(str(place)) + "\n", style="dim")


def _reading(text: Text, about: Overview, now: float, *, read_only: bool) -> None:
    text.append("After each turn the model reads the session in the background\n", style="bold")
    text.append(safe_text.line(model_words.state(about, now)) + "\n")
    text.append(f"tools    {safe_text.line(model_words.tools(about.powers))}\n")
    for label, words in (("today", model_words.used(about)), ("budget", about.budget), ("to do", about.powers.hint)):
        text.append(f"{label:<9}{safe_text.line(words)}\n" if words else "")
    if about.last is not None:
        said = f"{ago(about.last.time, now)}: {model_words.outcome(about.last, now)[0]}, {model_words.did(about.last)}"
        text.append(safe_text.line(f"last     {said}".removesuffix(", ")) + "\n")
    waiting = many(len(about.mentions), "question waits", "questions wait")
    text.append(f"{waiting} for a reply\n" if about.mentions else "", style="cyan")
    text.append(actions.keyed("{app.activity} has each session that it read, {app.memories} its blocks.\n"), "dim")
    if not read_only and about.stopped is None:
        text.append(actions.keyed("{setup.remove}     stops it, also what it reads now\n"), "dim")


def _mode(text: Text, row: SetupRow, about: Mode, *, read_only: bool) -> None:
    text.append(f"{safe_text.line(row.title) if about.path else 'All projects'}\n", style="bold")
    text.append(f"mode       {about.mode}\n")
    for key, value in about.own.items():
        text.append(f"{key:<11}{safe_text.line(config_text.written(setting.plain(value)))}  this project's own\n")
    if not read_only:
        text.append(actions.key_of("setup.edit"), style="bold")
        own = f", {actions.key_of('setup.remove')} takes away what is its own" if about.own else ""
        text.append(f" sets its mode{own}\n")
    text.append("\n" + safe_text.line(about.path or "unless a project has its own") + "\n", style="dim")


def _values(text: Text, key: str) -> None:
    """Say which values a setting has, and what each does where that is known."""
    known = setting.VALUES.get(key)
    if known:
        text.append("\nIts values\n", style="bold")
        for value, words in known.items():
            text.append(f"{value:<7} ", style="bold").append(f"{words}\n")
    elif choices := config.CHOICES.get(key):
        text.append(f"\nOne of {', '.join(choices)}.\n", style="dim")


def _setting(text: Text, about: Setting, *, read_only: bool) -> None:
    text.append(f"{about.key}\n", style="bold")
    text.append(about.meaning + "\n")
    own = " A project can have its own." if about.key in config.PER_PROJECT else ""
    where = {"default": "the default", "config": "from config.toml", "project": "this project's, from config.toml"}
    text.append(f"value    {safe_text.line(setting.as_typed(about.value))}, {where[about.source]}\n")
    text.append(f"default  {safe_text.line(setting.as_typed(about.default))}{own and '.' + own}\n", style="dim")
    if about.problem:
        text.append(f"! the value in config.toml {about.problem}, so it is not used\n", style="yellow")
    if read_only:
        return
    text.append(actions.key_of("setup.edit"), style="bold")
    back = f", {actions.key_of('setup.remove')} resets it to the default"
    text.append(f" changes it{'' if about.source == 'default' else back}\n")
