"""Files that nothing needs any more are removed, at most once a day."""

import os
from collections.abc import Callable

from memtui.core.base import clock, fs

KEPT_DAYS = 30
TIDY_SECONDS = 86_400.0
TIDY_MOST = 30.0
DAY = 86_400.0


def tidy(root: str, now: float | None = None) -> int:
    """Remove, at most once a day, what nothing needs any more; the number of files removed.

    Session files untouched for KEPT_DAYS, locks of workers long gone, and what the settings keep no longer
    (core/health/retention.py), as far as it goes in TIDY_MOST seconds. Raises OSError where the stamp can't be written.
    """
    seconds = clock.now() if now is None else now
    stamp = root + "/run/tidied"
    try:
        if 0 <= seconds - os.stat(stamp).st_mtime < TIDY_SECONDS:
            return 0
    except OSError:
        pass
    fs.write_atomic(stamp, b"", durable=False)
    removed = _remove(root + "/sessions", seconds - KEPT_DAYS * DAY, lambda name: name.endswith(".json"))
    removed += _remove(
        root + "/run", seconds - DAY, lambda name: name.startswith("worker-") and name.endswith(".lock"), locks=True
    )
    removed += _remove(root + "/run", seconds - KEPT_DAYS * DAY, lambda name: name.startswith("client-"))
    from memtui.core.health import retention

    done = retention.collect(root, seconds, retention.deadline(TIDY_MOST))
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
