"""The scopes of a working directory, their memories and copies of these, and the lookup of a memory by a reference."""

import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from memtui.base import paths_hot
from memtui.base.errors import ConflictError, NotFoundError, close_to
from memtui.client import locate_hot, projects
from memtui.store import trust_hot
from memtui.store.memory import Memory, Spool, read_memory, unreadable

KINDS = ("global", "project", "auto", "team", "remote", "agent", "instructions")
# The kinds of scopes that have `files` of their own, and no index.
LISTED = frozenset({"instructions", "model"})
INSTRUCTION_FILES = ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md")
CANDIDATES_SHOWN = 8
# Of a scope with more memories than these, a cache has them slim.
MOST_WHOLE = 5000
MIN_PART = 3  # letters from which a part of a name means a memory
ALL_LISTED = "`memtui list` shows all."
# The name of a file that a sync program writes beside another one, which it could not merge: `of` is that one's.
CONFLICT = re.compile(
    r"(?P<of>.+?)(?:\s*\([^()]*\b(?:conflicted copy|conflict)\b[^()]*\)|\.sync-conflict-\d{8}-\d{6}[-\w]*)",
    re.IGNORECASE,
)
# What a file manager calls a copy. People call their files so as well.
COPY = re.compile(r"Copy of (?P<first>.+)|(?P<of>.+?)(?: - Copy| copy)?(?: \(\d+\)| \d+)?", re.IGNORECASE)


@dataclass(frozen=True)
class Scope:
    """A directory of memories, referred to by `label` or `aliases`. `root_path`, `slug`: of its project; `project`:
    the name of another one; `source`: the agent. `trusted`: False if nothing in it is; `exists`: False for one that
    the first memory would create; `problem`: why it is not read; `files`: those of instructions and blocks."""

    kind: str
    label: str
    directory: str
    root_path: str | None = None
    slug: str | None = None
    writable: bool = True
    source: str = ""
    trusted: bool = True
    exists: bool = True
    problem: str = ""
    aliases: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    project: str = ""

    @property
    def shown(self) -> str:
        """The label that a person reads and can type: with the name of another project instead of its slug."""
        return self.aliases[0] if self.project and self.aliases else self.label

    @property
    def index_path(self) -> str:
        return f"{self.directory}/{locate_hot.INDEX_NAME}"

    @property
    def has_index(self) -> bool:
        """Whether it may have a MEMORY.md."""
        return self.kind not in LISTED

    @property
    def needs_trust(self) -> bool:
        """Whether others may have written its memories, so that only trusted ones are delivered."""
        return self.kind in {"project", locate_hot.TEAM, "remote"} or "project" in self.aliases

    @property
    def is_shared(self) -> bool:
        """Whether others get what is changed there: only who agreed to that may change it."""
        return self.kind in {locate_hot.TEAM, "remote"}

    @property
    def delivered(self) -> bool:
        """Whether memtui's hooks deliver its memories. The client loads all others itself, without a log."""
        return self.kind in {"global", "project", "remote"}

    @property
    def index_loaded(self) -> bool:
        """Whether Claude Code loads its MEMORY.md. A checkout that is named by its path has that of a project."""
        in_repository = self.directory.endswith(locate_hot.IN_REPOSITORY) and "project" not in self.aliases
        return not self.delivered and not in_repository and not self.is_shared


def discover(env: dict[str, str], cwd: str, *, all_projects: bool = False) -> list[Scope]:
    """List the scopes of a working directory, the widest first; with `all_projects` other projects' auto memory."""
    scopes = list(_here(env, cwd))
    return scopes + others(env, {scope.directory for scope in scopes}) if all_projects else scopes


def _here(env: dict[str, str], cwd: str) -> Iterator[Scope]:
    root = paths_hot.project_root(cwd)
    yield Scope("global", "global", locate_hot.global_dir(env), exists=os.path.isdir(locate_hot.global_dir(env)))
    auto = Scope("auto", "auto", locate_hot.auto_dir(env, cwd), root, paths_hot.slug(root))
    project = _project(env, cwd, root)
    if project.exists and os.path.realpath(project.directory) == os.path.realpath(auto.directory):
        # `autoMemoryDirectory` points at the project's directory: the client reads it already.
        auto = replace(auto, aliases=("project",))
    else:
        yield project
        auto = replace(auto, exists=os.path.isdir(auto.directory))
    yield auto
    yield from _team(env, auto)
    for label, directory in locate_hot.team_dirs(paths_hot.root(env)):
        trusted = trust_hot.load(paths_hot.root(env), directory)
        yield Scope("remote", label, directory, writable=False, trusted=trusted.always or bool(trusted.hashes))
    yield from _agents(env, cwd, root)
    config = paths_hot.config_dir(env)
    # The person's own files may be links to anywhere.
    own = tuple(name for name in ["CLAUDE.md", *_rules(config, "rules")] if os.path.isfile(f"{config}/{name}"))
    user = Scope("instructions", "instructions:user", config, writable=False, files=own)
    shared = project_instructions(cwd, root, {f"{user.directory}/{name}" for name in user.files})
    yield from (scope for scope in (user, shared) if scope.files)


def _team(env: dict[str, str], own: Scope) -> list[Scope]:
    """List the scope of what a team shares in the native memory `own`, if there is any."""
    directory = f"{own.directory}/{locate_hot.TEAM}"
    if not os.path.isdir(directory):
        return []
    trusted = trust_hot.load(paths_hot.root(env), directory)
    problem = "" if paths_hot.inside(own.directory, directory) else locate_hot.LEAVES
    names = [own.label, *(alias for alias in own.aliases if alias.startswith("auto:"))]
    label, *aliases = [locate_hot.TEAM + name.removeprefix("auto") for name in names]
    scope = replace(own, kind=locate_hot.TEAM, label=label, directory=directory, aliases=tuple(aliases))
    is_trusted = trusted.always or bool(trusted.hashes)
    return [replace(scope, writable=False, exists=True, problem=problem, trusted=is_trusted)]


def _project(env: dict[str, str], cwd: str, root: str) -> Scope:
    directory, exists = locate_hot.project_dir(env, cwd)
    problem = locate_hot.LEAVES_REPOSITORY if exists and locate_hot.leaves_repository(directory) else ""
    trusted = trust_hot.load(paths_hot.root(env), directory)
    scope = Scope("project", "project", directory, root, paths_hot.slug(root), exists=exists, problem=problem)
    return replace(scope, writable=not problem, trusted=not exists or trusted.always or bool(trusted.hashes))


def _agents(env: dict[str, str], cwd: str, root: str) -> Iterator[Scope]:
    """Yield the scopes of subagents: the person's, the repository's, and those kept out of version control."""
    top = locate_hot.worktree_top(cwd)
    for place, suffix, owner in (
        (paths_hot.config_dir(env) + "/agent-memory", "", None),
        (top + "/.claude/agent-memory", "@project", root),
        (top + "/.claude/agent-memory-local", "@local", root),
    ):
        for name in directories_below(place):
            directory = f"{place}/{name}"
            slug = paths_hot.slug(owner) if owner else None
            problem = "" if owner is None or paths_hot.inside(top, directory) else locate_hot.LEAVES_REPOSITORY
            scope = Scope("agent", f"agent:{name}{suffix}", directory, owner, slug, source=name, problem=problem)
            yield replace(scope, writable=not problem)


def directories_below(place: str) -> list[str]:
    """List the names of the directories in a place, but for hidden ones, sorted; none if it can't be read."""
    return sorted(name for name in projects.directories(place) if not name.startswith("."))


def project_instructions(cwd: str, root: str, skipped: Collection[str] = ()) -> Scope:
    """Return the scope of CLAUDE.md and rules from `cwd` up to the work tree's top, without the paths `skipped`."""
    top = locate_hot.worktree_top(cwd)
    names: list[str] = []
    for here in reversed(locate_hot.upwards(cwd, top)):
        prefix = here[len(top) :].strip("/")
        prefix += "/" if prefix else ""
        names += [prefix + name for name in INSTRUCTION_FILES]
        names += _rules(top, f"{prefix}.claude/rules")
    present = (name for name in names if f"{top}/{name}" not in skipped and os.path.isfile(f"{top}/{name}"))
    files = tuple(name for name in present if paths_hot.inside(top, f"{top}/{name}"))
    return Scope("instructions", "instructions:project", top, root, paths_hot.slug(root), writable=False, files=files)


def _rules(top: str, directory: str) -> list[str]:
    try:
        return [f"{directory}/{name}" for name, problem in locate_hot.walk(f"{top}/{directory}") if not problem]
    except OSError:
        return []


def others(env: dict[str, str], known_dirs: set[str]) -> list[Scope]:
    """List the auto memory of all projects, except for the directories `known_dirs`, and what teams share there."""
    rest = [project for project in projects.with_memory(env) if project.directory not in known_dirs]
    names = projects.names(env, {project.slug: project.path for project in rest})
    scopes = []
    for project in rest:
        aliases = (f"auto:{names[project.slug]}", f"auto:{project.path}") if project.path else ()
        scopes += _of_project(env, project.slug, project.path, names[project.slug], aliases)
    return scopes


def _of_project(env: dict[str, str], slug: str, path: str | None, name: str, aliases: tuple[str, ...]) -> list[Scope]:
    """List the scopes of another project: its auto memory, and what a team shares there."""
    directory = f"{paths_hot.config_dir(env)}/projects/{slug}/memory"
    own = Scope("auto", f"auto:{slug}", directory, path, slug, aliases=aliases, project=name)
    return [own, *_team(env, own)]


def pick(scopes: Sequence[Scope], label: str) -> Scope:
    """Return the scope with a label or alias. Raises NotFoundError, which lists the labels that can be written to."""
    for scope in sorted(scopes, key=lambda place: label != place.label):  # a label goes before an alias
        if label in {scope.label, *scope.aliases}:
            return scope
    labels = ", ".join(scope.label for scope in scopes if scope.kind != "instructions")
    raise NotFoundError(f"There is no scope “{label}” here.", f"There are: {labels}.")


def home(scopes: Sequence[Scope], kind: str) -> Scope:
    """Return the scope for a new memory of a type: global for `user`, else the project's if it exists, else auto."""
    if kind == "user":
        return next(scope for scope in scopes if scope.kind == "global")
    project = next((s for s in scopes if s.kind == "project" and s.exists and not s.problem), None)
    return project or next(s for s in scopes if s.kind == "auto" or "auto" in s.aliases)


def named(env: dict[str, str], cwd: str, label: str) -> Scope:
    """Return the scope with a label or alias; other projects are searched only if needed. Raises NotFoundError."""
    scopes: list[Scope] = []
    for scope in _here(env, cwd):
        if scope.label == label:
            return scope
        scopes.append(scope)
    if label.startswith(("auto:", "team:")):
        scopes += _other_project(env, label.partition(":")[2]) or others(env, {scope.directory for scope in scopes})
    return pick(scopes, label)


def of_memory(env: dict[str, str], cwd: str, memory: Memory) -> Scope | None:
    """Return the scope of a memory that was found before; None if it has gone with its directory."""
    try:
        return named(env, cwd, memory.scope_label)
    except NotFoundError:
        return None


def trust_of(root: str, scope: Scope) -> trust_hot.Trust:
    """Read the trust in a scope: all of one that needs none."""
    return trust_hot.load(root, scope.directory) if scope.needs_trust else trust_hot.Trust(True, {})


def files(scope: Scope) -> list[tuple[str, str]]:
    """List the Markdown files of a scope as (relative path, problem: why it must not be read), sorted."""
    if scope.problem:
        return []
    if not scope.has_index:
        return [(name, "") for name in scope.files]
    try:
        return [(sys.intern(name), problem) for name, problem in locate_hot.walk(scope.directory)]
    except OSError as error:
        return [("", error.strerror or "can't be read")]


def linked(scope: Scope) -> list[str]:
    """List the files that lines of a scope's index may lead to: its own, and those that a team shares there."""
    names = [name for name, problem in files(scope) if not problem]
    if scope.kind == "auto" and not scope.problem:
        team = replace(scope, kind=locate_hot.TEAM, directory=f"{scope.directory}/{locate_hot.TEAM}")
        names += [f"{locate_hot.TEAM}/{name}" for name, problem in files(team) if not problem]
    return names


def indexed(root: str, scope: Scope) -> list[str]:
    """List the files that need a line: readable, no copies of a sync program, and in a project trusted."""
    names = [name for name, problem in files(scope) if not problem and not CONFLICT.fullmatch(name[:-3])]
    if scope.kind == locate_hot.TEAM:
        return []  # its lines are in the MEMORY.md above it
    if scope.kind not in {"project", "remote"}:
        return names
    trusted = trust_hot.trusted_names(root, scope.directory)
    return [name for name in names if name in trusted]


def memories(scope: Scope, memories: "dict[str, Memory] | None" = None) -> Iterator[Memory]:
    """Yield a scope's memories by path, unreadable ones broken. `memories`: a cache by path, updated."""
    cache = {} if memories is None else memories
    listed, top = files(scope), scope.directory.rstrip("/") + "/"
    present = {top + name for name, _ in listed} if cache else ()
    for path, cached in list(cache.items()):
        if cached.scope_label == scope.label and path.startswith(top) and path not in present:
            cache.pop(path, None)
    is_slim = memories is not None and len(listed) > MOST_WHOLE
    spool = None
    with suppress(OSError):  # where no file can be written, all are held, as is what changes later
        spool = Spool() if is_slim and len(cache) < MOST_WHOLE else None
    for name, problem in listed:
        path = f"{scope.directory}/{name}".rstrip("/")
        memory = None if problem else cache.pop(path, None)
        if memory is None or memory.scope_label != scope.label or not _is_current(memory):
            memory = _listed(scope, name, problem)
            if memory is not None and is_slim:
                memory.slim(spool)
        if memory is not None:
            if not problem:
                cache[memory.path] = memory
            yield memory


def _listed(scope: Scope, file: str, problem: str) -> Memory | None:
    """Read a file of a scope that was listed with a problem or none; None if it was removed meanwhile."""
    path = sys.intern(f"{scope.directory}/{file}".rstrip("/"))
    try:
        return unreadable(path, scope.label, problem) if problem else read_memory(path, scope.label)
    except NotFoundError:
        return None


def _is_current(memory: Memory) -> bool:
    try:
        now = os.stat(memory.path)
    except OSError:
        return False
    return now.st_mtime == memory.mtime and now.st_size == memory.size and memory.broken is None


def find(env: dict[str, str], cwd: str, ref: str) -> Memory:
    """Return the memory for a name, file, `scope:name` or path. Raises NotFoundError, ConflictError for several."""
    scopes = discover(env, cwd)
    if "/" in ref:
        memory = _by_path(env, cwd, ref, scopes)
        if memory is not None:
            return memory
    label, colon, name = ref.rpartition(":")
    if colon and label:
        scope = named(env, cwd, label) if label.startswith(("auto:", "team:")) else pick(scopes, label)
        return _only(_matching([scope], name), ref, [scope])
    return _only(_matching(scopes, ref), ref, scopes)


def _by_path(env: dict[str, str], cwd: str, ref: str, scopes: Sequence[Scope]) -> Memory | None:
    path = paths_hot.normal(paths_hot.join(cwd, ref))
    if not os.path.lexists(path):
        return None
    target = f"{paths_hot.real(paths_hot.parent(path))}/{os.path.basename(path)}"
    top = paths_hot.config_dir(env) + "/projects/"
    slug = target.removeprefix(top).partition("/")[0] if target.startswith(top) else ""
    # The likeliest first: looking at all other projects takes a while.
    searches: list[Callable[[], Sequence[Scope]]] = [lambda: scopes, lambda: _other_project(env, slug)]
    searches.append(lambda: others(env, {scope.directory for scope in scopes}))
    for search in searches:
        # The innermost scope first: the global directory may contain others.
        for scope in sorted(search(), key=lambda place: -len(place.directory)):
            for directory, file in ((scope.directory, path), (paths_hot.real(scope.directory), target)):
                name = file.removeprefix(directory + "/")
                problem = dict(files(scope)).get(name) if name != file else None
                if problem is not None:
                    return _listed(scope, name, problem)
    raise NotFoundError(f"{path} is not in any scope.", "Memories are Markdown files in a scope's directory.")


def _other_project(env: dict[str, str], slug: str) -> list[Scope]:
    """Return the auto memory of one other project, without reading all of them; empty if it has none."""
    if not slug or "/" in slug or not os.path.isdir(f"{paths_hot.config_dir(env)}/projects/{slug}/memory"):
        return []
    roots_by_slug = projects.paths_of(env, [slug])
    path = roots_by_slug[slug]
    return _of_project(env, slug, path, projects.names(env, roots_by_slug)[slug], (f"auto:{path}",) if path else ())


def _matching(scopes: Sequence[Scope], name: str) -> list[Memory]:
    """Return the memories whose file has that name; if there are none, those with that name in the frontmatter."""
    names = {name, name + locate_hot.SUFFIX}
    files_listed = [(scope, file, problem) for scope in scopes for file, problem in files(scope)]
    candidates = [_listed(*row) for row in files_listed if names & {row[1], row[1].rpartition("/")[2]}]
    if mems := [memory for memory in candidates if memory is not None]:
        return mems
    return [memory for scope in scopes for memory in memories(scope) if memory.name == name]


def _only(memories: Sequence[Memory], ref: str, scopes: Sequence[Scope]) -> Memory:
    unique = list({memory.path: memory for memory in memories}.values())
    if len(unique) == 1:
        return unique[0]
    directories = {scope.label: scope.directory for scope in scopes}
    if unique:
        candidates = [(m.scope_label, m.path.removeprefix(directories[m.scope_label] + "/")) for m in unique]
        names = [f"{label}:{file.removesuffix(locate_hot.SUFFIX)}" for label, file in candidates]
        raise ConflictError(f"“{ref}” can mean several memories.", "Use one of: " + ", ".join(names) + ".")
    memory_scopes = [scope for scope in scopes if scope.kind != "instructions"]
    names_listed = [(scope.label, name) for scope in memory_scopes for name, _ in files(scope)]
    stems = [f"{label}:{name.removesuffix(locate_hot.SUFFIX)}" for label, name in names_listed]
    near = {stem.rpartition(":")[2]: stem for stem in stems}
    wanted = ref.rpartition(":")[2].removesuffix(locate_hot.SUFFIX)
    parts = [name for name in near if len(wanted) >= MIN_PART and wanted.casefold() in name.casefold()]
    close = [*dict.fromkeys([*parts, *close_to(wanted, near, CANDIDATES_SHOWN)])][:CANDIDATES_SHOWN]
    hint = f"Did you mean {', '.join(near[name] for name in close)}?" if close else ALL_LISTED
    raise NotFoundError(f"There is no memory “{ref}”.", hint)


def copied_memories(memories: Sequence[Memory]) -> dict[str, str]:
    """Return the paths of copies with the stem that each copies; a common name only if the original has that name."""
    stems = {(os.path.dirname(memory.path), memory.stem): memory for memory in memories}
    originals = {}
    for memory in memories:
        directory = os.path.dirname(memory.path)
        if match := CONFLICT.fullmatch(memory.stem):
            originals[memory.path] = match["of"]
        elif (match := COPY.fullmatch(memory.stem)) and (stem := match["first"] or match["of"]) != memory.stem:
            original = stems.get((directory, stem))
            if original is not None and memory.has_frontmatter and memory.name == original.name:
                originals[memory.path] = stem
    return originals
