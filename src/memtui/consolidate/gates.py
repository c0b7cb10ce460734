"""The four gates before an unattended dream: a day since the last one, no look within ten minutes, enough sessions
since, and nobody else at it.

The time of the last dream is that of `run/dream.lock`. While one runs, the file names its process and the time of the
dream before, which counts until this one is whole: of one that was killed nothing is left but answers.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, NamedTuple

from memtui.core.base import clock, fs
from memtui.core.base.errors import ConflictError
from memtui.core.base.finding import Finding, good
from memtui.core.base.phrasing import age, ago
from memtui.core.settings import config

APART, THROTTLE, ENOUGH_SESSIONS, EXPIRES = clock.DAY, 600.0, 5, 3600.0
LOCK_SECONDS = 2.0
GateName = Literal["time", "throttle", "sessions", "lock"]


class Gate(NamedTuple):
    """A gate: whether it is open; if not, the seconds until it opens by itself (`wait`), or the sessions that are
    missing (`missing`)."""

    name: GateName
    open: bool
    wait: float = 0.0
    missing: int = 0


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
        found = fs.read_bytes(lock_path(root), 60).split()
        return (int(found[0]) if found else 0), (float(found[1]) if len(found) > 1 else None)
    except (OSError, ValueError):
        return 0, None


def _mtime(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def gates(root: str, now: float) -> list[Gate]:
    """Return the state of all gates."""
    since = last(root)
    sessions = sessions_since(root, since)
    return [
        _until("time", since + APART, now),
        _until("throttle", _mtime(_scan_path(root)) + THROTTLE, now),
        Gate("sessions", sessions >= ENOUGH_SESSIONS, missing=max(0, ENOUGH_SESSIONS - sessions)),
        _until("lock", _mtime(lock_path(root)) + EXPIRES if _holder(root, now) else 0.0, now),
    ]


def _until(name: GateName, opens: float, now: float) -> Gate:
    return Gate(name, opens <= now, max(0.0, opens - now))


def sessions_since(root: str, since: float) -> int:
    """Count the sessions that hooks have seen since a time, up to ENOUGH_SESSIONS."""
    found = 0
    try:
        with os.scandir(root + "/sessions") as entries:
            for entry in entries:
                # One file of a session has no further dot in its name.
                if entry.name.endswith(".json") and entry.name.count(".") == 1 and entry.stat().st_mtime > since:
                    found += 1
                    if found >= ENOUGH_SESSIONS:
                        break
    except OSError:
        pass
    return found


def open_now(root: str, now: float) -> bool:
    """Return whether an unattended dream may begin. Looks at the sessions at most every ten minutes, and notes it.
    Raises OSError."""
    first, throttle, *_ = gates(root, now)
    if not first.open or not throttle.open:
        return False
    path = _scan_path(root)
    fs.write_atomic(path, b"", durable=False)
    os.utime(path, (now, now))
    return all(each.open for each in gates(root, now) if each.name != "throttle")


def _scan_path(root: str) -> str:
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
    done = False
    try:
        yield
        done = True
    finally:
        with fs.Lock(path + ".guard", LOCK_SECONDS):
            # After EXPIRES another one may hold it.
            if _content(root)[0] == os.getpid():
                _release(path, now if done else before)


def _release(path: str, last: float) -> None:
    """Leave a lock file that names no process, of the time of the last dream, or none if there was none."""
    if not last:
        fs.unlink(path)
        return
    fs.write_atomic(path, b"", durable=False)
    os.utime(path, (last, last))


def check(root: str, now: float) -> Iterator[Finding]:
    """Report the gates, for doctor and Setup."""
    if config.value(config.load(root), None, "dream") is not True:
        yield good("dream.off", last=_ago(root, now))
        return
    closed = [each for each in gates(root, now) if not each.open]
    for each in closed:
        if each.name == "time":
            yield good("dream.time", wait=age(now - each.wait, now), last=_ago(root, now))
        elif each.name == "throttle":
            yield good("dream.throttle", wait=age(now - each.wait, now))
        elif each.name == "sessions":
            yield good("dream.sessions", missing=each.missing)
        else:
            yield good("dream.lock", process=_holder(root, now))
    if not closed:
        yield good("dream.open", last=_ago(root, now))


def _ago(root: str, now: float) -> str:
    since = last(root)
    return f"the last {ago(since, now)}" if since else "none so far"
