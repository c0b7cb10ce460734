"""The rows of the health screen under their headings, and how they are drawn."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.text import Text

from memtui import actions
from memtui.core.base import clock
from memtui.core.base.finding import NOTE, OK, PROBLEM, Finding
from memtui.core.base.phrasing import age, many, short
from memtui.core.client import projects
from memtui.core.deliveries.record import Record
from memtui.core.deliveries.statistics import percentile
from memtui.core.health import file_checks, findings
from memtui.core.health.index_report import Report
from memtui.core.settings import config_text, setting
from memtui.core.settings.modes import Mode
from memtui.core.settings.setting import Setting
from memtui.hooks.installer import entries
from memtui.present import legend, safe_text
from memtui.tui.screens.health.snapshot import Snapshot
from memtui.tui.widgets.gauges import gauge

# Width of a gauge, in cells.
GAUGE_WIDTH = 10
# Width of the first word after the title, in cells, in all sections.
VALUE_WIDTH = 14
MARKS = {OK: ("✓", "green"), NOTE: ("·", "dim"), PROBLEM: ("!", "bold yellow")}
# The marks of hooks whose files are missing, of the project that the person works in, of a setting that is changed.
MISSING, HERE, CHANGED = "✗", "▸", "●"
LEGEND = legend.section(
    "Marks",
    (
        (MARKS[OK][0], "all good"),
        (MARKS[NOTE][0], "worth knowing; a hook that is not installed"),
        (MARKS[PROBLEM][0], "to fix"),
        (MISSING, "installed, but its files are missing"),
        (HERE, "this project"),
        (CHANGED, "a setting that is changed"),
    ),
)
LEVELS = {PROBLEM: 0, NOTE: 1, OK: 2}
# The facts that tell findings of one code and subject apart. Counts and times are not among them: a check whose count
# changes is the same check.
IDENTITY = ("scope", "path", "table", "key", "name", "event", "events", "inbox", "delivery", "directory")
# The columns of the table of hooks after the event: where it is installed, and each number.
SCOPE_WIDTH, NUMBER_WIDTH = 9, 4
EVERYWHERE = "all projects"
# The hooks that deliver and record nothing: the log has none of their runs.
SILENT = ("PreCompact", "Stop", "SessionEnd")


@dataclass(frozen=True)
class HealthRow:
    """A row of the list. `kind`: head, finding, event, index, error, mode or setting; `about`: what is shown, such as a
    Finding."""

    key: str
    kind: str
    mark: str
    style: str
    title: str
    words: str
    about: object = None


def rows(found: Snapshot, now: float) -> list[HealthRow]:
    """Make the rows of the list, under headings."""
    hint = f"{CHANGED} changed; {actions.key_of('health.edit')} changes one"
    return [
        _head("Checks", f"{found.problems:,} to fix" if found.problems else "all good"),
        *_findings(sorted(found.shown, key=lambda each: LEVELS[each.level])),
        _head("Hooks", _columns("scope", ("p50", "p95", "runs", "last"))),
        *_events(found, now),
        _head("Indexes", "how full each MEMORY.md is"),
        *(_report(each) for each in found.reports),
        _head("Errors", "newest first; enter shows one" if found.errors else "none"),
        *(_error(number, each, now) for number, each in enumerate(found.errors)),
        _head("Modes", "full, whisper or off"),
        *_modes(found.modes),
        _head("Settings", found.settings_error or hint),
        *(_setting(each) for each in found.settings),
    ]


def _head(title: str, words: str) -> HealthRow:
    return HealthRow(f"head {title}", "head", "─", "bold", title, words, title)


def _findings(found: Sequence[Finding]) -> Iterator[HealthRow]:
    seen: Counter[str] = Counter()
    for each in found:
        mark, style = MARKS[each.level]
        facts = " ".join(str(each.data[name]) for name in IDENTITY if name in each.data)
        key = f"finding {each.code} {each.subject} {facts}"
        seen[key] += 1
        title = findings.AREAS.get(each.area, each.area)
        yield HealthRow(f"{key} {seen[key]}", "finding", mark, style, title, findings.message(each), each)


def _columns(scope: str, numbers: Iterable[str]) -> str:
    return f"{scope:<{SCOPE_WIDTH}}" + "".join(f" {each:>{NUMBER_WIDTH}}" for each in numbers)


def _why_no_times(event: str) -> str:
    """Say why a hook has no times. Without a delivery it logs nothing, so that nobody knows whether it ran."""
    return "runs are not logged" if event in SILENT else "nothing logged yet"


def _events(found: Snapshot, now: float) -> Iterator[HealthRow]:
    by_event = found.hooks.events() if found.hooks else {}
    for event, _, _ in entries.EVENTS:
        here = by_event.get(event, [])
        where = ", ".join(dict.fromkeys(each.source for each in here)) or "not installed"
        bad = not here or not all(each.interpreter_exists and each.launcher_exists for each in here)
        times = found.times.get(event)
        words = where
        if times:
            runs = short(len(times)).replace(" ", "")
            cost = [f"{percentile(times, 0.5):.0f}", f"{percentile(times, 0.95):.0f}", runs]
            words = _columns(where, [*cost, age(found.last_runs.get(event), now)])
        elif here:
            words = f"{where:<{SCOPE_WIDTH}} " + (_why_no_times(event) if found.counted else "counting …")
        mark, style = (MISSING, "red") if bad and here else MARKS[NOTE] if bad else MARKS[OK]
        yield HealthRow(f"event {event}", "event", mark, style, event, words, event)


def _report(each: Report) -> HealthRow:
    budget = each.budget
    if each.index.raw:
        words = f"{budget.share:<4.0%} {budget.lines}/{budget.max_lines} lines"
        if budget.cut_line is not None:
            words += f", {len(budget.below)} below the cut"
        if each.missing:
            words += f", {len(each.missing)} without a line"
        mark, style = MARKS[PROBLEM if any(found.level == PROBLEM for found in each.state.findings()) else OK]
    else:
        words = f"{'no MEMORY.md':<{VALUE_WIDTH}} {many(len(each.missing), 'memory', 'memories')}"
        mark, style = MARKS[NOTE]
    scope = each.scope
    title = f"@{scope.source}" if scope.kind == "agent" else scope.shown  # as the list of memories calls it
    return HealthRow(f"index {scope.label}", "index", mark, style, title, words, each)


def _error(number: int, each: Record, now: float) -> HealthRow:
    seconds = clock.parse(each.get("time"))
    words = f"{each.get('error')}: {each.get('message')}"
    old = seconds is not None and seconds < now - file_checks.ERRORS_DAYS * clock.DAY
    mark, style = MARKS[NOTE if old else PROBLEM]
    title = f"{age(seconds, now)} {each.get('where')}"
    return HealthRow(f"error {number} {each.get('time')}", "error", mark, style, title, words, each)


def _modes(found: Sequence[Mode]) -> Iterator[HealthRow]:
    names = projects.names({}, {each.path: each.path for each in found if each.path})
    for each in found:
        own = ", ".join(f"{key} {config_text.written(setting.plain(value))}" for key, value in each.own.items())
        words = f"{each.mode:<{VALUE_WIDTH}} " + (own or ("as all projects" if each.path else "unless set below"))
        mark, style = (HERE, "") if each.here else (" ", "")
        yield HealthRow(f"mode {each.path}", "mode", mark, style, names.get(each.path, EVERYWHERE), words, each)


def _setting(each: Setting) -> HealthRow:
    value = setting.as_typed(each.value)
    mark, style = MARKS[PROBLEM] if each.problem else (CHANGED if each.source != "default" else " ", "")
    source = {"default": "", "config": "config.toml", "project": "this project"}[each.source]
    whence = f"default {setting.as_typed(each.default):<6} {source}" if source else "default"
    words = f"{value:<{VALUE_WIDTH}} {whence} · {each.meaning}"
    return HealthRow(f"setting {each.key}", "setting", mark, style, each.key, words, each)


def searched(row: HealthRow) -> str:
    """Return the text that the filter searches."""
    meaning = row.about.meaning if isinstance(row.about, Setting) else ""
    return f"{row.title} {row.words} {meaning}".casefold()


def filtered(found: Sequence[HealthRow], typed: str, *, attention: bool) -> list[HealthRow]:
    """Return the rows with all words of `typed`, with `attention` only problems, under the headings that have any."""
    words = typed.casefold().split()
    if not (words or attention):
        return list(found)

    def wanted(row: HealthRow) -> bool:
        return (row.mark in {"!", "✗"} or not attention) and all(word in searched(row) for word in words)

    shown = [row for row in found if row.kind == "head" or wanted(row)]
    kinds = [*(row.kind for row in shown), "head"]
    return [row for row, below in zip(shown, kinds[1:], strict=True) if not row.kind == below == "head"]


def draw(row: HealthRow) -> list[Text]:
    """Draw the cells of a row."""
    if row.kind == "head":
        words = Text(safe_text.line(row.words, 200), style="dim")
        return [Text(row.mark, style="dim"), Text(row.title, style="bold"), words]
    quiet = "dim" if row.kind == "finding" and row.mark == "✓" else ""
    words = Text(safe_text.line(row.words, 400), style=quiet)
    if isinstance(row.about, Report) and row.about.index.raw:
        meter = gauge(row.about.budget.share, GAUGE_WIDTH)
        meter.pad_right(VALUE_WIDTH + 1 - len(meter))
        words = meter.append_text(words)
    return [Text(row.mark, style=row.style), Text(safe_text.line(row.title, 100), style=quiet), words]
