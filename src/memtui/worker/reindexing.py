"""Bring the indexes of memories up to date (recall/build.py), in a worker, or in a process of its own."""

import os
import signal
import time
from collections.abc import Iterable, Sequence

from memtui.core.base import fs, paths
from memtui.core.deliveries import error_log
from memtui.core.memories import beside
from memtui.core.places import loading, reindexing
from memtui.recall import build, places
from memtui.worker import binding, warming

# Seconds after which a process of its own ends, whatever it does.
MOST_SECONDS = 240


def of_session(env: dict[str, str], root: str, cwd: str) -> None:
    """Bring the indexes of all memories that a session may recall up to date. Raises OSError."""
    update(root, places.of_session(env, cwd))


def note_client(env: dict[str, str], root: str, cwd: str) -> None:
    """Note for hooks whether the client recalls its own memories itself. Raises OSError."""
    if loading.way(env, cwd) == loading.RECALLED:
        fs.write_cache(root + places.BY_CLIENT, b"\n")
    else:
        fs.unlink(root + places.BY_CLIENT)


def update(root: str, where: Iterable[tuple[str, str]]) -> None:
    """Bring the indexes of (scope, directory) up to date. A directory that is missing and has no index gets none.
    Raises OSError."""
    indexed = []
    for scope, directory in where:
        beside.adopt(root, directory)
        if os.path.isdir(directory) or os.path.exists(paths.index_base(root, directory) + ".index"):
            build.bring_up_to_date(root, directory, places.needs_trust(scope))
            indexed.append(directory)
    if indexed:
        binding.update(root, indexed)


def main(argv: Sequence[str]) -> None:
    """Bring the indexes of the directories `argv[1:]` up to date, below memtui's directory `argv[0]`. Never raises."""
    root, directories = argv[0], argv[1:]
    signal.alarm(MOST_SECONDS)
    os.chdir("/")
    time.sleep(reindexing.GATHERING)
    try:
        update(root, [("", each) for each in directories])
        if warming.is_on(root):
            warming.fill(root, directories)
    except Exception as error:
        error_log.add(root, "index", error)
