"""Tidying: remove files that nothing needs any more, at most once a day."""

import os
from collections.abc import Callable

from memtui.core.base import clock, fs

KEPT_DAYS = 30
# Seconds that collecting what the settings no longer keep may take.
TIDY_MOST = 30.0


def tidy(root: str) -> int:
    """Remove what nothing needs any more, at most once a day; return the number of files removed.

    That is session files unchanged for KEPT_DAYS, the locks of ended workers, indexes of directories that are gone
    (recall/clearing.py), and for up to TIDY_MOST seconds what the settings no longer keep (core/health/retention.py).
    Raises OSError if its stamp can't be written.
    """
    now = clock.now()
    stamp = root + "/run/tidied"
    try:
        if 0 <= now - os.stat(stamp).st_mtime < clock.DAY:
            return 0
    except OSError:
        pass
    fs.write_atomic(stamp, b"", durable=False)
    removed = _remove(root + "/sessions", now - KEPT_DAYS * clock.DAY, lambda name: name.endswith(".json"))
    removed += _remove(
        root + "/run", now - clock.DAY, lambda name: name.startswith("worker-") and name.endswith(".lock"), locks=True
    )
    removed += _remove(root + "/run", now - KEPT_DAYS * clock.DAY, lambda name: name.startswith("client-"))
    from memtui.core.health import retention
    from memtui.recall import clearing

    removed += clearing.clear(root, now)
    done = retention.collect(root, now, retention.deadline(TIDY_MOST))
    return removed + len(done.temporary) + done.images


def _remove(directory: str, before: float, wanted: Callable[[str], bool], locks: bool = False) -> int:
    removed = 0
    try:
        with os.scandir(directory) as entries:
            names = [entry.path for entry in entries if wanted(entry.name) and entry.is_file(follow_symlinks=False)]
    except OSError:
        return 0
    for path in names:
        try:
            if os.stat(path, follow_symlinks=False).st_mtime >= before:
                continue
            if locks:
                with fs.Lock(path, 0.0):
                    os.unlink(path)
            else:
                os.unlink(path)
            removed += 1
        except OSError:
            continue
    return removed
