"""All findings on some memories, worst first. Nothing is written; a directory given by its path needs no home."""

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memtui.base import paths_hot
from memtui.base.errors import NotFoundError, UsageError
from memtui.base.finding import OK, PROBLEM, Finding, note
from memtui.base.findings import OF_MEMORIES
from memtui.base.shell import shell_word
from memtui.client import locate_hot
from memtui.store import scopes
from memtui.store.index.index import normal
from memtui.store.index.index_state import index_of
from memtui.store.journal.own_files import Pair
from memtui.store.memory import Memory
from memtui.store.scopes import Scope
from memtui.store.status import Usage
from memtui.tidy.checks import doctor, index_fit, memory_checks, rule_steps, stale, unused, verification
from memtui.tidy.checks.answers import Answers
from memtui.tidy.checks.check import Check, Checked, about, facts, findings_of
from memtui.tidy.checks.project_files import ProjectFiles, top_of
from memtui.tidy.checks.repository import Repository

# So many lines without files may be gone from any index.
FEW_LINES = 5
AGENTS = ("agent-memory", "agent-memory-local")
ORDER = {code: number for number, code in enumerate(OF_MEMORIES)}


@dataclass
class LintInput:
    """What is checked: `scopes`; `own` are the person's, by label. `root` is empty where there is no home, `usage` None
    where deliveries are not looked at; `apart`: pairs kept apart; `known`: as read before; `check` sets `memories`."""

    scopes: list[Scope]
    now: float
    root: str = ""
    usage: Usage | None = None
    apart: set[Pair] = field(default_factory=set)
    own: dict[str, Scope] = field(default_factory=dict)
    known: Mapping[str, Memory] = field(default_factory=dict)
    memories: dict[str, Memory] = field(default_factory=dict)

    def scope_of(self, path: str) -> Scope:
        """Return the innermost scope with a file."""
        around = (scope for scope in self.scopes if path.startswith(scope.directory + "/"))
        return max(around, key=lambda scope: len(scope.directory))

    def with_scopes(self, more: Iterable[Scope]) -> "LintInput":
        """Return the subject with scopes that it does not have yet, such as those of another project."""
        added = {scope.label: scope for scope in more if scope.label not in self.own}
        return replace(self, scopes=[*self.scopes, *added.values()], own=self.own | added)


def here(env: dict[str, str], cwd: str, root: str, now: float, usage: Usage, apart: set[Pair]) -> LintInput:
    """Return all scopes of a working directory as a subject."""
    own = [scope for scope in scopes.discover(env, cwd) if scope.kind != "instructions"]
    return LintInput(own, now, root, usage, apart, {scope.label: scope for scope in own})


def at(
    path: str, cwd: str, now: float, root: str = "", apart: Collection[Pair] = (), places: Sequence[Scope] = ()
) -> LintInput:
    """Return the memories below a path, a directory or project, as a subject. Raises NotFoundError, UsageError."""
    top = paths_hot.normal(paths_hot.join(cwd, path))
    if not os.path.lexists(top):
        raise NotFoundError(f"There is no directory {path}.", "Give a directory of memories, or a project.")
    if not os.path.isdir(top):
        hint = f"Give its directory: memtui check {shell_word(os.path.dirname(path) or '.')}"
        raise UsageError(f"{path} is a file.", hint)
    own = {os.path.realpath(each.directory): each for each in places if each.exists and each.kind != "instructions"}
    chosen = []
    for directory in _directories(top):
        mine = own.get(os.path.realpath(directory))
        # In a checkout, as in CI, nobody has trusted anything yet: what is in the index has nothing to do with that.
        chosen.append(_scope(directory, cwd) if mine is None else mine if mine.trusted else replace(mine, kind="auto"))
    labels = {scope.label for scope in chosen}
    mine_too = {scope.label: scope for scope in own.values() if scope.label in labels}
    return LintInput(chosen, now, root, None, set(apart), mine_too)


def _directories(top: str) -> list[str]:
    """List the directories of memories that a path means."""
    if os.path.basename(top) in AGENTS:
        return [f"{top}/{name}" for name in scopes.directories_below(top)]
    claude = top if os.path.basename(top) == ".claude" else f"{top}/.claude"
    homes = [f"{claude}/{agents}" for agents in AGENTS]
    of_agents = [f"{home}/{name}" for home in homes for name in scopes.directories_below(home)]
    places = [directory for directory in (f"{claude}/memory", *of_agents) if os.path.isdir(directory)]
    is_project = os.path.lexists(f"{top}/.git") or os.path.isdir(f"{top}/.claude") or top == claude
    return places or ([] if is_project else [top])


def _scope(directory: str, cwd: str) -> Scope:
    """Return a directory as a scope, named by its path. It needs no trust: a person said what to check."""
    is_agent = os.path.basename(os.path.dirname(directory)) in AGENTS
    shown = os.path.relpath(directory, cwd)
    top = locate_hot.worktree_top(directory)
    inside = paths_hot.parent(paths_hot.parent(directory)) if directory.endswith(locate_hot.IN_REPOSITORY) else None
    root = top if os.path.lexists(f"{top}/.git") else inside
    problem = locate_hot.LEAVES_REPOSITORY if root and not paths_hot.inside(root, directory) else ""
    label = directory if shown.startswith("..") else shown
    return Scope("agent" if is_agent else "auto", label, directory, root, problem=problem, writable=not problem)


class _StoppedError(Exception):
    """The check is no longer wanted."""


class _Watched(list[Memory]):
    """Memories that raise _StoppedError when they are gone through and `go_on`, asked before each, returns False."""

    def __init__(self, memories: Iterable[Memory], go_on: Callable[[], bool]) -> None:
        self._go_on = go_on
        super().__init__(self._each(memories))

    def __iter__(self) -> Iterator[Memory]:
        return self._each(super().__iter__())

    def _each(self, memories: Iterable[Memory]) -> Iterator[Memory]:
        for memory in memories:
            if not self._go_on():
                raise _StoppedError
            yield memory


def check(subject: LintInput, go_on: Callable[[], bool] = lambda: True) -> list[Finding]:
    """Find everything, the worst first. `go_on` is asked before each memory; False ends it without a finding."""
    try:
        reports = [finding for finding in _reports(subject, go_on) if finding.level != OK]
    except _StoppedError:
        return []
    # Problems first, then as the registry has their codes, then by file and line.
    return sorted(reports, key=lambda report: (report.level != PROBLEM, ORDER.get(report.code, 0), *place(report)))


def _reports(subject: LintInput, go_on: Callable[[], bool]) -> Iterator[Finding]:
    places = hashlib.blake2b(repr([scope.directory for scope in subject.scopes]).encode(), digest_size=8).hexdigest()
    home = subject.root if os.path.isdir(subject.root) else ""
    answers = Answers(home and f"{home}/run/lint-{places}")
    every: list[Memory] = []
    projects: dict[str, ProjectFiles] = {}
    for scope in subject.scopes:
        if scope.problem or not scope.exists:
            yield from doctor.memories(subject.root, scope, ())
            continue
        own = _Watched(scopes.memories(scope, dict(subject.known)), go_on)
        every += own
        top = locate_hot.worktree_top(scope.directory)
        path = top_of(scope)
        project = projects.setdefault(path, ProjectFiles(path, home, go_on)) if path else None
        is_own = project is not None and project.top == top
        git = project.git if project and is_own else Repository(top, go_on)
        repository = git if os.path.lexists(f"{top}/.git") else None
        whole = _Watched((memory for memory in own if memory.broken is None), go_on)
        checked = Checked(scope, whole, project, repository, subject.usage, own, subject.now, subject.root, answers)
        yield from (finding for check in CHECKS for finding in check.findings(checked))
    subject.memories.update({memory.path: memory for memory in every})
    whole = _Watched([memory for memory in every if memory.broken is None], go_on)
    on = repr((facts(subject.scopes, whole), sorted(map(sorted, subject.apart))))
    yield from findings_of(answers, "alike", on, lambda: _overlapping(subject, whole))
    answers.save()


def _everywhere(checked: Checked) -> Iterator[Finding]:
    """Find what every door tells of; on an index with its path, and whether the fix is certain to help."""
    scope, index = checked.scope, index_of(checked.scope)
    for finding in doctor.memories(checked.root, scope, checked.every):
        where: dict[str, object] = {"path": scope.index_path} if finding.subject.startswith("index:") else {}
        if index is not None and finding.code == "memories.cut":
            uses = index_fit.uses_of(scope, checked.usage)
            where["certain"] = index_fit.fit(scope, index.raw, by_file(scope, checked.every), uses).data != index.raw
        if index is not None and finding.code == "memories.dangling":
            dangling = finding.data["files"]
            where["certain"] = isinstance(dangling, list) and len(dangling) <= max(FEW_LINES, len(index.entries) // 2)
        yield finding._replace(data={**where, **finding.data})


def _in_index(checked: Checked) -> Iterator[Finding]:
    if (index := index_of(checked.scope)) is not None:
        yield from memory_checks.of_index(checked.scope, index, by_file(checked.scope, checked.every))


def _index_facts(checked: Checked) -> str:
    index = index_of(checked.scope)
    return f"{checked.facts}{index and index.raw!r}"


def by_file(scope: Scope, memories: Iterable[Memory]) -> dict[str, Memory]:
    top = scope.directory.rstrip("/") + "/"
    own = (memory for memory in memories if memory.scope_label == scope.label and memory.path.startswith(top))
    return {normal(os.path.relpath(memory.path, scope.directory)): memory for memory in own}


def _overlapping(subject: LintInput, memories: Sequence[Memory]) -> Iterator[Finding]:
    """Find pairs of memories that are alike or contradict each other, except for those kept apart."""
    from memtui.tidy import contradictions, similar_memories  # its patterns take a while

    apart = set(subject.apart)
    for mine, theirs in contradictions.find(memories):
        pair = frozenset((mine.memory.path, theirs.memory.path))
        if pair not in apart:
            apart.add(pair)
            facts = {"words": mine.words, "against": theirs.words}
            yield _of_two(subject, "memories.contradict", mine.memory, theirs.memory, **facts)
    for one, other, score, shared in similar_memories.pairs(memories):
        if len({one.path, other.path}) < 2 or frozenset((one.path, other.path)) in apart:
            continue
        difference = contradictions.difference(one, other)
        if difference is None:
            why = "" if one.scope_label == other.scope_label else "they are in different scopes"
            alike = {"score": round(100 * score), "shared": list(shared), "why": why}
            yield _of_two(subject, "memories.alike", one, other, **alike)
        elif not difference.both_hold:
            facts = {"words": difference.one, "against": difference.other}
            yield _of_two(subject, "memories.contradict", one, other, **facts)


def _of_two(subject: LintInput, code: str, one: Memory, other: Memory, **facts: object) -> Finding:
    scope = subject.scope_of(other.path)
    finding = note(code, other=f"{scope.shown}:{other.stem}", other_path=other.path, **facts)
    return about(finding, subject.scope_of(one.path), one)


def place(finding: Finding) -> tuple[str, int]:
    """Return the file that a finding is about, empty if none, and its line from 1, 0 for the whole file."""
    kind, _, rest = finding.subject.partition(":")
    path = finding.data.get("path") or (rest if kind == "memory" else "")
    line = finding.data.get("line")
    return str(path), line if isinstance(line, int) else 0


_OF_INDEX = ("memories.same_line", "memories.empty_section", "memories.long_hook")
# All checks of a scope's memories; what compares those of all scopes is `_overlapping`.
CHECKS = (
    Check(doctor.CODES, of_scope=_everywhere),
    Check(_OF_INDEX, of_scope=_in_index, facts=_index_facts),
    *(*memory_checks.CHECKS, *stale.CHECKS, *verification.CHECKS, *unused.CHECKS, *rule_steps.CHECKS),
)
