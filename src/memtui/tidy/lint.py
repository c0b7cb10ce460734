"""All findings on some memories, worst first. Nothing is written; a directory given by its path needs no home."""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import NamedTuple

from memtui.base import paths
from memtui.base.errors import NotFoundError, UsageError
from memtui.base.finding import OK, PROBLEM, Finding, note
from memtui.base.memory_kinds import KINDS
from memtui.base.shell import shell_word
from memtui.client import locate
from memtui.store import scopes
from memtui.store.index.index import normal
from memtui.store.index.index_state import index_of
from memtui.store.journal.own_files import Pair
from memtui.store.memory import CODE, Memory, flat
from memtui.store.scopes import Scope
from memtui.store.status import Usage
from memtui.tidy import contradictions, similarity, stale
from memtui.tidy.checks import doctor, index_fit, memory_checks
from memtui.tidy.project import ProjectFiles, Repository
from memtui.tidy.stale import Checked

# So many lines without files may be gone from any index.
FEW_LINES = 5
AGENTS = ("agent-memory", "agent-memory-local")
ORDER = {code: number for number, code in enumerate(KINDS)}
# The least share (of 1) of their words that both of a pair have and that is worth a person's time: of 400 memories of
# one project, the 14 pairs above it were about one thing each, and below 0.41 hubs and lists began, which share a form.
ALIKE = 0.45
# A memory repeats instructions if so much of its words stands in one place there, and it has at least so many.
REPEATED, WORDS = 0.9, 6
# The fields with the commands that a memory forbids.
FORBIDS = {"forbids", "metadata.forbids"}
PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)])\s)")


class Known(NamedTuple):
    """A memory and its scope."""

    scope: Scope
    memory: Memory

    @property
    def ref(self) -> str:
        return f"{self.scope.shown}:{self.memory.stem}"


@dataclass
class LintInput:
    """What is checked: `scopes`, and the `instructions` that sessions get beside them; `own` are the person's, by
    label. `root` is empty where there is no home, `usage` None where deliveries are not looked at; `apart`: pairs that
    a person called different; `known`: memories as read before, by path. `check` fills in `memories`, by path."""

    scopes: list[Scope]
    instructions: list[Scope]
    now: float
    root: str = ""
    usage: Usage | None = None
    apart: set[Pair] = field(default_factory=set)
    own: dict[str, Scope] = field(default_factory=dict)
    known: Mapping[str, Memory] = field(default_factory=dict)
    memories: dict[str, Memory] = field(default_factory=dict)

    def scope_of(self, path: str) -> Scope:
        """Return the innermost scope with a file."""
        return max(
            (scope for scope in self.scopes if path.startswith(scope.directory + "/")),
            key=lambda scope: len(scope.directory),
        )

    def with_scopes(self, more: Iterable[Scope]) -> "LintInput":
        """Return the subject with scopes that it does not have yet, such as those of another project."""
        added = {scope.label: scope for scope in more if scope.label not in self.own}
        return replace(self, scopes=[*self.scopes, *added.values()], own=self.own | added)


def here(env: dict[str, str], cwd: str, root: str, now: float, usage: Usage, apart: set[Pair]) -> LintInput:
    """Return all scopes of a working directory as a subject."""
    every = scopes.discover(env, cwd)
    own = [scope for scope in every if scope.kind != "instructions"]
    instructions = [scope for scope in every if scope.kind == "instructions"]
    return LintInput(own, instructions, now, root, usage, apart, {scope.label: scope for scope in own})


def at(
    path: str, cwd: str, now: float, root: str = "", apart: Collection[Pair] = (), places: Sequence[Scope] = ()
) -> LintInput:
    """Return the memories below a path, a directory or project, as a subject. Raises NotFoundError, UsageError."""
    top = paths.normal(paths.join(cwd, path))
    if not os.path.lexists(top):
        raise NotFoundError(f"There is no directory {path}.", "Give a directory of memories, or a project.")
    if not os.path.isdir(top):
        raise UsageError(
            f"{path} is a file.", f"Give its directory: memtui check {shell_word(os.path.dirname(path) or '.')}"
        )
    own = {os.path.realpath(each.directory): each for each in places if each.exists and each.kind != "instructions"}
    chosen = []
    for directory in _directories(top):
        mine = own.get(os.path.realpath(directory))
        # In a checkout, as in CI, nobody has trusted anything yet: what is in the index has nothing to do with that.
        chosen.append(_scope(directory, cwd) if mine is None else mine if mine.trusted else replace(mine, kind="auto"))
    labels, roots = {scope.label for scope in chosen}, dict.fromkeys(scope.root_path for scope in chosen)
    guides = [scopes.project_instructions(other, other) for other in roots if other]
    mine_too = {scope.label: scope for scope in own.values() if scope.label in labels}
    return LintInput(chosen, [scope for scope in guides if scope.files], now, root, None, set(apart), mine_too)


def _directories(top: str) -> list[str]:
    """List the directories of memories that a path means."""
    if os.path.basename(top) in AGENTS:
        return [f"{top}/{name}" for name in _below(top)]
    claude = top if os.path.basename(top) == ".claude" else f"{top}/.claude"
    of_agents = [f"{claude}/{agents}/{name}" for agents in AGENTS for name in _below(f"{claude}/{agents}")]
    places = [directory for directory in (f"{claude}/memory", *of_agents) if os.path.isdir(directory)]
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
    """Find everything, the worst first. `go_on` is asked before each memory; False ends it without a finding."""
    findings: list[Finding] = []
    knowns: list[Known] = []
    projects: dict[str, ProjectFiles] = {}
    for scope in subject.scopes:
        if not go_on():
            break
        memories = dict(subject.known)
        known_to_all = doctor.memories(subject.root, scope, memories, go_on, subject.scopes)
        findings += [
            each._replace(data={**_where(subject, scope, memories, each), **each.data}) for each in known_to_all
        ]
        if scope.problem or not scope.exists:
            continue
        own = [*_of(scope, memories.values())]
        subject.memories.update({memory.path: memory for memory in own})
        knowns += [Known(scope, memory) for memory in own]
        findings += _of_scope(subject, scope, own, projects, go_on)
    if go_on():
        instructions = [memory for scope in subject.instructions for memory in scopes.memories(scope)]
        findings += _overlapping(knowns, subject.apart, go_on)
        findings += _repeating(knowns, instructions, go_on)
    # Problems first, then as the registry has their codes, then by file and line.
    rank: Callable[[Finding], tuple[bool, int]] = lambda finding: (finding.level != PROBLEM, ORDER.get(finding.code, 0))
    return (
        sorted((e for e in findings if e.level != OK), key=lambda each: (*rank(each), *place(each))) if go_on() else []
    )


def _where(subject: LintInput, scope: Scope, memories: Mapping[str, Memory], finding: Finding) -> dict[str, object]:
    """Return the index's path for a finding on it, and whether its fix is certain to help."""
    if not finding.subject.startswith("index:"):
        return {}
    where: dict[str, object] = {"path": scope.index_path}
    index = index_of(scope)
    if index is not None and finding.code == "memories.cut":
        own = by_file(scope, memories.values())
        fitted = index_fit.fit(scope, index.raw, own, index_fit.uses_of(scope, subject.usage))
        where["certain"] = fitted.data != index.raw
    if index is not None and finding.code == "memories.dangling":
        files = finding.data["files"]
        where["certain"] = isinstance(files, list) and len(files) <= max(FEW_LINES, len(index.entries) // 2)
    return where


def by_file(scope: Scope, memories: Iterable[Memory]) -> dict[str, Memory]:
    """Return the memories of a scope by their normal path in it."""
    return {normal(os.path.relpath(memory.path, scope.directory)): memory for memory in _of(scope, memories)}


def _of(scope: Scope, memories: Iterable[Memory]) -> Iterator[Memory]:
    top = scope.directory.rstrip("/") + "/"
    return (memory for memory in memories if memory.scope_label == scope.label and memory.path.startswith(top))


def _of_scope(
    subject: LintInput,
    scope: Scope,
    own: Sequence[Memory],
    projects: dict[str, ProjectFiles],
    go_on: Callable[[], bool],
) -> Iterator[Finding]:
    index = index_of(scope)
    if index is not None:
        yield from memory_checks.of_index(scope, index, by_file(scope, own))
    yield from memory_checks.of_memories(scope, own, subject.now, go_on)
    top = locate.worktree_top(scope.directory)
    repository = Repository(top) if os.path.lexists(f"{top}/.git") else None
    project = projects.setdefault(scope.root_path, ProjectFiles(scope.root_path)) if scope.root_path else None
    whole = [memory for memory in own if memory.broken is None]
    yield from stale.of_scope(Checked(scope, whole, project, repository, subject.usage, go_on))


def _overlapping(
    knowns: Sequence[Known], kept_apart: set[Pair], go_on: Callable[[], bool] = lambda: True
) -> Iterator[Finding]:
    """Find pairs of memories that are alike or contradict each other, except for those kept apart."""
    places = {item.memory.path: item for item in knowns}
    memories = [item.memory for item in knowns if item.memory.broken is None]
    opposed = set()
    for mine, theirs in contradictions.find(takewhile(lambda _: go_on(), memories)):
        pair = frozenset((mine.memory.path, theirs.memory.path))
        if pair not in kept_apart:
            opposed.add(pair)
            one, other = places[mine.memory.path], places[theirs.memory.path]
            yield _of_two("memories.contradict", one, other, words=mine.words, against=theirs.words)
    pairs = [(similarity.of_two(*near[:2]), near) for near in similarity.pairs(memories, least=ALIKE, go_on=go_on)]
    for score, near in sorted(pairs, key=lambda item: -item[0]):
        pair = frozenset((near.one.path, near.other.path))
        if len(pair) < 2 or pair in kept_apart | opposed:
            continue
        apart = contradictions.difference(near.one, near.other)
        one, other = places[near.one.path], places[near.other.path]
        if apart is None:
            why = "" if one.scope.label == other.scope.label else "they are in different scopes"
            facts = {"score": round(100 * score), "share": round(100 * near.share), "shared": list(near.shared)}
            yield _of_two("memories.alike", one, other, **facts, why=why)
        elif not apart.is_date:
            yield _of_two("memories.contradict", one, other, words=apart.one, against=apart.other)


def _of_two(code: str, one: Known, other: Known, **facts: object) -> Finding:
    about = memory_checks.about(one.scope, one.memory)
    return note(code, f"memory:{one.memory.path}", other=other.ref, other_path=other.memory.path, **facts, **about)


def _repeating(
    knowns: Iterable[Known], instructions: Sequence[Memory], go_on: Callable[[], bool] = lambda: True
) -> Iterator[Finding]:
    """Find memories of which the whole statement stands in a file of instructions."""
    places = [(mem, text, similarity.telling(text)) for mem in instructions for text in _paragraphs(mem.body)]
    for scope, memory in takewhile(lambda _: go_on(), knowns if places else ()):
        if memory.broken is not None or FORBIDS & dict(flat(memory.fields)).keys():
            continue  # what forbids commands does more than its words
        # Its description, and the first paragraph: what it says, before why and how.
        first = next((each for each in _paragraphs(memory.body) if not each.lstrip().startswith("#")), "")
        for statement in dict.fromkeys((memory.description, first)):
            own = similarity.telling(statement)
            match = next((other for other in places if len(own & other[2]) >= REPEATED * len(own)), None)
            if len(own) >= WORDS and match is not None:
                facts = {"file": match[0].path, "words": " ".join(match[1].split())[:100]}
                yield note("memories.repeats", f"memory:{memory.path}", **facts, **memory_checks.about(scope, memory))
                break


def _paragraphs(body: str) -> list[str]:
    plain = CODE.sub(lambda code: "\n" if code["fence"] else code[0], body)
    return [paragraph for paragraph in PARAGRAPH.split(plain) if paragraph.strip()]


def place(finding: Finding) -> tuple[str, int]:
    """Return the file that a finding is about, empty if none, and its line from 1, 0 for the whole file."""
    kind, _, rest = finding.subject.partition(":")
    path = finding.data.get("path") or (rest if kind == "memory" else "")
    line = finding.data.get("line")
    return str(path), line if isinstance(line, int) else 0
