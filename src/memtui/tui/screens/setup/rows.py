"""The rows of Setup: a page of at most 24, under headings that unfold; and how they are drawn."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rich.text import Text

from memtui.core.base import clock
from memtui.core.base.finding import NOTE, OK, PROBLEM, Finding
from memtui.core.base.phrasing import age, many, short
from memtui.core.client import projects
from memtui.core.deliveries.record import Record
from memtui.core.deliveries.statistics import percentile
from memtui.core.health import file_checks, findings
from memtui.core.memories.index_state import IndexState
from memtui.core.settings import config, config_text, setting
from memtui.core.settings.modes import Mode
from memtui.core.settings.setting import Setting
from memtui.hooks.installer import entries
from memtui.present import legend, safe_text
from memtui.present import subconscious as model_words
from memtui.subconscious.overview import Overview
from memtui.tui.screens.setup.snapshot import Snapshot
from memtui.tui.widgets.gauges import gauge

# Width of a gauge, in cells.
GAUGE_WIDTH = 10
# Width of the first word after the title, in cells, in all sections.
VALUE_WIDTH = 14
# The key of the row about the model that reads sessions.
READING = "reading"
MARKS = {OK: ("✓", "green"), NOTE: ("·", "dim"), PROBLEM: ("!", "bold yellow")}
# The marks of hooks whose files are missing, of the project that the person works in, of a setting that is changed.
MISSING, HERE, CHANGED = "✗", "→", "●"
# The titles of the headings, in their order, and those that are unfolded at first.
PROBLEMS, MORE, HOOKS, PROJECT = "problems", "more", "hooks", "this project"
MODEL, DISK, SETTINGS, ADVANCED = "model", "disk", "settings", "advanced"
HEADINGS = (PROBLEMS, MORE, HOOKS, PROJECT, MODEL, DISK, SETTINGS, ADVANCED)
OPEN = frozenset({PROBLEMS, SETTINGS})
NO_MODEL = "none is set: memtui config set llm_backend auto"
# The most rows below PROBLEMS; where there are more, the others are folded below MORE.
PROBLEMS_SHOWN = 5
# The heading of each area of findings; of the others DISK.
GROUPS = {
    **dict.fromkeys(("hooks", "client"), HOOKS),
    **dict.fromkeys(("inbox", "memories", "trust", "learned"), PROJECT),
    **dict.fromkeys(("llm", "dream"), MODEL),
    **dict.fromkeys(("config", "semantic"), ADVANCED),
}
LEGEND = legend.section(
    "Marks",
    (
        (MARKS[OK][0], "all good"),
        (MARKS[NOTE][0], "worth knowing; a hook that is not installed"),
        (MARKS[PROBLEM][0], "to fix"),
        (MISSING, "installed, but its files are missing"),
        (HERE, "this project, among all"),
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
class SetupRow:
    """A row of the list. `kind`: head, finding, event, index, error, mode, reading or setting; `about`: what is shown,
    such as a Finding; `group`: the title of the heading that it is below."""

    key: str
    kind: str
    mark: str
    style: str
    title: str
    words: str
    about: object = None
    group: str = ""


def rows(found: Snapshot, now: float) -> list[SetupRow]:
    """Make all rows, those below folded headings too."""
    below: dict[str, list[SetupRow]] = {title: [] for title in HEADINGS}
    few = sum(finding.level == PROBLEM for finding in found.shown) <= PROBLEMS_SHOWN
    for finding, row in _findings(sorted(found.shown, key=lambda finding: LEVELS[finding.level])):
        title = GROUPS.get(finding.area, DISK)
        if finding.level == PROBLEM:
            title = PROBLEMS if few or len(below[PROBLEMS]) < PROBLEMS_SHOWN - 1 else MORE
        below[title].append(row)
    below[HOOKS] += _events(found, now)
    below[PROJECT] += [*_modes(found.modes), *(_report(report) for report in found.reports)]
    below[MODEL] += [_reading(found.reading, now)] if found.reading is not None else []
    below[DISK] += [_error(number, record, now) for number, record in enumerate(found.errors)]
    for each in found.settings:
        title = SETTINGS if each.key in setting.FIRST else MODEL if each.key in setting.OF_MODELS else ADVANCED
        below[title].append(_setting(each))
    below[SETTINGS].sort(key=lambda row: setting.FIRST.index(row.title))
    headings = _headings(found, below)
    if not found.has_model:
        below[MODEL] = [row for row in below[MODEL] if row.mark == MARKS[PROBLEM][0]]
    listed = []
    for title in HEADINGS:
        if below[title] or title != MORE:
            words, style, about = headings[title]
            listed.append(SetupRow(f"head {title}", "head", "" if below[title] else " ", style, title, words, about))
            listed += [replace(row, group=title) for row in below[title]]
    return listed


def _headings(found: Snapshot, below: Mapping[str, Sequence[SetupRow]]) -> dict[str, tuple[str, str, object]]:
    """Return what stands beside each heading: words, their style, and what `edit` changes there; in their order."""
    shares = [report.budget.share for report in found.reports if report.index.raw]
    full = f" · the fullest MEMORY.md {max(shares):.0%}" if shares else ""
    here = next((mode for mode in found.modes if mode.here), None)
    mode, usual = here.mode if here else "not known", here is not None and here.mode == config.MODES[0]
    backend = next((row for row in found.settings if row.key == setting.BACKEND), None)
    asked = next((row.words for row in below[MODEL] if row.kind == "finding"), "")
    kept = next((row.words for row in below[DISK] if getattr(row.about, "area", "") == "kept"), "")
    changed = sum(row.source != "default" for row in found.settings)
    settings = f"{CHANGED} {changed} changed" if changed else "all at their defaults"
    more = sum(row.kind == "setting" for row in below[ADVANCED])
    problems = f"{found.problems:,} to fix" if found.problems else "✓ none"
    problems += " in all projects" if found.others is not None else ""
    notes = f" · {found.notes:,} worth knowing" if found.notes else ""
    return {
        PROBLEMS: (problems + notes, "bold yellow" if found.problems else "green", None),
        MORE: (many(len(below[MORE]), "problem"), "yellow", None),
        HOOKS: _hooks(found),
        PROJECT: (f"mode {mode}{full}", "green" if usual else "bold yellow", here),
        MODEL: (asked, "green", backend) if found.has_model else (NO_MODEL, "dim", backend),
        DISK: (kept, "", None),
        SETTINGS: (found.settings_error or settings, "bold yellow" if found.settings_error else "cyan", None),
        ADVANCED: (many(more, "more setting"), "", None),
    }


def _hooks(found: Snapshot) -> tuple[str, str, object]:
    if found.hooks is None or not found.hooks.installed:
        is_skipped = found.hooks is not None and found.hooks.unreadable
        return "✗ Claude Code skips a settings file" if is_skipped else "✗ not installed", "bold red", None
    places = ", ".join(dict.fromkeys(hook.source for hook in found.hooks.hooks))
    times = [milliseconds for row in found.times.values() for milliseconds in row]
    took = f" · p50 {percentile(times, 0.5):.0f} p95 {percentile(times, 0.95):.0f} ms" if times else ""
    return f"✓ {many(len(found.hooks.hooks), 'hook')} ({places}){took}", "green", None


def _findings(found: Sequence[Finding]) -> Iterator[tuple[Finding, SetupRow]]:
    seen: Counter[str] = Counter()
    for each in found:
        mark, style = MARKS[each.level]
        facts = " ".join(str(each.data[name]) for name in IDENTITY if name in each.data)
        key = f"finding {each.code} {each.subject} {facts}"
        seen[key] += 1
        title = findings.AREAS.get(each.area, each.area)
        yield each, SetupRow(f"{key} {seen[key]}", "finding", mark, style, title, findings.message(each), each)


def _columns(scope: str, numbers: Iterable[str]) -> str:
    return f"{scope:<{SCOPE_WIDTH}}" + "".join(f" {each:>{NUMBER_WIDTH}}" for each in numbers)


def _why_no_times(event: str) -> str:
    """Say why a hook has no times. Without a delivery it logs nothing, so that nobody knows whether it ran."""
    return "runs are not logged" if event in SILENT else "nothing logged yet"


def _events(found: Snapshot, now: float) -> Iterator[SetupRow]:
    by_event = found.hooks.events() if found.hooks else {}
    for event, _, _ in entries.EVENTS:
        here = by_event.get(event, [])
        where = ", ".join(dict.fromkeys(each.source for each in here)) or "not installed"
        bad = not here or not all(each.interpreter_exists and each.launcher_exists for each in here)
        old = not all(each.current for each in here)
        times = found.times.get(event)
        words = where
        if times:
            runs = short(len(times)).replace(" ", "")
            cost = [f"{percentile(times, 0.5):.0f}", f"{percentile(times, 0.95):.0f}", runs]
            words = _columns(where, [*cost, age(found.last_runs.get(event), now)])
        elif here:
            words = f"{where:<{SCOPE_WIDTH}} " + (_why_no_times(event) if found.counted else "counting …")
        mark, style = (MISSING, "red") if bad and here else MARKS[NOTE] if bad or old else MARKS[OK]
        yield SetupRow(f"event {event}", "event", mark, style, event, words, event)


def _report(each: IndexState) -> SetupRow:
    budget = each.budget
    if each.index.raw:
        words = f"{budget.share:<4.0%} {budget.lines}/{budget.max_lines} lines"
        if budget.cut_line is not None:
            words += f", {len(budget.below)} below the cut"
        if each.missing:
            words += f", {len(each.missing)} without a line"
        mark, style = MARKS[PROBLEM if any(found.level == PROBLEM for found in each.findings()) else OK]
    else:
        words = f"{'no MEMORY.md':<{VALUE_WIDTH}} {many(len(each.missing), 'memory', 'memories')}"
        mark, style = MARKS[NOTE]
    scope = each.scope
    title = f"@{scope.source}" if scope.kind == "agent" else scope.shown  # as the list of memories calls it
    return SetupRow(f"index {scope.label}", "index", mark, style, title, words, each)


def _reading(found: Overview, now: float) -> SetupRow:
    """Return whether the model reads sessions, and what that used today."""
    running = not found.powers.why
    idle = found.powers.mode == "off" or found.stopped is not None
    mark, style = MARKS[OK if running else NOTE if idle else PROBLEM]
    words = " · today ".join(filter(None, (model_words.state(found, now), model_words.used(found))))
    return SetupRow(READING, "reading", mark, style, "reads sessions", words, found)


def _error(number: int, each: Record, now: float) -> SetupRow:
    seconds = clock.parse(each.get("time"))
    words = f"{each.get('error')}: {each.get('message')}"
    old = seconds is not None and seconds < now - file_checks.ERRORS_DAYS * clock.DAY
    mark, style = MARKS[NOTE if old else PROBLEM]
    title = f"{age(seconds, now)} {each.get('where')}"
    return SetupRow(f"error {number} {each.get('time')}", "error", mark, style, title, words, each)


def _modes(found: Sequence[Mode]) -> Iterator[SetupRow]:
    names = projects.names({}, {each.path: each.path for each in found if each.path})
    for each in found:
        own = ", ".join(f"{key} {config_text.written(setting.plain(value))}" for key, value in each.own.items())
        words = f"{each.mode:<{VALUE_WIDTH}} " + (own or ("as all projects" if each.path else "unless set below"))
        mark, style = (HERE, "") if each.here else (" ", "")
        yield SetupRow(f"mode {each.path}", "mode", mark, style, names.get(each.path, EVERYWHERE), words, each)


def _setting(each: Setting) -> SetupRow:
    value = setting.as_typed(each.value)
    mark, style = MARKS[PROBLEM] if each.problem else (CHANGED if each.source != "default" else " ", "")
    source = {"default": "", "config": "config.toml", "project": "this project"}[each.source]
    whence = f"default {setting.as_typed(each.default):<6} {source}" if source else "default"
    words = f"{value:<{VALUE_WIDTH}} {whence} · {each.meaning}"
    return SetupRow(f"setting {each.key}", "setting", mark, style, each.key, words, each)


def searched(row: SetupRow) -> str:
    """Return the text that the filter searches."""
    meaning = row.about.meaning if isinstance(row.about, Setting) else ""
    return f"{row.title} {row.words} {meaning}".casefold()


def filtered(found: Sequence[SetupRow], typed: str, *, attention: bool) -> list[SetupRow]:
    """Return the rows with all words of `typed`, with `attention` only problems, and the headings above them, folded
    or not."""
    words = typed.casefold().split()

    def fits(row: SetupRow) -> bool:
        return (row.mark in {"!", "✗"} or not attention) and all(word in searched(row) for word in words)

    shown = [row for row in found if fits(row)]
    groups = {row.group for row in shown}
    return [row for row in found if row in shown or (row.kind == "head" and row.title in groups)]


def unfolded(found: Sequence[SetupRow], titles: Collection[str]) -> list[SetupRow]:
    """Return the headings, and the rows below those with these titles."""
    return [row for row in found if row.kind == "head" or row.group in titles]


def draw(row: SetupRow, *, is_open: bool) -> list[Text]:
    """Draw the cells of a row; a heading's as folded or open."""
    words = Text(safe_text.line(row.words, 400))
    if row.kind == "head":
        words.stylize(row.style)
        mark = row.mark or (legend.UNFOLDED if is_open else legend.FOLDED)
        return [Text(mark, style="bold"), Text(row.title, style="bold"), words]
    quiet = "dim" if row.kind == "finding" and row.mark == "✓" else ""
    words.stylize(quiet)
    if row.kind in {"setting", "mode"}:
        value, changed = words.plain.index(" "), row.mark in {CHANGED, MARKS[PROBLEM][0]}
        is_off = row.kind == "mode" and isinstance(row.about, Mode) and row.about.mode != config.MODES[0]
        words.stylize("bold yellow" if is_off else "bold cyan" if changed else "", 0, value)
        words.stylize("dim", value)
    if isinstance(row.about, IndexState) and row.about.index.raw:
        meter = gauge(row.about.budget.share, GAUGE_WIDTH)
        meter.pad_right(VALUE_WIDTH + 1 - len(meter))
        words = meter.append_text(words)
    return [Text(row.mark, style=row.style), Text(safe_text.line(row.title, 100), style=quiet), words]
