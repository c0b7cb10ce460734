"""The gates before an unattended dream: a day, sessions and ten minutes since the last, and nobody at it."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from memtui.base import clock_hot, fs_hot
from memtui.base.errors import ConflictError

APART, THROTTLE, ENOUGH_SESSIONS = clock_hot.DAY, 600.0, 5
LOCK_SECONDS = 0.1


def last(root: str, name: str = "dream-last") -> float:
    """Return when the last dream that is whole was, in seconds since the epoch; 0 if there was none."""
    try:
        return os.stat(f"{root}/run/{name}").st_mtime
    except OSError:
        return 0.0


def _note(root: str, name: str, now: float) -> None:
    fs_hot.write_atomic(f"{root}/run/{name}", b"", durable=False)
    os.utime(f"{root}/run/{name}", (now, now))


def sessions_missing(root: str) -> int:
    """Count the sessions that hooks have yet to see before the next dream."""
    since = last(root)
    try:
        with os.scandir(root + "/sessions") as entries:
            # One file of a session has no further dot in its name.
            own = (entry for entry in entries if entry.name.endswith(".json") and entry.name.count(".") == 1)
            return max(0, ENOUGH_SESSIONS - sum(entry.stat().st_mtime > since for entry in own))
    except OSError:
        return ENOUGH_SESSIONS


def begin(root: str, now: float) -> bool:
    """Return whether an unattended dream may begin, and note that one does. Raises OSError."""
    if now - last(root) < APART or now - last(root, "dream-begun") < THROTTLE or sessions_missing(root):
        return False
    _note(root, "dream-begun", now)
    return True


@contextmanager
def held(root: str, now: float) -> Iterator[None]:
    """Dream alone, and note it if it is whole. Raises ConflictError if another process dreams, OSError."""
    with ExitStack() as stack:
        try:
            stack.enter_context(fs_hot.Lock(root + "/run/dream.lock", LOCK_SECONDS))
        except fs_hot.LockTimeoutError as error:
            raise ConflictError("Another process is dreaming at the moment.", "Try again when it is done.") from error
        yield
        _note(root, "dream-last", now)
