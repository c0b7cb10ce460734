"""Remove the indexes of directories of memories that have been gone for long. They are made anew when they are needed.

`recall/*.gone` records by its own time since when a directory is gone.
"""

import os

from memtui.core.base import clock, fs
from memtui.core.places import reindexing
from memtui.recall import segment

GONE_DAYS = 30


def clear(root: str, now: float) -> int:
    """Remove the indexes that nothing has needed for GONE_DAYS; return the number of files. The directory
    of one that can't be read counts as gone; one that can't be looked at does not."""
    removed = 0
    for name in _names(root + "/recall"):
        if not name.endswith(".index"):
            continue
        base = f"{root}/recall/{name.removesuffix('.index')}"
        try:
            if not _is_gone(base):
                fs.unlink(base + ".gone")
            elif not os.path.exists(base + ".gone"):
                fs.write_atomic(base + ".gone", b"", durable=False)
                os.utime(base + ".gone", (now, now))
            elif os.stat(base + ".gone").st_mtime <= now - GONE_DAYS * clock.DAY:
                with fs.Lock(base + ".lock", 0.0):
                    removed += _removed(root, base)
        except (OSError, fs.LockTimeoutError):
            continue
    return removed


def _is_gone(base: str) -> bool:
    """Tell whether the directory of an index is gone, or nobody can read which one it was. Raises OSError."""
    data = fs.read_bytes(base + ".index")
    try:
        found, _ = segment.parse_manifest(data)
    except segment.DAMAGED:
        found = None
    if found is None:
        return True
    try:
        os.lstat(found.directory)
    except (FileNotFoundError, NotADirectoryError):
        return True
    return False


def _removed(root: str, base: str) -> int:
    """Remove the files of an index. Raises OSError."""
    there = [*reindexing.files_of(root, base), base + ".lock"]
    for path in there:
        fs.unlink(path)
    return len(there)


def _names(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []
