"""What the health screen shows, gathered in a worker: findings, hooks, budgets, errors, modes, settings; as rows."""

import os
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from memtui import actions
from memtui.core.base import clock, paths
from memtui.core.base.errors import MemtuiError
from memtui.core.base.finding import NOTE, OK, PROBLEM, Finding
from memtui.core.base.phrasing import age, many
from memtui.core.deliveries import error_log
from memtui.core.deliveries.record import Record
from memtui.core.deliveries.statistics import percentile
from memtui.core.health import file_checks, findings, index_report
from memtui.core.health.index_report import Report
from memtui.core.places import locate, trust
from memtui.core.settings import edit as config_edit
from memtui.core.settings import setting
from memtui.core.settings.modes import Mode, modes
from memtui.core.settings.setting import Setting, Value
from memtui.hooks.installer import checkup, entries, status
from memtui.tui.model.data import Data

ERRORS_SHOWN = 30
# Cells of what stands first after the name, in all sections.
VALUE = 14
MARKS = {OK: ("✓", "green"), NOTE: ("·", "dim"), PROBLEM: ("!", "bold yellow")}
LEVELS = {PROBLEM: 0, NOTE: 1, OK: 2}
# The words of the list; findings.AREAS has them in full.
AREAS = {"root": "files", "client": "Claude Code", "config": "settings", "log": "delivery log"}
EVERYWHERE = "every project"


@dataclass(frozen=True)
class Row:
    """A line of the list: `kind` is head, finding, event, index, error, mode or setting, `about` the thing itself."""

    key: str
    kind: str
    mark: str
    style: str
    title: str
    words: str
    about: object = None


@dataclass
class Look:
    """All that was found at one moment."""

    findings: list[Finding] = field(default_factory=list)
    hooks: status.Status | None = None
    times: dict[str, "array[float]"] = field(default_factory=dict)
    reports: list[Report] = field(default_factory=list)
    errors: list[Record] = field(default_factory=list)
    modes: list[Mode] = field(default_factory=list)
    settings: list[Setting] = field(default_factory=list)
    settings_error: str = ""
    trusted: trust.Status | None = None
    names: dict[str, str] = field(default_factory=dict)  # what a person calls what a finding names by id or slug

    @property
    def problems(self) -> int:
        """How many findings are to be fixed."""
        return findings.problems(self.findings)


def look(data: Data, times: dict[str, "array[float]"], client: list[Finding] | None) -> Look:
    """Look at everything. What can't be read is a finding, never an error."""
    found = Look(times=times)
    found.findings = checkup.check(data.env, data.cwd, data.now(), client, actions.defaults(), data.known)
    try:
        found.hooks = status.status(data.env, data.cwd)
    except (MemtuiError, OSError):
        pass
    try:
        found.reports = index_report.reports(data.root, data.scopes())
    except (MemtuiError, OSError):
        pass
    found.errors = list(islice(error_log.newest_first(data.root), ERRORS_SHOWN))
    try:
        found.settings = setting.rows(data.root, data.project_root)
        found.modes = list(modes(data.env, data.root, data.project_root))
    except MemtuiError as error:
        found.settings_error = error.message
    found.names = {paths.slug(each.path): os.path.basename(each.path) for each in found.modes if len(each.path) > 1}
    for item in data.waiting(every=True):
        if item.kind == "guidance":
            words = f"“{' '.join(item.text.split())[:60]}”"
            # Whole, or by its end.
            found.names |= {item.id: words, f"guidance {item.id[-6:]}": f"guidance {words}"}
    directory, exists = locate.project_dir(data.env, data.cwd)
    try:
        found.trusted = trust.status(data.root, directory) if exists else None
    except OSError:
        pass
    return found


def rows(found: Look, now: float) -> list[Row]:
    """The lines of the list, under headings."""
    made = [_head("Checks", f"{found.problems} to fix" if found.problems else "all good")]
    ordered = sorted(enumerate(found.findings), key=lambda pair: (LEVELS[pair[1].level], pair[0]))
    made += [_finding(each, found) for _, each in ordered]
    made.append(_head("Hooks", "milliseconds of the hook itself, p50 and p95"))
    made += _events(found)
    made.append(_head("Index budgets", "what the client loads of MEMORY.md"))
    made += [_report(each) for each in found.reports]
    made.append(_head("Errors", "of hooks and workers, newest first" if found.errors else "none"))
    made += [_error(number, each, now) for number, each in enumerate(found.errors)]
    made.append(_head("Modes", "full, whisper or off, by project"))
    made += [_mode(each) for each in found.modes]
    made.append(
        _head(
            "Settings",
            found.settings_error or f"● is changed, the others are as shipped; {actions.key_of('health.edit')} changes",
        )
    )
    made += [_setting(each) for each in found.settings]
    return made


def _head(title: str, words: str) -> Row:
    return Row(f"head {title}", "head", "─", "bold", title, words, title)


def in_words(each: Finding, found: Look) -> str:
    """A finding's message with the names that a person knows."""
    message = findings.message(each)
    for name, words in found.names.items():
        message = message.replace(name, words)
    return message


def _finding(each: Finding, found: Look) -> Row:
    mark, style = MARKS[each.level]
    key = f"finding {each.code} {each.subject} {sorted(each.data.items())}"
    return Row(key, "finding", mark, style, AREAS.get(each.area, each.area), in_words(each, found), each)


def _events(found: Look) -> Iterator[Row]:
    by_event = found.hooks.events() if found.hooks else {}
    for event, _, _ in entries.EVENTS:
        here = by_event.get(event, [])
        where = ", ".join(dict.fromkeys(each.source for each in here)) or "not installed"
        bad = not here or not all(each.interpreter_exists and each.launcher_exists for each in here)
        times = found.times.get(event)
        cost = f"p50 {percentile(times, 0.5):.0f}  p95 {percentile(times, 0.95):.0f}" if times else "never ran"
        mark, style = ("✗", "red") if bad and here else ("·", "dim") if bad else ("✓", "green")
        yield Row(f"event {event}", "event", mark, style, event, f"{where:<{VALUE}} {cost}", event)


def _report(each: Report) -> Row:
    budget = each.budget
    if not each.index.raw:
        mark, style = MARKS[NOTE]
        words = f"{'no MEMORY.md':<{VALUE}} {many(len(each.missing), 'memory', 'memories')}"
        return Row(f"index {each.scope.label}", "index", mark, style, each.scope.label, words, each)
    over = budget.cut_line is not None
    words = f"{budget.share:<4.0%} {budget.lines}/{budget.max_lines} lines"
    if over:
        words += f", {len(budget.below)} below the cut"
    if each.missing:
        words += f", {len(each.missing)} without a line"
    mark, style = MARKS[PROBLEM if any(each.findings()) else OK]
    return Row(f"index {each.scope.label}", "index", mark, style, each.scope.label, words, each)


def _error(number: int, each: Record, now: float) -> Row:
    seconds = clock.parse(each.get("time"))
    words = f"{each.get('error')}: {each.get('message')}"
    old = seconds is not None and seconds < now - file_checks.ERRORS_DAYS * file_checks.DAY
    mark, style = MARKS[NOTE if old else PROBLEM]
    return Row(
        f"error {number} {each.get('time')}",
        "error",
        mark,
        style,
        f"{age(seconds, now)} {each.get('where')}",
        words,
        each,
    )


def _mode(each: Mode) -> Row:
    own = ", ".join(f"{key} {config_edit.written(setting.plain(value))}" for key, value in each.own.items())
    title = EVERYWHERE if not each.path else os.path.basename(each.path) or "/"
    words = f"{each.mode:<{VALUE}} " + (own or ("as everywhere" if each.path else "unless a project says otherwise"))
    mark, style = ("▸", "") if each.here else (" ", "")
    return Row(f"mode {each.path}", "mode", mark, style, title, words, each)


def in_plain(value: Value) -> str:
    """A setting's value as a person types it."""
    return value if isinstance(value, str) else config_edit.written(value)


def _setting(each: Setting) -> Row:
    value = in_plain(each.value)
    mark, style = MARKS[PROBLEM] if each.problem else ("●" if each.source != "default" else " ", "")
    source = {"default": "", "config": "config.toml", "project": "this project"}[each.source]
    words = f"{value:<{VALUE}} " + (f"default {in_plain(each.default):<6} {source}" if source else "as shipped")
    return Row(f"setting {each.key}", "setting", mark, style, each.key, words, each)
