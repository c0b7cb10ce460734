"""Whether a sync has nothing to do: by the times of the files that travel, and one question to the remote."""

import os
from collections.abc import Mapping

from memtui.base import clock_hot, fs_hot, ids_hot, paths_hot
from memtui.base.errors import MemtuiError
from memtui.client.locate_hot import MAX_DEPTH
from memtui.sync import state as states
from memtui.sync.repository import BRANCH

NOTHING = "Nothing to sync: all machines that synced have the same memories."
PAUSE = 30.0  # seconds between syncs that nobody asked for
TICK = 2.0  # seconds in which a file may change twice without another time, on the coarsest file systems


def stamp(watched: Mapping[str, bool]) -> str:
    """Return a text that changes with the files, and those in the directories (True), that are watched; empty if one
    changed so lately that its times may not tell."""
    rows, newest = [], 0.0
    below = [(path, 0 if walked else -1) for path, walked in watched.items()]
    while below:
        path, depth = below.pop()
        try:
            status = os.stat(path)
            entries = sorted(os.scandir(path), key=lambda entry: entry.name) if depth >= 0 else []
        except OSError:
            rows.append(path)
            continue
        rows.append(f"{path} {status.st_mtime_ns} {status.st_size} {status.st_ino}")
        newest = max(newest, status.st_ctime)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                below += [(entry.path, depth + 1)] * (depth < MAX_DEPTH and not entry.name.startswith("."))
            else:
                status = entry.stat(follow_symlinks=False)
                rows.append(f"{entry.name} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_size} {status.st_ino}")
                newest = max(newest, status.st_ctime)
    return ids_hot.digest("\n".join(rows)) if newest < clock_hot.now() - TICK else ""


def is_syncing(root: str) -> bool:
    """Tell whether a sync runs, which changes all that is read meanwhile."""
    try:
        with fs_hot.Lock(root + "/run/sync.lock", 0.0):
            return False
    except OSError as error:
        return isinstance(error, fs_hot.LockTimeoutError)


def is_done(env: dict[str, str], now: float, pause: float = 0.0, team: str = "") -> bool:
    """Tell whether nothing is to be synced, and note the time of it; the remote is not asked if that was less than
    `pause` seconds ago. Raises MemtuiError, as of a remote that can't be reached."""
    root = paths_hot.root(env)
    try:
        with fs_hot.Lock(root + "/run/sync.lock", 0.0):
            state = states.load(root, team)
            if state is None:
                return False
            day = 0 <= now - state.read < clock_hot.DAY  # a stamp is no promise
            if not (day and state.seen and not state.pending and state.seen == stamp(state.watched)):
                return False
            if 0 <= now - state.time < pause:
                return True
            try:
                if states.repository(root, state, env).heads().get(BRANCH) != state.base:
                    return False
            except MemtuiError as error:
                states.save(root, state._replace(error=error.message))
                raise
            if state.error:
                states.save(root, state._replace(time=now, error=""))
            fs_hot.write_cache(states.folder(root, team) + "/time", str(now).encode())
            return True
    except fs_hot.LockTimeoutError:
        return False
