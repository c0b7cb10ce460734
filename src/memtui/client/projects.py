"""The projects that the client keeps directories for, and their paths. A directory's name (the slug) can't be decoded,
so the path is read from the transcripts: the first `cwd` with this slug, or a directory above it. Cached in
`run/projects.json`."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from memtui.base import fastjson, fs, paths
from memtui.client import locate, repository

VERSION = 1
# The beginning of a transcript that is searched for its cwd; the first record can be large.
HEAD_BYTES = 1 << 16
TRANSCRIPTS_TRIED, TRANSCRIPTS_OF_ALL = 4, 1000
CWD = re.compile(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)*")')


@dataclass(frozen=True)
class Project:
    """A project of the client: its native memory, and its root, None if no transcript names it."""

    slug: str
    directory: str
    path: str | None


def with_memory(env: dict[str, str]) -> list[Project]:
    """List the projects that have native memory, by slug; a directory that can't be read is left out."""
    finder = _PathFinder(env)
    top = finder.top
    slugs = sorted(slug for slug in directories(top) if _has_memory(f"{top}/{slug}/memory"))
    projects = [Project(slug, f"{top}/{slug}/memory", finder.path_of(slug)) for slug in slugs]
    finder.save()
    return projects


def roots_of(env: dict[str, str], slug: str) -> list[str]:
    """List the roots of all projects with a slug: those that memtui noted, and those of the client's sessions."""
    finder = _PathFinder(env)
    roots = finder.roots_of(slug)
    finder.save()
    return roots


def paths_of(env: dict[str, str], slugs: Iterable[str]) -> dict[str, str | None]:
    """Return the paths of some projects by slug, or by key, None for those that nothing names."""
    finder = _PathFinder(env)
    paths_by_slug = {slug: finder.path_of(slug) for slug in slugs}
    finder.save()
    return paths_by_slug


def names(env: Mapping[str, str], paths_by_slug: Mapping[str, str | None]) -> dict[str, str]:
    """Return what a person calls projects, for their paths by slug (or another key): the directory's name, with as much
    of the path as tells equal ones apart; without a path (None), what the slug adds to that of the home directory."""
    home = paths.slug(paths.home(env)) + "-"
    parts = {path: [part for part in path.split("/") if part] for path in paths_by_slug.values() if path}
    called: dict[str, str] = {}
    rest, length = list(parts), 1
    while rest:
        names_by_path = {path: "/".join(parts[path][-length:]) or "/" for path in rest}
        times = Counter(names_by_path.values())
        called |= names_by_path
        rest = [path for path in rest if times[names_by_path[path]] > 1 and length < len(parts[path])]
        length += 1
    return {
        key: called[path] if path else key.removeprefix(home).strip("-") or key for key, path in paths_by_slug.items()
    }


def names_of_roots(
    env: Mapping[str, str], roots: Iterable[str], paths_by_slug: Mapping[str, str | None] | None = None
) -> dict[str, str]:
    """Return what a person calls projects, by root: a path, or a slug, as the delivery log has it (`Delivery.root`).
    `paths_by_slug`: paths by slug, as `paths_of` finds them."""
    return names(env, {root: root if root.startswith("/") else (paths_by_slug or {}).get(root) for root in roots})


def directories(top: str) -> list[str]:
    """Return the names of the directories in the client's directory of projects; none if it can't be read."""
    try:
        with os.scandir(top) as entries:
            return [entry.name for entry in entries if entry.is_dir()]
    except OSError:
        return []


def _has_memory(directory: str) -> bool:
    try:
        with os.scandir(directory) as entries:
            return any(entry.name.endswith(locate.SUFFIX) or entry.is_dir(follow_symlinks=False) for entry in entries)
    except OSError:
        return False


def _mtime_ns(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


class _PathFinder:
    """A search for the paths of projects, with its cache: `known`, slug to [stamp, path or None], and `root_rows`, slug
    to [stamp, main repository roots of its newest session …]. A stamp is the directory's change time in ns. A path once
    found stays valid; one that was not found is searched for after any change."""

    def __init__(self, env: dict[str, str]) -> None:
        top = paths.config_dir(env) + "/projects"
        self.top, self.root = top, paths.root(env)
        self.cache_path = self.root + "/run/projects.json"
        try:
            cache = fastjson.loads_dict(fs.read_bytes(self.cache_path))
        except OSError:
            cache = {}
        if cache.get("v") != VERSION or cache.get("top") != top:
            cache = {}
        self.known = fastjson.table(cache, "paths")
        self.root_rows = fastjson.table(cache, "roots")
        self.changed = False
        self.roots: list[str] | None = None
        self.top_stamp = _mtime_ns(top)

    def path_of(self, slug: str) -> str | None:
        directory = f"{self.top}/{paths.slug_of(slug)}"
        stamp = max(self.top_stamp, _mtime_ns(directory))
        row = self.known.get(slug)
        if isinstance(row, list) and len(row) == 2:
            kept = row[1]
            if isinstance(kept, str) and _is_named(kept, slug):
                return kept
            if kept is None and row[0] == stamp:
                return None
        path = repository.project_record(self.root, slug).get("root")
        if path is None:
            path = next((p for p in (_named(cwd, slug) for cwd in _cwds(directory)) if p), None)
        if path is None:
            path = next((root for root in self._roots() if _is_named(root, slug)), None)
        self.known[slug] = [stamp, path]
        self.changed = True
        return path

    def roots_of(self, slug: str) -> list[str]:
        """List the roots of all projects with a slug."""
        keys = directories(self.root + "/projects")
        noted = [repository.project_record(self.root, key).get("root") for key in keys]
        named_roots = [_named(cwd, slug) for cwd in _cwds(f"{self.top}/{slug}", TRANSCRIPTS_OF_ALL)]
        roots = dict.fromkeys(root for root in (*noted, *named_roots, *self._roots()) if root)
        return [root for root in roots if paths.slug(root) == slug and paths.project_root(root) == root]

    def _roots(self) -> list[str]:
        """List the main repository roots of all sessions: that of a subdirectory or a worktree keeps the memory."""
        if self.roots is None:
            roots = [root for slug in directories(self.top) for root in self._roots_of(slug)]
            self.roots = list(dict.fromkeys(roots))
        return self.roots

    def _roots_of(self, slug: str) -> list[str]:
        directory = f"{self.top}/{slug}"
        stamp = _mtime_ns(directory)
        row = self.root_rows.get(slug)
        if isinstance(row, list) and row[:1] == [stamp] and all(isinstance(root, str) for root in row[1:]):
            return row[1:]
        roots = sorted({paths.project_root(cwd) for cwd in _cwds(directory, tried=1)})
        self.root_rows[slug] = [stamp, *roots]
        return roots

    def save(self) -> None:
        """Write the cache if anything new was found."""
        if not self.changed:
            return
        data = fastjson.dumps({"v": VERSION, "top": self.top, "paths": self.known, "roots": self.root_rows}).encode()
        fs.write_cache(self.cache_path, data)


def _cwds(directory: str, tried: int = TRANSCRIPTS_TRIED) -> list[str]:
    """List the working directories that the `tried` newest transcripts name in their heads, without repeats."""
    try:
        with os.scandir(directory) as entries:
            files = [entry.path for entry in entries if entry.name.endswith(".jsonl")]
    except OSError:
        return []
    found: dict[str, None] = {}
    for path in sorted(files, key=_mtime_ns, reverse=True)[:tried]:
        try:
            head = fs.read_bytes(path, HEAD_BYTES)
        except OSError:
            continue
        found.update(dict.fromkeys(cwds(head)))
    return list(found)


def cwds(head: bytes) -> Iterator[str]:
    """Yield the working directories that the head of a transcript names, but for those of another system."""
    for match in CWD.finditer(head):
        try:
            cwd = fastjson.loads(match[1])
        except ValueError:
            continue
        if isinstance(cwd, str) and cwd.startswith("/"):
            yield cwd


def _named(cwd: str, slug: str) -> str | None:
    """Return `cwd` or the directory above it with this slug or key (a session may have changed its directory)."""
    return next((here for here in locate.upwards(paths.normal(cwd)) if _is_named(here, slug)), None)


def _is_named(path: str, name: str) -> bool:
    """Tell whether a path has a slug or a key."""
    return paths.is_of(name, paths.project_key(path))
