"""All findings on some memories, the worst first: those that doctor knows and those that only lint looks for.

Nothing is written. A directory that is given by its path needs no memtui: no hooks, no log, no home.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memtui.consolidate import checks, overlap
from memtui.consolidate.checks import Checked
from memtui.consolidate.overlap import Known
from memtui.consolidate.project import ProjectFiles, Repository
from memtui.core.base import paths
from memtui.core.base.errors import NotFoundError, UsageError
from memtui.core.base.finding import OK, PROBLEM, Finding
from memtui.core.base.shell import shell_word
from memtui.core.health import content_checks, index_checks, index_fit, memory_checks
from memtui.core.health.memory_kinds import KINDS
from memtui.core.journal.own_files import Pair
from memtui.core.memories import scopes
from memtui.core.memories.index import normal
from memtui.core.memories.index_state import index_of
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.core.memories.status import Usage
from memtui.core.places import locate

# So many lines without files may be gone from any index.
FEW_LINES = 5
AGENTS = ("agent-memory", "agent-memory-local")
ORDER = {code: number for number, code in enumerate(KINDS)}


@dataclass
class LintInput:
    """What is checked: `scopes`, and the instructions that sessions get beside them. `root` is memtui's directory,
    empty where there is no home; `usage` the deliveries, None if they are not to be looked at; `apart` the pairs
    that a person called different; `now` in seconds since the epoch. `own` are those of the scopes, by label, that are
    the person's, where commands know the memories and changes are journaled.
    `memories` are filled in by `check`, by path."""

    scopes: list[Scope]
    instructions: list[Scope]
    now: float
    root: str = ""
    usage: Usage | None = None
    apart: set[Pair] = field(default_factory=set)
    own: dict[str, Scope] = field(default_factory=dict)
    memories: dict[str, Memory] = field(default_factory=dict)

    def with_scopes(self, more: Iterable[Scope]) -> "LintInput":
        """Return the subject with scopes that it does not have yet, such as those of another project."""
        added = {each.label: each for each in more if each.label not in self.own}
        return replace(self, scopes=[*self.scopes, *added.values()], own=self.own | added)


def here(env: dict[str, str], cwd: str, root: str, now: float, usage: Usage, apart: set[Pair]) -> LintInput:
    """Return all scopes of a working directory as a subject."""
    every = scopes.discover(env, cwd)
    own = [each for each in every if each.kind != "instructions"]
    instructions = [each for each in every if each.kind == "instructions"]
    return LintInput(own, instructions, now, root, usage, apart, {each.label: each for each in own})


def at(
    path: str, cwd: str, now: float, root: str = "", apart: Collection[Pair] = (), known: Sequence[Scope] = ()
) -> LintInput:
    """Return the memories below a path as a subject: a directory of memories, or a project with some in `.claude`.
    `root`, `apart` and `known`, the person's scopes, are empty where there is no home.

    Raises NotFoundError, UsageError.
    """
    top = paths.normal(paths.join(cwd, path))
    if not os.path.lexists(top):
        raise NotFoundError(f"There is no directory {path}.", "Give a directory of memories, or a project.")
    if not os.path.isdir(top):
        raise UsageError(
            f"{path} is a file.", f"Give its directory: memtui check {shell_word(os.path.dirname(path) or '.')}"
        )
    own = {os.path.realpath(each.directory): each for each in known if each.exists and each.kind != "instructions"}
    chosen = []
    for directory in _directories(top):
        mine = own.get(os.path.realpath(directory))
        # In a checkout, as in CI, nobody has trusted anything yet: what is in the index has nothing to do with that.
        chosen.append(_scope(directory, cwd) if mine is None else mine if mine.trusted else replace(mine, kind="auto"))
    labels, roots = {each.label for each in chosen}, dict.fromkeys(each.root_path for each in chosen)
    guides = [scopes.project_instructions(each, each) for each in roots if each]
    mine_too = {each.label: each for each in own.values() if each.label in labels}
    return LintInput(chosen, [each for each in guides if each.files], now, root, None, set(apart), mine_too)


def _directories(top: str) -> list[str]:
    """List the directories of memories that a path means."""
    if os.path.basename(top) in AGENTS:
        return [f"{top}/{name}" for name in _below(top)]
    claude = top if os.path.basename(top) == ".claude" else f"{top}/.claude"
    of_agents = [f"{claude}/{agents}/{name}" for agents in AGENTS for name in _below(f"{claude}/{agents}")]
    places = [each for each in (f"{claude}/memory", *of_agents) if os.path.isdir(each)]
    is_project = os.path.lexists(f"{top}/.git") or os.path.isdir(f"{top}/.claude") or top == claude
    return places or ([] if is_project else [top])


def _below(directory: str) -> list[str]:
    try:
        return sorted(each.name for each in os.scandir(directory) if each.is_dir() and not each.name.startswith("."))
    except OSError:
        return []


def _scope(directory: str, cwd: str) -> Scope:
    """Return a directory as a scope, named by its path. It needs no trust: a person said what to check."""
    is_agent = os.path.basename(os.path.dirname(directory)) in AGENTS
    shown = os.path.relpath(directory, cwd)
    top = locate.worktree_top(directory)
    inside = paths.parent(paths.parent(directory)) if directory.endswith(locate.IN_REPOSITORY) else None
    root = top if os.path.lexists(f"{top}/.git") else inside
    problem = locate.LEAVES_REPOSITORY if root and not paths.inside(root, directory) else ""
    label = directory if shown.startswith("..") else shown
    return Scope("agent" if is_agent else "auto", label, directory, root, problem=problem, writable=not problem)


def check(subject: LintInput, go_on: Callable[[], bool] = lambda: True) -> list[Finding]:
    """Find everything, problems first, then by how bad it is. `go_on` is asked before each memory is read and checked;
    False ends the check without a finding."""
    found: list[Finding] = []
    known: list[Known] = []
    projects: dict[str, ProjectFiles] = {}
    for scope in subject.scopes:
        if not go_on():
            break
        memories = dict(subject.memories)
        known_to_all = content_checks.memories(subject.root, scope, memories, go_on, subject.scopes)
        found += [each._replace(data={**_where(subject, scope, memories, each), **each.data}) for each in known_to_all]
        if scope.problem or not scope.exists:
            continue
        own = [each for each in memories.values() if each.scope_label == scope.label]
        subject.memories.update(memories)
        known += [Known(scope, each) for each in own]
        found += _of_scope(subject, scope, own, projects, go_on)
    if go_on():
        instructions = [each for scope in subject.instructions for each in scopes.memories(scope)]
        found += overlap.of_memories(subject.root, known, subject.apart, go_on)
        found += overlap.repeating(known, instructions, go_on)
    return sorted((each for each in found if each.level != OK), key=_rank) if go_on() else []


def _rank(found: Finding) -> tuple[bool, int, str, int]:
    """Return the key that sorts problems first, then as the registry has their codes, then by file and line."""
    return (found.level != PROBLEM, ORDER.get(found.code, 0), *place(found))


def _where(subject: LintInput, scope: Scope, memories: Mapping[str, Memory], found: Finding) -> dict[str, object]:
    """Return the path of the index for a finding on it, and whether what can be done about it is certain: its fix has
    to help, and where most files are not there, they are elsewhere, and not gone."""
    if not found.subject.startswith("index:"):
        return {}
    where: dict[str, object] = {"path": scope.index_path}
    index = index_of(scope)
    if index is not None and found.code == "memories.cut":
        own = by_file(scope, memories.values())
        fitted = index_fit.fit(scope, index.raw, own, index_fit.uses_of(scope, subject.usage))
        where["certain"] = fitted.data != index.raw
    if index is not None and found.code == "memories.dangling":
        files = found.data["files"]
        where["certain"] = isinstance(files, list) and len(files) <= max(FEW_LINES, len(index.entries) // 2)
    return where


def by_file(scope: Scope, memories: Iterable[Memory]) -> dict[str, Memory]:
    """Return the memories of a scope by their normal path in it."""
    own = (each for each in memories if each.scope_label == scope.label)
    return {normal(os.path.relpath(each.path, scope.directory)): each for each in own}


def _of_scope(
    subject: LintInput,
    scope: Scope,
    own: Sequence[Memory],
    projects: dict[str, ProjectFiles],
    go_on: Callable[[], bool],
) -> Iterator[Finding]:
    index = index_of(scope)
    if index is not None:
        yield from index_checks.of_index(scope, index, by_file(scope, own))
    yield from memory_checks.of_memories(scope, own, subject.now, go_on)
    top = locate.worktree_top(scope.directory)
    repository = Repository(top) if os.path.lexists(f"{top}/.git") else None
    project = projects.setdefault(scope.root_path, ProjectFiles(scope.root_path)) if scope.root_path else None
    whole, known = [each for each in own if each.broken is None], subject.memories
    yield from checks.of_scope(Checked(subject.root, scope, whole, known, project, repository, subject.usage, go_on))


def place(found: Finding) -> tuple[str, int]:
    """Return the file that a finding is about, empty if none, and its line from 1, 0 for the whole file."""
    kind, _, rest = found.subject.partition(":")
    path = found.data.get("path") or (rest if kind == "memory" else "")
    line = found.data.get("line")
    return str(path), line if isinstance(line, int) else 0
