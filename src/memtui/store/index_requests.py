"""Bring indexes of memories up to date after a change, in a process that nobody waits for."""

import contextlib
import os
import sys
import time
from collections.abc import Iterable

from memtui.base import fs_hot, paths_hot

START = (
    "import sys; sys.path.insert(0, sys.argv[1]);"
    " from memtui.worker import index_updates; index_updates.main(sys.argv[2:])"
)
# Seconds for which a process that was started waits for more changes, and for which no other one is started.
GATHERING, APART = 0.2, 0.15
# How long a removal waits for a process that makes an index.
LOCK_SECONDS = 10.0
_started: dict[tuple[str, str], float] = {}


def indexed(root: str, path: str) -> str | None:
    """Return the directory that has an index with a file in it; None if there is none."""
    directory = paths_hot.parent(path)
    while directory != "/":
        if os.path.exists(paths_hot.index_base(root, directory) + ".index"):
            return directory
        directory = paths_hot.parent(directory)
    return None


def remove(root: str, directory: str) -> bool:
    """Remove the index of a directory, its manifest last; return whether there was one. Raises OSError."""
    base = paths_hot.index_base(root, directory)
    if not os.path.exists(base + ".index"):
        return False
    with fs_hot.Lock(base + ".lock", LOCK_SECONDS):
        for path in files_of(root, base):
            fs_hot.unlink(path)
    return True


def files_of(root: str, base: str) -> list[str]:
    """List the files of an index whose paths begin with `base`, its manifest after its segments, but not its lock."""
    stem = os.path.basename(base) + "-"
    places = (f"{root}/recall/sentences", f"{root}/recall")
    entries = [f"{where}/{name}" for where in places if os.path.isdir(where) for name in os.listdir(where)]
    files = [path for path in entries if os.path.basename(path).startswith(stem)]
    return [*files, *(base + ending for ending in (".again", ".index") if os.path.exists(base + ending))]


def request(root: str, changed: Iterable[str]) -> None:
    """Start a process that brings the indexes with these files up to date; none if no index has any. Never raises."""
    if not os.path.isdir(root + "/recall"):
        return
    directories = {indexed(root, path) for path in {*changed} if path.endswith(".md")} - {None}
    start(root, [directory for directory in sorted(filter(None, directories)) if _is_due(root, directory)])


def start(root: str, due: list[str]) -> None:
    """Start a process, in its own session, that brings indexes up to date or makes them. Never raises."""
    null = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    argv = [sys.executable, "-I", "-S", "-c", START, paths_hot.SOURCES, root, *due]
    with contextlib.suppress(OSError, NotImplementedError):
        if due:
            os.posix_spawn(sys.executable, argv, {}, file_actions=null, setsid=True)


def _is_due(root: str, directory: str) -> bool:
    """Tell whether no process was started just now, which still waits for more changes."""
    now = time.monotonic()
    if now - _started.get((root, directory), -APART) < APART:
        return False
    _started[root, directory] = now
    return True
