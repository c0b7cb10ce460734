"""What Setup shows, as a worker sees it; and its rows, under headings that unfold, with their details."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from rich.text import Text

from memtui import keymap
from memtui.base import findings
from memtui.base.errors import MemtuiError
from memtui.base.finding import NOTE, OK, PROBLEM, Finding
from memtui.base.findings import fill
from memtui.base.phrasing_hot import ago, many
from memtui.hooks.install import agents, checkup, status
from memtui.hooks.install.agents import AgentSetup
from memtui.models.subconscious import control
from memtui.models.subconscious.control import Overview
from memtui.settings import config_hot, setting
from memtui.settings.setting import Setting
from memtui.sync import state as sync
from memtui.tui.model.data import Data
from memtui.tui.screens.frame import Described
from memtui.tui.texts import TABLES
from memtui.tui.widgets.detail import append_keys
from memtui.views import colours, glyphs, models, query, rules, safe_text
from memtui.views import setup as setup_words

# Cells of a value before what the setting means, and characters of a heading's words that every list has room for.
VALUE_WIDTH, ROOM = 10, 36
BAD = f"bold {colours.PROBLEM}"
MARKS = {OK: ("✓", colours.GOOD), NOTE: ("·", colours.QUIET), PROBLEM: ("!", BAD)}
PROBLEMS, MORE, HOOKS, PROJECT, RULES = "problems", "more", "hooks", "this project", "rules"
MODEL, MACHINES, DISK, SETTINGS, ADVANCED = "model", "machines", "disk", "settings", "advanced"
HEADINGS = TABLES["setup headings"]
OPEN = frozenset({PROBLEMS, SETTINGS})  # the headings that are unfolded at first
NO_RULES = "no memory has any"
NO_MODEL = "none is set (llm_backend is off)"
PROBLEMS_SHOWN = 5  # the most rows below PROBLEMS; where there are more, the others are folded below MORE
GROUPS = TABLES["setup groups"]  # the heading of each area of findings; of the others DISK
LEGEND = glyphs.section("Marks", TABLES["setup marks"].items())
KEPT = "{bytes:size} · {changes:change} kept"  # what the heading of DISK says
CURES = TABLES["setup cures"]  # by the code of a finding: the setting that cures it
LEVELS = {PROBLEM: 0, NOTE: 1, OK: 2}
WORDS = {"reading": "model", "setting": "setting"}  # the title of a detail, by its row's kind or its finding's level
WORDS |= {OK: "all good", NOTE: "worth knowing", PROBLEM: "problem"}


@dataclass
class Snapshot:
    """Everything that was seen at one moment."""

    findings: list[Finding] = field(default_factory=list)  # of the set-up
    elsewhere: dict[str, int] = field(default_factory=dict)  # problems that wait in another place, by its name
    hooks: status.Status | None = None
    settings: dict[str, Setting] = field(default_factory=dict)  # by key; none while they can't be read
    settings_error: str = ""
    reading: Overview | None = None
    rules: str = ""  # how all rules were kept, in words
    syncs: list[sync.SyncState] = field(default_factory=list)  # with what this machine syncs
    machines: dict[str, list[str]] = field(default_factory=dict)  # in words, by team
    agents: list[AgentSetup] = field(default_factory=list)  # those of this machine beside Claude Code

    @property
    def problems(self) -> int:
        return findings.problems(self.findings)

    @property
    def is_installed(self) -> bool:
        return self.hooks is not None and self.hooks.installed

    @property
    def hooked_agents(self) -> list[str]:
        return [row.program.title for row in self.agents if row.has_hooks]

    @property
    def has_model(self) -> bool:
        return setting.BACKEND in self.settings and self.settings[setting.BACKEND].value != "off"


def _synced(state: sync.SyncState, now: float) -> str:
    who = f"team {state.team}" if state.team else f"{state.name} with {state.url}"
    return f"{who} · {ago(state.time, now) if state.time else 'never'}"


def take_snapshot(data: Data, client: list[Finding], *, reads: bool = True) -> Snapshot:
    """Look at everything, with `reads` at each memory; what can't be read is a finding or left out."""
    from memtui.rules import counts

    snapshot = Snapshot()
    reports = checkup.check(data.env, data.cwd, data.now(), client, data.known, reads=reads)
    snapshot.findings = findings.of_setup(reports)
    for name in ("inbox", "activity"):
        snapshot.elsewhere[name] = findings.problems(report for report in reports if findings.place(report) == name)
    with suppress(MemtuiError, OSError):
        snapshot.hooks = status.status(data.env, data.cwd)
    with suppress(MemtuiError, OSError):
        snapshot.agents = agents.other_agents(data.env)
    try:
        snapshot.settings = {option.key: option for option in setting.rows(data.root, data.project_root)}
    except MemtuiError as error:
        snapshot.settings_error = error.message
    snapshot.rules = rules.total(counts.held_by_path(data.root))
    with suppress(MemtuiError, OSError):
        snapshot.syncs = [state for name in sync.names(data.root) if (state := sync.load(data.root, name)) is not None]
        for state in snapshot.syncs:
            from memtui.sync.sync import machines

            rows = machines(data.env, data.root, state)
            snapshot.machines[state.team] = [setup_words.machine(row, data.now()) for row in rows]
    if snapshot.has_model:
        snapshot.reading = control.look(data.env, data.root, data.project_root, data.now())
    return snapshot


@dataclass(frozen=True)
class SetupRow:
    key: str
    kind: str  # head, finding, agent, reading or setting
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
    below[HOOKS] += map(_agent, snapshot.agents)
    below[MODEL] += [_reading(snapshot.reading, now)] if snapshot.reading is not None else []
    for option in snapshot.settings.values():
        title = SETTINGS if option.key in setting.FIRST else MODEL if option.key in setting.OF_MODELS else ADVANCED
        below[title].append(_setting(option))
    below[SETTINGS].sort(key=lambda row: setting.FIRST.index(row.title))
    headings = {row.title: row for row in _headings(snapshot, below, now)}
    if not snapshot.has_model:
        below[MODEL] = [row for row in below[MODEL] if row.mark == MARKS[PROBLEM][0]]
    setup_rows = []
    for title, head in headings.items():
        if below[title] or title not in {PROBLEMS, MORE, *([] if snapshot.syncs else [MACHINES])}:
            setup_rows.append(replace(head, mark="" if below[title] else " "))
            setup_rows += [replace(row, group=title) for row in below[title]]
    return setup_rows


def _headings(snapshot: Snapshot, below: Mapping[str, Sequence[SetupRow]], now: float) -> Iterator[SetupRow]:
    mode, backend = snapshot.settings.get("mode"), snapshot.settings.get(setting.BACKEND)
    usual = mode is not None and mode.value == config_hot.MODES[0]
    sessions_get = f"mode {mode.value}: {setting.VALUES['mode'][str(mode.value)]}" if mode else "mode not known"
    model = next((row.words for row in below[MODEL] if row.kind == "finding"), "")
    hooks, has_hooks = setup_words.state(snapshot.hooks, snapshot.hooked_agents)
    disk = next((finding for finding in snapshot.findings if finding.code == "kept.ok"), None)
    wrong = sum(row.problem is not None for row in snapshot.settings.values())
    changed = sum(row.source != "default" and row.problem is None for row in snapshot.settings.values())
    counts = [f"{wrong} not read"] * bool(wrong) + [f"{changed} changed"] * bool(changed)
    settings = " · ".join(counts) or "all at their defaults"

    def head(title: str, words: str, style: str, **more: Any) -> SetupRow:
        return SetupRow(f"head {title}", "head", "", style, title, words, **more)

    yield head(PROBLEMS, f"{snapshot.problems:,} to fix", BAD)
    yield head(MORE, many(len(below[MORE]), "problem"), colours.PROBLEM)
    yield head(HOOKS, hooks, colours.GOOD if has_hooks else BAD, fix="" if snapshot.is_installed else "install")
    yield head(PROJECT, sessions_get, "" if usual else f"bold {colours.WARNING}", option=mode)
    shares = snapshot.rules
    yield head(RULES, shares or NO_RULES, "" if shares else "dim", option=snapshot.settings.get("rules"))
    yield head(MODEL, model if snapshot.has_model else NO_MODEL, "" if snapshot.has_model else "dim", option=backend)
    machines = " · ".join(_synced(state, now) for state in snapshot.syncs)
    error = next((state.error for state in snapshot.syncs if state.error), "")
    yield head(MACHINES, error or machines, BAD if error else "")
    yield head(DISK, fill(KEPT, disk.data) if disk else "", "", about=disk, fix=findings.fix_of(disk) if disk else "")
    yield head(SETTINGS, snapshot.settings_error or settings, BAD if snapshot.settings_error else "cyan")
    yield head(ADVANCED, many(len(below[ADVANCED]), "more setting"), "")


def _findings(snapshot: Snapshot) -> Iterator[tuple[Finding, SetupRow]]:
    """Yield the findings, worst first, each with its row, but for what a heading says."""
    numbers: Counter[str] = Counter()
    for report in sorted(snapshot.findings, key=lambda finding: LEVELS[finding.level]):
        if report.code == "kept.ok" or (report.level == OK and report.area in {"config", "hooks"}):
            continue
        mark, style = MARKS[report.level]
        key = f"finding {report.code} {report.subject}"
        numbers[key] += 1
        title, words = findings.AREAS.get(report.area, report.area), findings.message(report)
        option, fix = snapshot.settings.get(CURES.get(report.code, "")), findings.fix_of(report)
        fix = "" if report.code in CURES else fix
        row = SetupRow(f"{key} {numbers[key]}", "finding", mark, style, title, words, report, fix=fix, option=option)
        yield report, row


def _agent(agent: AgentSetup) -> SetupRow:
    level = OK if agent.state == agents.READY else NOTE if agent.state == agents.ABSENT else PROBLEM
    mark, style = MARKS[level]
    words = agent.state if level == NOTE else agent.words
    name = agent.program.name
    return SetupRow(f"agent {name}", "agent", mark, style, agent.program.title, words, agent, fix="install")


def _reading(overview: Overview, now: float) -> SetupRow:
    is_stopped = overview.stopped is not None
    idle = overview.powers.mode == "off" or is_stopped
    mark, style = MARKS[OK if not overview.powers.why else NOTE if idle else PROBLEM]
    words = " · today ".join(filter(None, (models.state(overview, now), models.used(overview))))
    return SetupRow("reading", "reading", mark, style, "reads sessions", words, overview, fix="start" * is_stopped)


def _setting(option: Setting) -> SetupRow:
    mark, style = MARKS[PROBLEM] if option.problem else (" ", "")
    state = "not read · " if option.problem else ("changed · " * (option.source != "default"))
    words = f"{setting.as_typed(option.value):<{VALUE_WIDTH}} {state}{option.meaning}"
    return SetupRow(f"setting {option.key}", "setting", mark, style, option.key, words, option=option)


def filtered(every: Sequence[SetupRow], typed: str) -> list[SetupRow]:
    """Return the rows with all words of a query, with `is:problem` only problems."""
    search = query.parse(typed.casefold(), ("is",))
    marks = {MARKS[PROBLEM][0]} if search.terms else {row.mark for row in every}
    words = search.words.split()
    return [row for row in every if row.mark in marks and all(word in row.searched for word in words)]


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
    about, text, word = row.about, Text(), WORDS.get(row.kind, "")
    if row.kind == "head":
        text.append(_behind_heading(row)).append(keymap.keyed(HEADINGS[row.title]) + "\n", style="dim")
        if row.title == HOOKS and snapshot.hooks is not None:
            events = snapshot.hooks.events()
            for event in events:
                text.append(f"\n{event:<16}  ", style="bold").append(setup_words.DOES[event])
            hooks = [(event, hook) for event, installed in events.items() for hook in installed]
            every = Counter((hook.path, hook.command.replace(f" {event}", " EVENT", 1)) for event, hook in hooks)
            for (path, command), count in every.items():
                same = f", the same for {many(count, 'EVENT')}" * (count > 1)
                text.append(f"\n\n{safe_text.line(data.tilde(path))}{same}\n", style="dim")
                text.append(safe_text.clean(command), style="dim")
        for state in snapshot.syncs if row.title == MACHINES else ():
            text.append(f"\n{safe_text.line(_synced(state, data.now()), 400)}\n", style="bold")
            for machine in snapshot.machines.get(state.team, ()):
                text.append(f"{safe_text.line(machine, 400)}\n")
            text.append("memtui sync names what is held back.\n" * bool(state.withheld), style=colours.WARNING)
    elif isinstance(about, Finding):
        word = WORDS[about.level]
        text.append(safe_text.clean(findings.message(about) or "Nothing to fix.") + "\n")
    elif isinstance(about, AgentSetup):
        text.append(safe_text.line(data.tilde(about.path)) + "\n", style="dim")
        text.append(safe_text.clean(about.remedy) + "\n" if about.remedy else "Its sessions use memtui.\n")
    elif isinstance(about, Overview):
        _append_reading(text, about, data.now())
    elif row.option is not None:
        _append_setting(text, row.option)
    text.rstrip()
    text.append("\n")
    if isinstance(about, Finding) and (read_only or not keys) and (remedy := findings.remedy(about)):
        text.append("\nWhat to do\n", style="bold").append(safe_text.clean(remedy) + "\n")
    append_keys(text, keys, read_only=read_only)
    return Described(text, safe_text.line(f"{word} · {row.title}" if word else row.title, 80))


def _behind_heading(row: SetupRow) -> str:
    is_below = row.title == MACHINES and not row.style  # in the same words
    words = row.words if len(row.words) > ROOM and not is_below else ""
    if isinstance(row.about, Finding):
        words = findings.message(row.about)
    return f"{safe_text.line(words)}\n\n" if words else ""


def _append_reading(text: Text, about: Overview, now: float) -> None:
    text.append("After each turn the model reads the session in the background\n", style="bold")
    text.append(safe_text.line(models.state(about, now)) + "\n")
    text.append("".join(f"{name:<9}{safe_text.line(words)}\n" for name, words in models.facts(about, now)))
    waiting = many(len(about.mentions), "question waits", "questions wait")
    text.append(f"{waiting} for a reply\n" if about.mentions else "", style="cyan")
    text.append(keymap.keyed("{app.activity} has each session that it read, {app.memories} its blocks.\n"), "dim")


def _append_setting(text: Text, about: Setting) -> None:
    text.append(about.meaning + "\n")
    where = {"default": "the default", "config": "from config.toml", "project": "this project's, from config.toml"}
    text.append(f"value    {safe_text.line(setting.as_typed(about.value))}, {where[about.source]}\n")
    own = ". A project can have its own." if about.key in config_hot.PER_PROJECT else ""
    text.append(f"default  {safe_text.line(setting.as_typed(about.default))}{own}\n", style="dim")
    if about.problem:
        text.append(f"! the value in config.toml {about.problem}, so it is not used\n", style=colours.PROBLEM)
    _append_values(text, about)


def _append_values(text: Text, about: Setting) -> None:
    if meanings := setting.VALUES.get(about.key):
        text.append("\nIts values\n", style="bold")
        for value, words in meanings.items():
            text.append(f"{value:<7} ", style="bold").append(f"{words}\n")
    elif choices := config_hot.CHOICES.get(about.key):
        text.append(f"\nOne of {', '.join(choices)}.\n", style="dim")
