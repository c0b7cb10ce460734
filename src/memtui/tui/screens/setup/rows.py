"""What Setup shows, as a worker sees it; and its rows: a page of at most 24, under headings that unfold."""

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice

from rich.text import Text

from memtui.base import clock, findings
from memtui.base.errors import MemtuiError
from memtui.base.finding import NOTE, OK, PROBLEM, Finding
from memtui.base.memory_kinds import fill
from memtui.base.phrasing import age, many
from memtui.deliver import error_log
from memtui.deliver.record import Record
from memtui.hooks.install import checkup, entries, status
from memtui.models.subconscious import control
from memtui.models.subconscious.control import Overview
from memtui.settings import config, setting
from memtui.settings.setting import Setting
from memtui.tidy.checks import doctor
from memtui.tui.model.data import Data
from memtui.views import colours, glyphs, models, query, safe_text
from memtui.views import setup as setup_words
from memtui.views.deliveries import waited

# Cells of a value before what the setting means.
VALUE_WIDTH = 10
# The key of the row about the model that reads sessions.
READING = "reading"
BAD = f"bold {colours.PROBLEM}"
MARKS = {OK: ("✓", colours.GOOD), NOTE: ("·", colours.QUIET), PROBLEM: ("!", BAD)}
# The mark of hooks whose files are missing.
MISSING = "✗"
# The titles of the headings, in their order, and those that are unfolded at first.
PROBLEMS, MORE, HOOKS, PROJECT = "problems", "more", "hooks", "this project"
MODEL, DISK, SETTINGS, ADVANCED = "model", "disk", "settings", "advanced"
HEADINGS = (PROBLEMS, MORE, HOOKS, PROJECT, MODEL, DISK, SETTINGS, ADVANCED)
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
LEVELS = {PROBLEM: 0, NOTE: 1, OK: 2}
ERRORS_SHOWN = 30
# The hooks that deliver and record nothing: the log has none of their runs.
SILENT = ("PreCompact", "Stop", "SessionEnd")


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
    settings: list[Setting] = field(default_factory=list)
    settings_error: str = ""
    reading: Overview | None = None

    @property
    def problems(self) -> int:
        return findings.problems(self.findings)

    @property
    def has_model(self) -> bool:
        return any(row.key == setting.BACKEND and row.value != "off" for row in self.settings)

    def setting(self, key: str) -> Setting | None:
        """Return a setting, None while the settings can't be read."""
        return next((option for option in self.settings if option.key == key), None)


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
        snapshot.settings = setting.rows(data.root, data.project_root)
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

    @property
    def is_fold(self) -> bool:
        return self.kind == "head" and not self.mark


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
    for option in snapshot.settings:
        title = SETTINGS if option.key in setting.FIRST else MODEL if option.key in setting.OF_MODELS else ADVANCED
        below[title].append(_setting(option))
    below[SETTINGS].sort(key=lambda row: setting.FIRST.index(row.title))
    headings = _headings(snapshot, below)
    if not snapshot.has_model:
        below[MODEL] = [row for row in below[MODEL] if row.mark == MARKS[PROBLEM][0]]
    setup_rows = []
    for title in HEADINGS:
        if below[title] or title not in {PROBLEMS, MORE}:
            words, style, about = headings[title]
            setup_rows.append(
                SetupRow(f"head {title}", "head", "" if below[title] else " ", style, title, words, about)
            )
            setup_rows += [replace(row, group=title) for row in below[title]]
    return setup_rows


def _headings(snapshot: Snapshot, below: Mapping[str, Sequence[SetupRow]]) -> dict[str, tuple[str, str, object]]:
    """Return words, style and subject (a setting to edit, or a finding) of each heading."""
    mode, backend = snapshot.setting("mode"), snapshot.setting(setting.BACKEND)
    usual = mode is not None and mode.value == config.MODES[0]
    sessions_get = f"mode {mode.value}: {setting.VALUES['mode'][str(mode.value)]}" if mode else "mode not known"
    model = next((row.words for row in below[MODEL] if row.kind == "finding"), "")
    hooks, is_installed = setup_words.state(snapshot.hooks)
    disk_words = next((finding for finding in snapshot.findings if finding.code in KEPT), None)
    wrong = sum(row.problem is not None for row in snapshot.settings)
    changed = sum(row.source != "default" and row.problem is None for row in snapshot.settings)
    counts = [f"{wrong} not read"] * bool(wrong) + [f"{changed} changed"] * bool(changed)
    settings = " · ".join(counts) or "all at their defaults"
    return {
        PROBLEMS: (f"{snapshot.problems:,} to fix", BAD, None),
        MORE: (many(len(below[MORE]), "problem"), colours.PROBLEM, None),
        HOOKS: (hooks, colours.GOOD if is_installed else BAD, None),
        PROJECT: (sessions_get, "" if usual else f"bold {colours.WARNING}", mode),
        MODEL: (model, "", backend) if snapshot.has_model else (NO_MODEL, "dim", backend),
        DISK: (fill(KEPT[disk_words.code], disk_words.data) if disk_words else "", "", disk_words),
        SETTINGS: (snapshot.settings_error or settings, BAD if snapshot.settings_error else "cyan", None),
        ADVANCED: (many(len(below[ADVANCED]), "more setting"), "", None),
    }


def _findings(snapshot: Snapshot) -> Iterator[tuple[Finding, SetupRow]]:
    """Yield the findings, worst first, each with its row, but for what a heading says."""
    numbers: Counter[str] = Counter()
    for report in sorted(snapshot.findings, key=lambda finding: LEVELS[finding.level]):
        if report.code in KEPT or (report.level == OK and report.area in {"config", "hooks"}):
            continue
        mark, style = MARKS[report.level]
        key = f"finding {report.code} {report.subject}"
        numbers[key] += 1
        title = findings.AREAS.get(report.area, report.area)
        yield report, SetupRow(f"{key} {numbers[key]}", "finding", mark, style, title, findings.message(report), report)


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
        if is_missing:
            mark, style = MISSING, "red"
        yield SetupRow(f"event {event}", "event", mark, style, event, " · ".join(words), event)


def _reading(overview: Overview, now: float) -> SetupRow:
    """Return whether the model reads sessions, and what that used today."""
    idle = overview.powers.mode == "off" or overview.stopped is not None
    mark, style = MARKS[OK if not overview.powers.why else NOTE if idle else PROBLEM]
    words = " · today ".join(filter(None, (models.state(overview, now), models.used(overview))))
    return SetupRow(READING, "reading", mark, style, "reads sessions", words, overview)


def _error(number: int, record: Record, now: float) -> SetupRow:
    seconds = clock.parse(record.get("time"))
    old = seconds is not None and seconds < now - doctor.ERRORS_DAYS * clock.DAY
    mark, style = MARKS[NOTE if old else PROBLEM]
    words, title = f"{record.get('error')}: {record.get('message')}", f"{age(seconds, now)} {record.get('where')}"
    return SetupRow(f"error {number} {record.get('time')}", "error", mark, style, title, words, record)


def _setting(option: Setting) -> SetupRow:
    mark, style = MARKS[PROBLEM] if option.problem else (" ", "")
    changed = "changed · " * (option.source != "default")
    state = "not read · " if option.problem else changed
    words = f"{setting.as_typed(option.value):<{VALUE_WIDTH}} {state}{option.meaning}"
    return SetupRow(f"setting {option.key}", "setting", mark, style, option.key, words, option)


def searched(row: SetupRow) -> str:
    return f"{row.title} {row.words}".casefold()


def filtered(every: Sequence[SetupRow], typed: str) -> list[SetupRow]:
    """Return the rows with all words of a query, with `is:problem` only problems, and the headings above them."""
    search = query.parse(typed.casefold(), ("is",))
    marks = {"!", "✗"} if search.terms else {row.mark for row in every}
    setup_rows = [
        row for row in every if row.mark in marks and all(word in searched(row) for word in search.words.split())
    ]
    groups = {row.group for row in setup_rows}
    return [row for row in every if row in setup_rows or (row.kind == "head" and row.title in groups)]


def draw(row: SetupRow, *, is_open: bool) -> list[Text]:
    """Draw the cells of a row; a heading's as folded or open."""
    words = Text(safe_text.line(row.words, 400))
    if row.kind == "head":
        words.stylize(row.style, 0, 1 if row.style == colours.GOOD else None)
        mark = row.mark or (glyphs.UNFOLDED if is_open else glyphs.FOLDED)
        return [Text(mark, style="bold"), *[Text(row.title, style="bold")] * 2, words]
    quiet = "dim" if row.kind == "finding" and row.mark == "✓" else ""
    words.stylize(quiet)
    if isinstance(row.about, Setting) and row.about.source != "default":
        words.stylize("bold cyan", 0, words.plain.index(" "))
    title = Text("  " + safe_text.line(row.title, 100), style=quiet)
    return [Text(row.mark, style=row.style), title, title, words]
