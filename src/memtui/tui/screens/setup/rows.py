"""What Setup shows, as a worker sees it; and its rows, under headings that unfold, with their details."""

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from rich.text import Text

from memtui import keymap
from memtui.base import clock, findings
from memtui.base.errors import MemtuiError
from memtui.base.finding import NOTE, OK, PROBLEM, Finding
from memtui.base.memory_kinds import fill
from memtui.base.phrasing import age, ago, many
from memtui.deliver import error_log
from memtui.deliver.record import Record
from memtui.hooks.install import checkup, entries, status
from memtui.models.subconscious import control
from memtui.models.subconscious.control import Overview
from memtui.settings import config, setting
from memtui.settings.setting import Setting
from memtui.tidy.checks import doctor
from memtui.tui.model.data import Data
from memtui.tui.screens.frame import Described
from memtui.tui.widgets.detail import append_keys
from memtui.views import colours, glyphs, models, query, safe_text
from memtui.views import setup as setup_words
from memtui.views.deliveries import waited

# Cells of a value before what the setting means, and characters of a heading's words that every list has room for.
VALUE_WIDTH, ROOM = 10, 36
BAD = f"bold {colours.PROBLEM}"
MARKS = {OK: ("✓", colours.GOOD), NOTE: ("·", colours.QUIET), PROBLEM: ("!", BAD)}
# The mark of hooks whose files are missing.
MISSING = "✗"
PROBLEMS, MORE, HOOKS, PROJECT = "problems", "more", "hooks", "this project"
MODEL, DISK, SETTINGS, ADVANCED = "model", "disk", "settings", "advanced"
# The headings in their order, and what the detail of each says; those that are unfolded at first.
HEADINGS = {
    PROBLEMS: "What is wrong with the setup, worst first. Those of memories are in the Inbox (press {app.inbox}),"
    " those of notes in Activity (press {app.activity}).",
    MORE: "The rest of them.",
    HOOKS: "Where each hook is installed, how long Claude Code waited for it, how many runs were logged, and how"
    " old the last is. A run that has nothing to deliver is not logged.",
    PROJECT: "What sessions of this project get.",
    MODEL: "memtui works without a model. One is asked only if the setting llm_backend says how it is reached;"
    " until then nothing is sent. Then `memtui consolidate --ask-model` asks it, and so do the settings"
    " recall_select (each prompt) and subconscious (each turn), which are off by default.",
    DISK: "What is kept, and for how long: the settings keep_days and keep_mb. An error in a hook never stops a"
    " session: it is noted here, as memtui doctor --errors shows it.",
    SETTINGS: "The settings that people change first. Comments in config.toml stay.",
    ADVANCED: "The settings that few people change.",
}
OPEN = frozenset({PROBLEMS, SETTINGS})
NO_MODEL = "none is set (llm_backend is off)"
# The most rows below PROBLEMS; where there are more, the others are folded below MORE.
PROBLEMS_SHOWN = 5
# The heading of each area of findings; of the others DISK.
GROUPS = {
    **dict.fromkeys(("hooks", "client"), HOOKS),
    **dict.fromkeys(("inbox", "memories", "trust"), PROJECT),
    **dict.fromkeys(("llm", "dream"), MODEL),
    **dict.fromkeys(("config", "semantic"), ADVANCED),
}
LEGEND = glyphs.section(
    "Marks",
    (
        (MARKS[OK][0], "all good"),
        (MARKS[NOTE][0], "worth knowing; a hook that is not installed"),
        (MARKS[PROBLEM][0], "to fix"),
        (MISSING, "installed, but its files are missing"),
    ),
)
# What the heading of DISK says, by the code of the finding on all that is kept.
KEPT = {
    "kept.ok": "{bytes:size} · {changes:change} kept",
    "kept.due": "{bytes:size} · {changes:change} kept · old data to delete",
}
# By the code of a finding: the setting that cures it.
CURES = {
    **dict.fromkeys(("config.mode_off", "config.mode_off_here"), "mode"),
    **dict.fromkeys(("config.no_model", "llm.no_key", "llm.no_client"), "llm_backend"),
    "dream.off": "dream",
}
LEVELS = {PROBLEM: 0, NOTE: 1, OK: 2}
ERRORS_SHOWN = 30
# The hooks that deliver and record nothing: the log has none of their runs.
SILENT = ("PreCompact", "Stop", "SessionEnd")
NO_RUNS = (
    "Only runs with something to deliver or to record are logged, so it may have run. Sessions that were open before"
    " the hooks were installed don't run it."
)
# In the title of a detail, by the kind of the row or the level of its finding.
WORDS = {"event": "hook", "error": "error", "reading": "model", "setting": "setting"}
WORDS |= {OK: "all good", NOTE: "worth knowing", PROBLEM: "problem"}


@dataclass
class Snapshot:
    """Everything that was seen at one moment. `times`: milliseconds of hook runs, by event."""

    findings: list[Finding] = field(default_factory=list)
    of_notes: int = 0
    hooks: status.Status | None = None
    times: dict[str, "array[float]"] = field(default_factory=dict)
    last_runs: dict[str, float] = field(default_factory=dict)
    counted: bool = True
    errors: list[Record] = field(default_factory=list)
    settings: dict[str, Setting] = field(default_factory=dict)  # by key; none while they can't be read
    settings_error: str = ""
    reading: Overview | None = None

    @property
    def problems(self) -> int:
        return findings.problems(self.findings)

    @property
    def is_installed(self) -> bool:
        return self.hooks is not None and self.hooks.installed

    @property
    def has_model(self) -> bool:
        return setting.BACKEND in self.settings and self.settings[setting.BACKEND].value != "off"


def take_snapshot(data: Data, client: list[Finding]) -> Snapshot:
    """Look at everything; what can't be read is a finding or left out. `client`: of `checkup.client_check`."""
    statistics = data.statistics
    snapshot = Snapshot(times=statistics.events, last_runs=statistics.last_runs, counted=statistics.ready)
    reports = checkup.check(data.env, data.cwd, data.now(), client, data.known)
    snapshot.findings = findings.of_setup(reports)
    snapshot.of_notes = findings.problems(finding for finding in reports if findings.place(finding) == "activity")
    with suppress(MemtuiError, OSError):
        snapshot.hooks = status.status(data.env, data.cwd)
    snapshot.errors = list(islice(error_log.newest_first(data.root), ERRORS_SHOWN))
    try:
        snapshot.settings = {option.key: option for option in setting.rows(data.root, data.project_root)}
    except MemtuiError as error:
        snapshot.settings_error = error.message
    if snapshot.has_model:
        snapshot.reading = control.look(data.env, data.root, data.project_root, data.now())
    return snapshot


@dataclass(frozen=True)
class SetupRow:
    """A row of the list."""

    key: str
    kind: str  # head, finding, event, error, reading or setting
    mark: str
    style: str
    title: str
    words: str
    about: object = None  # what is shown, such as a Finding
    group: str = ""  # the title of the heading that it is below
    fix: str = ""  # the id of what fixes it; empty if only a person can
    option: Setting | None = None  # what it is about, or what cures it

    @property
    def is_fold(self) -> bool:
        return self.kind == "head" and not self.mark

    @property
    def heading(self) -> str:
        """The title of the heading that it is, or is below."""
        return self.title if self.kind == "head" else self.group

    @property
    def searched(self) -> str:
        return f"{self.title} {self.words}".casefold()


def rows(snapshot: Snapshot, now: float) -> list[SetupRow]:
    below: dict[str, list[SetupRow]] = {title: [] for title in HEADINGS}
    few = sum(finding.level == PROBLEM for finding in snapshot.findings) <= PROBLEMS_SHOWN
    for finding, row in _findings(snapshot):
        title = GROUPS.get(finding.area, DISK)
        if finding.level == PROBLEM:
            title = PROBLEMS if few or len(below[PROBLEMS]) < PROBLEMS_SHOWN - 1 else MORE
        below[title].append(row)
    below[HOOKS] += _events(snapshot, now)
    below[MODEL] += [_reading(snapshot.reading, now)] if snapshot.reading is not None else []
    below[DISK] += [_error(number, record, now) for number, record in enumerate(snapshot.errors)]
    for option in snapshot.settings.values():
        title = SETTINGS if option.key in setting.FIRST else MODEL if option.key in setting.OF_MODELS else ADVANCED
        below[title].append(_setting(option))
    below[SETTINGS].sort(key=lambda row: setting.FIRST.index(row.title))
    headings = {row.title: row for row in _headings(snapshot, below)}
    if not snapshot.has_model:
        below[MODEL] = [row for row in below[MODEL] if row.mark == MARKS[PROBLEM][0]]
    setup_rows = []
    for title, head in headings.items():
        if below[title] or title not in {PROBLEMS, MORE}:
            setup_rows.append(replace(head, mark="" if below[title] else " "))
            setup_rows += [replace(row, group=title) for row in below[title]]
    return setup_rows


def _headings(snapshot: Snapshot, below: Mapping[str, Sequence[SetupRow]]) -> Iterator[SetupRow]:
    mode, backend = snapshot.settings.get("mode"), snapshot.settings.get(setting.BACKEND)
    usual = mode is not None and mode.value == config.MODES[0]
    sessions_get = f"mode {mode.value}: {setting.VALUES['mode'][str(mode.value)]}" if mode else "mode not known"
    model = next((row.words for row in below[MODEL] if row.kind == "finding"), "")
    hooks, has_hooks = setup_words.state(snapshot.hooks)
    disk = next((finding for finding in snapshot.findings if finding.code in KEPT), None)
    wrong = sum(row.problem is not None for row in snapshot.settings.values())
    changed = sum(row.source != "default" and row.problem is None for row in snapshot.settings.values())
    counts = [f"{wrong} not read"] * bool(wrong) + [f"{changed} changed"] * bool(changed)
    settings = " · ".join(counts) or "all at their defaults"

    def head(title: str, words: str, style: str, **more: Any) -> SetupRow:
        return SetupRow(f"head {title}", "head", "", style, title, words, **more)

    yield head(PROBLEMS, f"{snapshot.problems:,} to fix", BAD)
    yield head(MORE, many(len(below[MORE]), "problem"), colours.PROBLEM)
    fix = "" if snapshot.is_installed else "install"
    yield head(HOOKS, hooks, colours.GOOD if has_hooks else BAD, fix=fix)
    yield head(PROJECT, sessions_get, "" if usual else f"bold {colours.WARNING}", option=mode)
    yield head(MODEL, model if snapshot.has_model else NO_MODEL, "" if snapshot.has_model else "dim", option=backend)
    disk_words = fill(KEPT[disk.code], disk.data) if disk else ""
    yield head(DISK, disk_words, "", about=disk, fix=findings.fix_of(disk) if disk else "")
    yield head(SETTINGS, snapshot.settings_error or settings, BAD if snapshot.settings_error else "cyan")
    yield head(ADVANCED, many(len(below[ADVANCED]), "more setting"), "")


def _findings(snapshot: Snapshot) -> Iterator[tuple[Finding, SetupRow]]:
    """Yield the findings, worst first, each with its row, but for what a heading says."""
    numbers: Counter[str] = Counter()
    for report in sorted(snapshot.findings, key=lambda finding: LEVELS[finding.level]):
        if report.code in KEPT or (report.level == OK and report.area in {"config", "hooks"}):
            continue
        mark, style = MARKS[report.level]
        key = f"finding {report.code} {report.subject}"
        numbers[key] += 1
        title, words = findings.AREAS.get(report.area, report.area), findings.message(report)
        option, fix = snapshot.settings.get(CURES.get(report.code, "")), findings.fix_of(report)
        fix = "" if report.code in CURES else fix
        row = SetupRow(f"{key} {numbers[key]}", "finding", mark, style, title, words, report, fix=fix, option=option)
        yield report, row


def _events(snapshot: Snapshot, now: float) -> Iterator[SetupRow]:
    by_event = snapshot.hooks.events() if snapshot.hooks else {}
    for event, _, _ in entries.EVENTS:
        installed = by_event.get(event, [])
        is_missing = not all(hook.interpreter_exists and hook.launcher_exists for hook in installed)
        is_old = not all(hook.current for hook in installed)
        words = [", ".join(dict.fromkeys(hook.source for hook in installed)) or "not installed"]
        if times := snapshot.times.get(event):
            words += [waited(times, "runs"), many(len(times), "run"), f"last {age(snapshot.last_runs.get(event), now)}"]
        elif installed:
            quiet = "its runs are not logged" if event in SILENT else "nothing logged yet"
            words.append(quiet if snapshot.counted else "counting …")
        mark, style = MARKS[NOTE] if is_old or not installed else MARKS[OK]
        fix = "install" if is_missing or is_old or not installed else ""
        if is_missing:
            mark, style = MISSING, "red"
        yield SetupRow(f"event {event}", "event", mark, style, event, " · ".join(words), fix=fix)


def _reading(overview: Overview, now: float) -> SetupRow:
    is_stopped = overview.stopped is not None
    idle = overview.powers.mode == "off" or is_stopped
    mark, style = MARKS[OK if not overview.powers.why else NOTE if idle else PROBLEM]
    words = " · today ".join(filter(None, (models.state(overview, now), models.used(overview))))
    return SetupRow("reading", "reading", mark, style, "reads sessions", words, overview, fix="start" * is_stopped)


def _error(number: int, record: Record, now: float) -> SetupRow:
    seconds = clock.parse(record.get("time"))
    old = seconds is not None and seconds < now - doctor.ERRORS_DAYS * clock.DAY
    mark, style = MARKS[NOTE if old else PROBLEM]
    words, title = f"{record.get('error')}: {record.get('message')}", f"{age(seconds, now)} {record.get('where')}"
    return SetupRow(f"error {number} {record.get('time')}", "error", mark, style, title, words, record, fix="errors")


def _setting(option: Setting) -> SetupRow:
    mark, style = MARKS[PROBLEM] if option.problem else (" ", "")
    changed = "changed · " * (option.source != "default")
    state = "not read · " if option.problem else changed
    words = f"{setting.as_typed(option.value):<{VALUE_WIDTH}} {state}{option.meaning}"
    return SetupRow(f"setting {option.key}", "setting", mark, style, option.key, words, option=option)


def filtered(every: Sequence[SetupRow], typed: str) -> list[SetupRow]:
    """Return the rows with all words of a query, with `is:problem` only problems, and the headings above them."""
    search = query.parse(typed.casefold(), ("is",))
    marks = {"!", "✗"} if search.terms else {row.mark for row in every}
    words = search.words.split()
    setup_rows = [row for row in every if row.mark in marks and all(word in row.searched for word in words)]
    groups = {row.group for row in setup_rows}
    return [row for row in every if row in setup_rows or (row.kind == "head" and row.title in groups)]


def draw(row: SetupRow, *, is_open: bool) -> list[Text]:
    words = Text(safe_text.line(row.words, 400))
    if row.kind == "head":
        words.stylize(row.style, 0, 1 if row.style == colours.GOOD else None)
        mark = row.mark or (glyphs.UNFOLDED if is_open else glyphs.FOLDED)
        return [Text(mark, style="bold"), *[Text(row.title, style="bold")] * 2, words]
    quiet = "dim" if row.kind == "finding" and row.mark == "✓" else ""
    words.stylize(quiet)
    if row.kind == "setting" and row.option is not None and row.option.source != "default":
        words.stylize("bold cyan", 0, words.plain.index(" "))
    title = Text("  " + safe_text.line(row.title, 100), style=quiet)
    return [Text(row.mark, style=row.style), title, title, words]


# the detail


def describe(
    row: SetupRow, snapshot: Snapshot, keys: Sequence[tuple[str, str]], data: Data, *, read_only: bool
) -> Described:
    """Return the detail of a row. `keys`: those that work on it, as (action id, what it does)."""
    about, text, tail, word = row.about, Text(), Text(), WORDS.get(row.kind, "")
    if row.kind == "head":
        text.append(_behind_heading(row, snapshot)).append(keymap.keyed(HEADINGS[row.title]) + "\n", style="dim")
    elif isinstance(about, Finding):
        word = WORDS[about.level]
        text.append(safe_text.clean(findings.message(about) or "Nothing to fix.") + "\n")
    elif isinstance(about, Overview):
        _append_reading(text, about, data.now())
    elif row.kind == "event":
        _append_event(text, row.title, snapshot, data)
    elif isinstance(about, dict):
        _append_error(text, about, data.now())
    elif row.option is not None:
        _append_setting(text, row.option)
    if isinstance(about, Finding) and (read_only or not keys) and (remedy := findings.remedy(about)):
        tail.append("What to do\n", style="bold")
        tail.append(safe_text.clean(remedy) + "\n")
    append_keys(tail, keys, read_only=read_only)
    text.rstrip()
    tail = tail[1:] if tail.plain.startswith("\n") else tail
    glance = text.copy().append("\n\n").append_text(tail)
    whole = text.append("\n\n").append_text(_values(row)).append_text(tail)
    title = f"{word} · {row.title}" if word else row.title
    return Described(whole, glance, safe_text.line(title, 80))


def _behind_heading(row: SetupRow, snapshot: Snapshot) -> str:
    words = row.words if len(row.words) > ROOM else ""
    if isinstance(row.about, Finding):
        words = findings.message(row.about)
    elif row.title == HOOKS and (times := [each for several in snapshot.times.values() for each in several]):
        words = f"Claude Code waited for {waited(times, 'runs')}."
    return f"{safe_text.line(words)}\n\n" if words else ""


def _append_event(text: Text, event: str, snapshot: Snapshot, data: Data) -> None:
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
        is_silent = event in SILENT
        sentence = "Its runs are not logged: it delivers nothing." if is_silent else "Nothing is logged yet."
        text.append(f"\n{sentence}\n", "bold").append("" if is_silent else f"{NO_RUNS}\n")
    limit = next((seconds for name, _, seconds in entries.EVENTS if name == event), 0)
    text.append(f"After {limit} s Claude Code goes on without it.\n", style="dim")


def _append_error(text: Text, about: Record, now: float) -> None:
    text.append(safe_text.line(f"{about.get('where')}: {about.get('error')}") + "\n", style="bold")
    text.append(f"{ago(clock.parse(about.get('time')), now)}, {safe_text.line(str(about.get('time')))}\n", style="dim")
    text.append(safe_text.clean(str(about.get("message"))) + "\n\n")
    trace = about.get("trace")
    for place in trace if isinstance(trace, list) else []:
        text.append(safe_text.line(str(place)) + "\n", style="dim")


def _append_reading(text: Text, about: Overview, now: float) -> None:
    text.append("After each turn the model reads the session in the background\n", style="bold")
    text.append(safe_text.line(models.state(about, now)) + "\n")
    for name, words in models.facts(about, now):
        text.append(f"{name:<9}{safe_text.line(words)}\n")
    waiting = many(len(about.mentions), "question waits", "questions wait")
    text.append(f"{waiting} for a reply\n" if about.mentions else "", style="cyan")
    text.append(keymap.keyed("{app.activity} has each session that it read, {app.memories} its blocks.\n"), "dim")


def _append_setting(text: Text, about: Setting) -> None:
    text.append(about.meaning + "\n")
    where = {"default": "the default", "config": "from config.toml", "project": "this project's, from config.toml"}
    text.append(f"value    {safe_text.line(setting.as_typed(about.value))}, {where[about.source]}\n")
    own = ". A project can have its own." if about.key in config.PER_PROJECT else ""
    text.append(f"default  {safe_text.line(setting.as_typed(about.default))}{own}\n", style="dim")
    if about.problem:
        text.append(f"! the value in config.toml {about.problem}, so it is not used\n", style=colours.PROBLEM)


def _values(row: SetupRow) -> Text:
    """Return which values the setting of a row has, and what each does where that is known; empty for other rows."""
    text, option = Text(), row.option
    if option is None or row.kind == "finding":
        return text
    if meanings := setting.VALUES.get(option.key):
        text.append("Its values\n", style="bold")
        for value, words in meanings.items():
            text.append(f"{value:<7} ", style="bold").append(f"{words}\n")
        text.append("\n")
    elif choices := config.CHOICES.get(option.key):
        text.append(f"One of {', '.join(choices)}.\n\n", style="dim")
    return text
