"""The fixes that need no decision, of what lint finds: no statement is dropped, only what is certain replaced."""

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from memtui.base import findings, fs_hot
from memtui.base.errors import MemtuiError
from memtui.base.finding import Finding
from memtui.base.findings import Problem, message
from memtui.base.storage import read_or_none, storing
from memtui.client.locate_hot import TEAM
from memtui.store import memory, references
from memtui.store.index import index_lines
from memtui.store.index.index import budget, normal, parse_index
from memtui.store.index.index_state import IndexState
from memtui.store.memory import Memory
from memtui.store.plan import FileDiff, is_index
from memtui.store.scopes import Scope
from memtui.tidy.changeset import FIXED, Kind, Proposal, evidence_of, propose
from memtui.tidy.checks import index_fit, memory_checks
from memtui.tidy.checks.index_fit import Uses
from memtui.tidy.checks.lint import LintInput, by_file

FIX = "memtui check --fix"
# The most findings that the reason of a change names.
SHOWN = 3
# A fix can make room for another one, but not without end.
ROUNDS = 5


def by_cause(reports: Sequence[Finding]) -> list[Problem]:
    """Return the problems that findings of `lint.check` tell of, in their order."""
    return findings.by_cause(reports, fixable, to_type)


def to_type(finding: Finding) -> str:
    """Return what to type about a finding on the person's own memories; empty if there is nothing to do."""
    if fixable(finding):
        return FIX
    remedy = findings.remedy(finding)
    return remedy.partition(", or ")[2] if remedy.startswith(FIX) else remedy


def fixable(finding: Finding) -> bool:
    """Tell whether `plan` would fix a finding; what a team shares is left alone, since others would get the change."""
    is_shared = str(finding.data.get("scope")).partition(":")[0] == TEAM
    is_known = bool(finding.data.get("certain", True)) and finding.data.get("proposed", True) != ""
    return finding.code in FIXED and is_known and not is_shared


def plan(subject: LintInput, findings: Sequence[Finding]) -> list[Proposal]:
    """Propose the fixes for what lint found on a subject, one for each file."""
    scopes = [scope for scope in subject.scopes if scope.writable and not scope.problem]
    return [fix for scope in scopes for fix in _of_scope(subject, scope, findings)]


def _of_scope(subject: LintInput, scope: Scope, findings: Sequence[Finding]) -> list[Proposal]:
    by_path: defaultdict[str, list[Finding]] = defaultdict(list)
    for item in findings:
        if fixable(item):
            by_path[str(item.data.get("path"))].append(item)
    fixes: list[Proposal] = []
    # The index last: its lines are compared with the memories as they will be.
    for path, those in sorted(by_path.items(), key=lambda item: (item[0] == scope.index_path, item[0])):
        if not path.startswith(scope.directory + "/") or os.path.islink(path):
            continue
        try:
            before, words = read_or_none(references.real_path(scope, path)), ""
            if path == scope.index_path:
                files = [file for fix in fixes for file in fix.files]
                fixed = [memory.from_bytes(file.path, scope.label, file.after or b"") for file in files]
                memories = by_file(scope, subject.memories.values()) | by_file(scope, fixed)
                uses = index_fit.uses_of(scope, subject.usage)
                after, words = _index_after(subject.root, scope, those, memories, uses)
            elif before is None:
                continue
            else:
                after = _memory_after(before, those)
        except (OSError, MemtuiError):
            continue
        if after != before:
            kind: Kind = "relink" if is_index(path) else "rewrite"
            reason = " ".join(filter(None, [*map(message, those[:SHOWN]), words]))
            fixes.append(propose(kind, [FileDiff(path, before, after)], map(evidence_of, those), reason))
    return fixes


def _memory_after(data: bytes, findings: Sequence[Finding]) -> bytes:
    """Return a memory's content with its findings fixed. Raises MemtuiError for frontmatter that can't be changed."""
    mem = memory.from_bytes("", "", data)
    body = mem.body
    texts: list[dict[str, Any]] = [dict(fact.data) for fact in findings if "start" in fact.data]
    for facts in sorted(texts, key=lambda fact: -fact["start"]):
        start, words = facts["start"], facts["words"]
        if body[start : start + len(words)] == words:
            body = body[:start] + facts["proposed"] + body[start + len(words) :]
    fields = {str(fact.data["field"]): str(fact.data["proposed"]) for fact in findings if "field" in fact.data}
    if body != mem.body:
        fields["body"] = body
    return memory.with_fields(mem, fields) if fields else data


def _index_after(
    root: str, scope: Scope, findings: Sequence[Finding], memories: Mapping[str, Memory], uses: Uses
) -> tuple[bytes, str]:
    """Return MEMORY.md with its findings fixed, and in words how it gets under its limit."""
    data = read_or_none(scope.index_path) or b""
    codes = {finding.code for finding in findings}
    # What was there before, and is not to be fixed, stays.
    is_whole = budget(data, agent=scope.kind == "agent").cut_line is None
    left = {each.code for each in memory_checks.of_index(scope, parse_index(data), memories) if fixable(each)} - codes
    words = ""
    for _ in range(ROUNDS):
        after = _once(root, scope, data, findings, memories)
        if "memories.cut" in codes or (is_whole and after != data):
            fitted = index_fit.fit(scope, after, memories, uses)
            after, words = fitted.data, words or fitted.words
        again = memory_checks.of_index(scope, parse_index(after), memories)
        findings = [finding for finding in again if fixable(finding) and finding.code not in left]
        if not findings or after == data:
            break
        data = after
    return after, words


def _once(root: str, scope: Scope, data: bytes, findings: Sequence[Finding], memories: Mapping[str, Memory]) -> bytes:
    codes = {finding.code for finding in findings}
    state = IndexState(root, scope, parse_index(data))
    if codes & {"memories.no_line", "memories.no_index"}:
        # Before any line goes: those that go tell where the new one belongs.
        data = _with_missing(state, data, memories)
    if "memories.dangling" in codes:
        data = _without_dangling(state, data)
    for finding in findings:
        facts: dict[str, Any] = dict(finding.data)
        if finding.code == "memories.same_line":
            data = index_lines.combine_repeated(data, facts["words"], facts["proposed"])
        if finding.code == "memories.long_hook":
            data = index_lines.set_hook(data, facts["file"], facts["proposed"], facts["words"], exact=True)
    # A section whose last line is gone is empty now.
    if codes & {"memories.empty_section", "memories.same_line"}:
        data = index_lines.remove_empty_sections(data)
    return data


def _without_dangling(state: IndexState, data: bytes) -> bytes:
    """Return an index without the lines of files that are not there. A section that lost its last line goes."""
    targets = [entry.target for entry in state.dangling if entry.leads]
    for target in targets:
        data = index_lines.remove_line(data, target)
    return index_lines.remove_empty_sections(data) if targets else data


def _with_missing(state: IndexState, data: bytes, memories: Mapping[str, Memory]) -> bytes:
    """Return an index with lines for memories without one, at the end where they would push others below the cut."""
    agent, change = state.scope.kind == "agent", partial(_without_dangling, state)
    listed = ((name, memories.get(normal(name))) for name in state.missing)  # None: removed since it was listed
    lines = [(name, mem.name, mem.description, mem.type) for name, mem in listed if mem is not None]
    for at, (name, title, hook, kind) in enumerate(lines, 1):
        data = index_lines.place_line(data, name, title, hook, kind=kind, agent=agent, view=change)
        if at < len(lines) and index_lines.is_below(data, name, agent):  # so are those that come after it
            return index_lines.append_lines(data, [line[:3] for line in lines[at:]])
    return data


def make(fixes: Iterable[Proposal]) -> list[Proposal]:
    """Make fixes where nothing else is written; return those whose file is as it was read. Raises MemtuiError."""
    current = [fix for fix in fixes if fix.is_current]
    for file in (file for fix in current for file in fix.written):
        with storing(file.path):
            fs_hot.write_atomic(os.path.realpath(file.path), file.after or b"")
    return current
