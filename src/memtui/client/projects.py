"""The projects that the client keeps directories for, and their paths. A directory's name (the slug) can't be decoded,
so transcripts tell the path: the first `cwd` with this slug, or a directory above it. `run/projects.json` caches it."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice

from memtui.base import fastjson_hot, fs_hot, paths_hot
from memtui.base.storage import modified_ns
from memtui.client import locate_hot
from memtui.client.agents import agents_hot

VERSION = 2
# The beginning of a transcript that is searched for its cwd; the first record can be large.
HEAD_BYTES = 1 << 16
TRANSCRIPTS_TRIED, TRANSCRIPTS_OF_ALL = 4, 1000
CWD = re.compile(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)*")')
# Bytes of a repository's configuration and of the record of a project; the address of a remote.
MAX_CONFIG = 1 << 20
MAX_RECORD = 1 << 16
_ADDRESS = re.compile(
    r"^(?:[a-z+]+://)?(?:[^@/]*@)?(?P<host>[^/:]+)(?::\d+(?=/))?[:/]+(?P<path>.+?)(?:\.git)?/*$", re.IGNORECASE
)


class Project:
    """A project of the client: its native memory, and its root, None if no transcript names it."""

    __slots__ = ("directory", "path", "slug")  # no dataclass: `memtui note` starts with this module

    def __init__(self, slug: str, directory: str, path: str | None) -> None:
        self.slug, self.directory, self.path = slug, directory, path


def with_memory(env: dict[str, str]) -> list[Project]:
    """List the projects that have native memory, by slug; a directory that can't be read is left out."""
    finder = _PathFinder(env)
    top = finder.top
    slugs = sorted(slug for slug in directories(top) if _has_memory(f"{top}/{slug}/memory"))
    projects = [Project(slug, f"{top}/{slug}/memory", finder.path_of(slug)) for slug in slugs]
    finder.save()
    return projects


def roots_of(env: dict[str, str], slug: str) -> list[str]:
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
    home = paths_hot.slug(paths_hot.home(env)) + "-"
    parts = {path: [part for part in path.split("/") if part] for path in paths_by_slug.values() if path}
    called: dict[str, str] = {}
    rest, length = list(parts), 1
    while rest:
        names_by_path = {path: "/".join(parts[path][-length:]) or "/" for path in rest}
        times = Counter(names_by_path.values())
        called |= names_by_path
        rest = [path for path in rest if times[names_by_path[path]] > 1 and length < len(parts[path])]
        length += 1
    without = {key: key.removeprefix(home).strip("-") or key for key in paths_by_slug}
    return {key: called[path] if path else without[key] for key, path in paths_by_slug.items()}


def names_of_roots(env: Mapping[str, str], roots: Iterable[str]) -> dict[str, str]:
    """Return what a person calls projects, by root, or by key where no root is known."""
    return names(env, {root: root if root.startswith("/") else None for root in roots})


def directories(top: str) -> list[str]:
    """Return the names of the directories in a place, such as the client's for projects; none if it can't be read."""
    try:
        with os.scandir(top) as entries:
            return [entry.name for entry in entries if entry.is_dir()]
    except OSError:
        return []


def _has_memory(directory: str) -> bool:
    try:
        with os.scandir(directory) as entries:
            return any(file.name.endswith(locate_hot.SUFFIX) or file.is_dir(follow_symlinks=False) for file in entries)
    except OSError:
        return False


class _PathFinder:
    """The search for the paths of projects, with its cache: the paths found, which stay valid, and by the client's
    directory [its change time in ns, working directories of its newest sessions, repository roots of the newest]."""

    def __init__(self, env: dict[str, str]) -> None:
        self.top, self.root = paths_hot.config_dir(env) + "/projects", paths_hot.root(env)
        self._cache_path = self.root + "/run/projects.json"
        self._cached = fs_hot.head(self._cache_path)
        cache = fastjson_hot.loads_dict(self._cached)
        if (cache.get("v"), cache.get("top")) != (VERSION, self.top):
            cache = {}
        self._paths, self._sessions = fastjson_hot.table(cache, "paths"), fastjson_hot.table(cache, "sessions")
        self._roots: list[str] | None = None

    def path_of(self, slug: str) -> str | None:
        path: str | None = fastjson_hot.text(self._paths, slug)
        if path and _is_named(path, slug):
            return path
        own = (_named(cwd, slug) for cwd in self._session_of(paths_hot.slug_of(slug))[0])
        path = project_record(self.root, slug).get("root") or next(filter(None, own), None)
        path = path or next((root for root in self._all_roots() if _is_named(root, slug)), None)
        if path:
            self._paths[slug] = path
        return path

    def roots_of(self, slug: str) -> list[str]:
        noted = [project_record(self.root, key).get("root") for key in directories(self.root + "/projects")]
        own = [_named(cwd, slug) for cwds in _heads(f"{self.top}/{slug}") for cwd in cwds]
        roots = dict.fromkeys(root for root in (*noted, *own, *self._all_roots()) if root)
        return [root for root in roots if paths_hot.slug(root) == slug and paths_hot.project_root(root) == root]

    def _all_roots(self) -> list[str]:
        """List the main repository roots of all sessions: that of a subdirectory or a worktree keeps the memory."""
        if self._roots is None:
            roots = (root for directory in directories(self.top) for root in self._session_of(directory)[1])
            self._roots = list(dict.fromkeys(roots))
        return self._roots

    def _session_of(self, directory: str) -> tuple[list[str], list[str]]:
        """Return the working directories that the newest sessions of a directory name, and the newest's roots."""
        stamp = modified_ns(f"{self.top}/{directory}")
        row = fastjson_hot.rows(self._sessions, directory)
        # A transcript may name its directory later on, which does not change that of the transcripts: look again.
        if row[:1] != [stamp] or len(row) != 3 or not row[1]:
            heads = [*islice(_heads(f"{self.top}/{directory}"), TRANSCRIPTS_TRIED)]
            newest = next(filter(None, heads), [])
            cwds = list(dict.fromkeys(chain.from_iterable(heads)))
            row = self._sessions[directory] = [stamp, cwds, sorted(set(map(paths_hot.project_root, newest)))]
        cwds, roots = (list(map(str, part)) if isinstance(part, list) else [] for part in row[1:])
        return cwds, roots

    def save(self) -> None:
        """Write the cache if anything new was found."""
        cache = {"v": VERSION, "top": self.top, "paths": self._paths, "sessions": self._sessions}
        data = fastjson_hot.dumps(cache).encode()
        if (self._paths or self._sessions) and data != self._cached:
            fs_hot.write_cache(self._cache_path, data)


def _heads(directory: str) -> Iterator[list[str]]:
    """Yield the working directories that each transcript names in its head, the newest first, without repeats."""
    from memtui.client.transcripts import transcript_hot

    for _, path in sorted(transcript_hot.in_directory(directory), reverse=True)[:TRANSCRIPTS_OF_ALL]:
        yield list(dict.fromkeys(cwds(fs_hot.head(path, HEAD_BYTES))))


def session_cwd(path: str) -> str:
    """Return the working directory that a session's file names first; empty if it names none. Raises OSError."""
    if agents_hot.of_session(path) is None:
        return next(cwds(fs_hot.read_bytes(path, HEAD_BYTES)), "")
    from memtui.client.transcripts import transcript_hot

    directories = (record.get("cwd") for record in transcript_hot.Reader(path, limit=HEAD_BYTES))
    return next((cwd for cwd in directories if isinstance(cwd, str) and cwd.startswith("/")), "")


def cwds(head: bytes) -> Iterator[str]:
    """Yield the working directories that the head of a transcript names, but for those of another system."""
    for match in CWD.finditer(head):
        try:
            cwd = fastjson_hot.loads(match[1])
        except ValueError:
            continue
        if isinstance(cwd, str) and cwd.startswith("/"):
            yield cwd


def _named(cwd: str, slug: str) -> str | None:
    """Return `cwd` or the directory above it with this slug or key (a session may have changed its directory)."""
    return next((here for here in locate_hot.upwards(paths_hot.normal(cwd)) if _is_named(here, slug)), None)


def _is_named(path: str, name: str) -> bool:
    return paths_hot.is_of(name, paths_hot.project_key(path))


# What tells a project from another: its git remote, as its own files say, and what memtui noted of it


def remote(root: str) -> str:
    """Return the address of a repository, written in one way whatever the protocol; empty if it has none."""
    import configparser  # a start reads no repository

    try:
        text = fs_hot.read_bytes(f"{root}/.git/config", MAX_CONFIG).decode("utf-8", "replace")
        config = configparser.ConfigParser(strict=False, interpolation=None, allow_no_value=True)
        config.read_string("\n".join(line.strip() for line in text.splitlines()))
        address = config.get('remote "origin"', "url", fallback="") or ""
    except (OSError, configparser.Error):
        return ""
    match = _ADDRESS.match(address.strip())
    return f"{match['host'].lower()}/{match['path']}" if match and not address.startswith(("/", ".")) else ""


def project_record(root: str, key: str) -> dict[str, str]:
    """Return root, remote and inode of a project, as noted in its inbox; nothing if they are another's."""
    path = f"{paths_hot.inbox_dir(root, key)}/{paths_hot.PROJECT_FILE}"
    row = fastjson_hot.loads_dict(fs_hot.head(path, MAX_RECORD))
    record = {name: value for name in ("root", "remote", "inode") if isinstance(value := row.get(name), str)}
    return record if paths_hot.project_key(record.get("root", "")) == key else {}


def note_project(root: str, project_root: str) -> None:
    """Note in the inbox of a project, made if need be, whose it is. Raises OSError."""
    key = paths_hot.project_key(project_root)
    try:
        inode = str(os.stat(project_root).st_ino)
    except OSError:
        inode = ""  # it is gone
    row = {"root": project_root, "remote": remote(project_root), "inode": inode}
    before = project_record(root, key)
    if before != row and (inode or not before):
        path = f"{paths_hot.inbox_dir(root, key)}/{paths_hot.PROJECT_FILE}"
        fs_hot.write_atomic(path, fastjson_hot.dumps({"v": 1, **row}).encode() + b"\n", durable=False)
