"""The checks that look beyond a memory's own file: dates, what is gone from the project, use.

What is gone is found only in code spans, where git proves that it was there. No program but git sees what a memory
names, as data after `-e` or `--`; it runs nothing that the repository configures (docs/file-formats.md)."""

import os
import re
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime

from memtui.base import clock_hot
from memtui.base.finding import Finding, note, problem
from memtui.store.memory import CODE, Memory, text_of
from memtui.store.relative_dates import RELATIVE, relative_dates
from memtui.tidy import coverage
from memtui.tidy.checks.check import Check, Checked, about, about_words
from memtui.tidy.checks.project_files import ProjectFiles

WRITTEN = ("created", "createdAt", "created_at", "date", "modified", "updated", "updatedAt", "updated_at")
# Code spans, and what one can name.
SPAN = re.compile(r"(?<!`)`([^`\n]{2,200})`(?!`)")
PATH = re.compile(r"(?:\./)?([\w@.-]+(?:/[\w@.-]+)*/?)(?::\d+(?:-\d+)?)?")
SUFFIX = re.compile(r"\.[A-Za-z]\w{0,7}$")
# `yarn run` and `bun run` also run files and programs of packages.
SCRIPT = re.compile(r"p?npm run (?P<name>[A-Za-z0-9][\w:.-]*)(?: .*)?")
TARGET = re.compile(r"make (?P<name>[A-Za-z0-9][\w.-]*)")
SYMBOL, ELSEWHERE, TO_DO = map(coverage.pattern, ("symbol", "elsewhere", "to_do"))
AHEAD, WITHOUT = map(coverage.pattern, ("ahead", "without"))
# Words and signs of a line that tells of the past, of what is replaced, or where something went.
_PAST, _SIGNS = (coverage.SECTIONS[name].replace("\n", "|") for name in ("past", "past_signs"))
PAST = re.compile(rf"\b(?:{_PAST})\b|{_SIGNS}", re.IGNORECASE)
# Words of a line that tells of what is not to be.
FORBIDS = re.compile(r"\b(?:never|not|don't|avoid)\b", re.IGNORECASE)


def dates(checked: Checked) -> Iterator[Finding]:
    """Find relative dates, each with the date that it meant: `certain` only if the memory names one day of writing."""
    for memory in checked.memories:
        if not RELATIVE.search(memory.body):
            continue
        day, certain = written(memory)
        if day is None and checked.repository is not None:
            day = checked.repository.committed(memory.path, memory.raw)
        day = day or datetime.fromtimestamp(memory.mtime).astimezone().date()
        try:
            relative = [item for item in relative_dates(memory.body, day) if not item.is_state]
        except (OverflowError, ValueError):  # a year that no calendar has
            continue
        for relative_date in relative:
            facts = {"proposed": relative_date.absolute, "written": day.isoformat(), "certain": certain}
            finding = note("memories.date", **facts, end=relative_date.end)
            yield about_words(finding, checked.scope, memory, relative_date.start, relative_date.words)


def _date_facts(checked: Checked) -> str:
    """Return what `dates` depends on: the memories, their commits, and which day a time is on."""
    return repr((checked.facts, checked.repository and checked.repository.facts, time.tzname))


def written(memory: Memory) -> tuple[date | None, bool]:
    """Return the last day that a memory's own fields name as its day of writing, and whether they name only one."""
    times = [clock_hot.parse(text_of(memory.fields, key)) for key in WRITTEN]
    days = {datetime.fromtimestamp(time, UTC).date() for time in times if time is not None}
    return (max(days), len(days) == 1) if days else (None, False)


def gone(checked: Checked) -> Iterator[Finding]:
    """Find what memories name that is gone from the project; nothing without a repository."""
    project = checked.project
    if project is None or not any("`" in memory.body for memory in checked.memories) or not project.git.there:
        return
    names: dict[str, list[tuple[Memory, int]]] = {}
    places: list[tuple[str, Memory, int]] = []
    for memory in checked.memories:
        for start, span in _spans(checked, memory):
            if project.git.head and (path := _path(project, span)):
                places.append((path, memory, start + span.index(path)))
            yield from _command(checked, project, memory, start, span)
            if symbol := SYMBOL.match(span):
                names.setdefault(symbol["name"], []).append((memory, start + symbol.start("name")))
    ignored = project.git.ignored({path for path, *_ in places})
    removed = {path: project.removed(path) for path, *_ in places if path not in ignored}
    lost = project.lost(names)
    commits = project.git.described({*lost.values(), *(commit for commit, _ in removed.values() if commit)})
    for path, memory, start in places:
        commit, now = removed.get(path, ("", ""))
        if commit and not _past(project, memory.body, start):
            finding = problem("memories.path", proposed=now, certain=bool(now), commit=commits.get(commit, ""))
            yield about_words(finding, checked.scope, memory, start, path)
    for name in filter(lost.__contains__, names):
        for memory, start in (place for place in names[name] if not _past(project, place[0].body, place[1])):
            finding = note("memories.symbol", commit=commits.get(lost[name], ""))
            yield about_words(finding, checked.scope, memory, start, name)
            break
    if not project.is_sure:
        checked.answers.doubt()


def _gone_facts(checked: Checked) -> str:
    """Return what `gone` depends on: the memories, the project's files and history, and which paths are there."""
    project = checked.project
    if project is None or not project.git.there:
        return checked.facts
    spans = {span for memory in checked.memories for _, span in _spans(checked, memory)}
    absent = sorted(filter(None, (_path(project, span) for span in spans)))
    return f"{checked.facts}{project.state}{absent}"


def _spans(checked: Checked, memory: Memory) -> list[tuple[int, str]]:
    """Return the code spans of a memory's body outside of fences, each with its place."""

    def find() -> list[tuple[int, str]]:
        fences = [range(*match.span()) for match in CODE.finditer(memory.body) if match["fence"]]
        spans = SPAN.finditer(memory.body) if "`" in memory.body else ()
        return [(span.start(1), span[1]) for span in spans if not any(span.start() in fence for fence in fences)]

    spans: list[tuple[int, str]] = checked.answers.of("spans", memory.raw, find)
    return spans


def _past(project: ProjectFiles, body: str, start: int) -> bool:
    """Tell whether a code span's line is of the past, of another repository, or forbids, but for what is to do now."""
    begin = body.rfind("\n", 0, start) + 1
    line, at = body[begin:].partition("\n")[0], start - begin
    plain = SPAN.sub(lambda span: f"`{'x' * len(span[1])}`", line)
    elsewhere = ELSEWHERE.search(plain)
    if elsewhere and os.path.basename(project.top) not in elsewhere[0]:
        return True
    if not PAST.search(plain) and not FORBIDS.search(plain):
        return False
    ends = [0, *(match.end() for match in coverage.END.finditer(plain)), len(plain)]
    first, last = max(end for end in ends if end <= at), min(end for end in ends if end > at)
    own, others = plain[first:last], f"{plain[:first]} {plain[last:]}"
    if PAST.search(others):
        return True
    if WITHOUT.search(plain[first:at]):
        return PAST.search(own) is not None
    return not TO_DO.match(own) or FORBIDS.search(own) is not None or PAST.search(AHEAD.sub("` ", own)) is not None


def _path(project: ProjectFiles, span: str) -> str:
    """Return the path that a code span names and the project lacks; empty if none."""
    match = PATH.fullmatch(span)
    path = match[1] if match else ""
    if not path or ".." in path.split("/") or not ("/" in path.strip("/") or SUFFIX.search(path)):
        return ""
    return "" if project.exists(path) else path


def _command(checked: Checked, project: ProjectFiles, memory: Memory, start: int, span: str) -> Iterator[Finding]:
    for pattern, attribute, file in ((SCRIPT, "scripts", "package.json"), (TARGET, "targets", "Makefile")):
        match = pattern.fullmatch(span)
        names = getattr(project, attribute) if match else None
        is_missing = match and names is not None and match["name"] not in names
        if match and is_missing and not _past(project, memory.body, start):
            finding = problem("memories.command", file=file, name=match["name"])
            yield about_words(finding, checked.scope, memory, start, span)


def use(checked: Checked) -> Iterator[Finding]:
    """Find memories that were corrected again after a delivery, in scopes that memtui's hooks deliver."""
    scope, usage = checked.scope, checked.usage
    if usage is None or not scope.delivered:
        return
    for memory in checked.memories:
        # The log has the path with symlinks resolved, or not.
        counts = usage.recalled(memory.path) or usage.recalled(os.path.realpath(memory.path))
        if counts.corrected:
            finding = note("memories.violated", count=counts.corrected, last=counts.corrected_last)
            yield about(finding, scope, memory)


CHECKS = (
    Check(("memories.date",), of_scope=dates, facts=_date_facts),
    Check(("memories.path", "memories.command", "memories.symbol"), of_scope=gone, facts=_gone_facts),
    Check(("memories.violated",), of_scope=use),
)
