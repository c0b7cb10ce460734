"""The four gates before an unattended dream: a day since the last one, no look within ten minutes, enough sessions
since, and nobody else at it.

The time of the last dream is that of `run/dream.lock`. While one runs, the file names its process and the time of the
dream before, which counts until this one is whole: of one that was killed nothing is left but answers.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from memtui.core.base import clock, fs
from memtui.core.base.errors import ConflictError
from memtui.core.base.finding import Finding, good
from memtui.core.base.phrasing import age, ago
from memtui.core.settings import config

APART, THROTTLE, ENOUGH_SESSIONS, EXPIRES = clock.DAY, 600.0, 5, 3600.0
LOCK_SECONDS = 2.0
GateName = Literal["time", "throttle", "sessions", "lock"]


def lock_path(root: str) -> str:
    """Return the lock file."""
    return root + "/run/dream.lock"


def last(root: str) -> float:
    """Return when the last dream that is whole was, in seconds since the epoch; 0 if there was none."""
    _, before = _content(root)
    return _mtime(lock_path(root)) if before is None else before


def _content(root: str) -> tuple[int, float | None]:
    """Return the process that the lock file names, 0 if none, and the time of the dream before that of this process,
    None if the file has none."""
    try:
        words = fs.read_bytes(lock_path(root), 60).split()
        return (int(words[0]) if words else 0), (float(words[1]) if len(words) > 1 else None)
    except (OSError, ValueError):
        return 0, None


def _mtime(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def closed(root: str, now: float) -> dict[GateName, float]:
    """Return the gates that are closed: the seconds until each opens by itself, or how many sessions are missing."""
    since = last(root)
    held_until = _mtime(lock_path(root)) + EXPIRES if _holder(root, now) else 0.0
    waits: dict[GateName, float] = {
        "time": since + APART - now,
        "throttle": _mtime(_look_path(root)) + THROTTLE - now,
        "sessions": ENOUGH_SESSIONS - _sessions_since(root, since),
        "lock": held_until - now,
    }
    return {name: wait for name, wait in waits.items() if wait > 0}


def _sessions_since(root: str, since: float) -> int:
    """Count the sessions that hooks have seen since a time."""
    try:
        with os.scandir(root + "/sessions") as entries:
            # One file of a session has no further dot in its name.
            own = (each for each in entries if each.name.endswith(".json") and each.name.count(".") == 1)
            return sum(each.stat().st_mtime > since for each in own)
    except OSError:
        return 0


def open_now(root: str, now: float) -> bool:
    """Return whether an unattended dream may begin. Looks at the sessions at most every ten minutes, and notes it.
    Raises OSError."""
    if closed(root, now).keys() & {"time", "throttle"}:
        return False
    fs.write_atomic(_look_path(root), b"", durable=False)
    os.utime(_look_path(root), (now, now))
    return closed(root, now).keys() <= {"throttle"}


def _look_path(root: str) -> str:
    return root + "/run/dream-look"


def _holder(root: str, now: float) -> int:
    """Return the process that dreams at the moment; 0 if there is none, or it is at it for longer than EXPIRES."""
    holder, _ = _content(root)
    if holder <= 0:
        return 0
    try:
        os.kill(holder, 0)
    except PermissionError:
        pass  # it is another user's, and so alive
    except (OSError, OverflowError):
        return 0
    return holder if 0 <= now - _mtime(lock_path(root)) < EXPIRES else 0


@contextmanager
def held(root: str, now: float) -> Iterator[None]:
    """Hold the lock; the lock file then has the time of this dream. If it fails, the time of the one before stays.

    Raises ConflictError if another process dreams, and OSError.
    """
    path = lock_path(root)
    with fs.Lock(path + ".guard", LOCK_SECONDS):
        holder = _holder(root, now)
        if holder:
            raise ConflictError(f"Process {holder} is dreaming at the moment.", "Try again when it is done.")
        before = last(root)
        fs.write_atomic(path, f"{os.getpid()} {before!r}".encode(), durable=False)
        os.utime(path, (now, now))
    ended = before
    try:
        yield
        ended = now
    finally:
        with fs.Lock(path + ".guard", LOCK_SECONDS):
            # After EXPIRES another one may hold it.
            if _content(root)[0] == os.getpid():
                fs.write_atomic(path, b"", durable=False)
                os.utime(path, (ended, ended))


def check(root: str, now: float) -> Iterator[Finding]:
    """Report the gates, for doctor and Setup."""
    since = last(root)
    last_words = f"the last {ago(since, now)}" if since else "none so far"
    if config.value(config.load(root), None, "dream") is not True:
        yield good("dream.off", last=last_words)
        return
    waits = closed(root, now)
    for name, wait in waits.items():
        match name:
            case "time":
                yield good("dream.time", wait=age(now - wait, now), last=last_words)
            case "throttle":
                yield good("dream.throttle", wait=age(now - wait, now))
            case "sessions":
                yield good("dream.sessions", missing=int(wait))
            case "lock":
                yield good("dream.lock", process=_holder(root, now))
    if not waits:
        yield good("dream.open", last=last_words)
