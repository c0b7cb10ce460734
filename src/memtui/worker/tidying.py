"""Tidying: remove files that nothing needs any more, at most once a day."""

import os
from collections.abc import Callable

from memtui.core.base import clock, fs, paths
from memtui.core.inbox import file as inbox_file
from memtui.core.inbox import format as inbox_format
from memtui.core.inbox.deliverable import WHISPER
from memtui.core.places import reindexing
from memtui.recall import segment

KEPT_DAYS = 30
# How the locks of processes that read a session begin.
WORKERS = ("worker-", "subconscious-")
# Seconds that collecting what the settings no longer keep may take.
TIDY_MOST = 30.0


def tidy(root: str) -> int:
    """Remove what nothing needs any more, at most once a day; return the number of files removed.

    That is session files unchanged for KEPT_DAYS, also those of the subconscious, its whispers that expired, the locks
    of ended workers, indexes of directories that are gone, and for up to TIDY_MOST seconds what
    the settings no longer keep (core/health/retention.py).
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
        root + "/run", now - clock.DAY, lambda name: name.startswith(WORKERS) and name.endswith(".lock"), locks=True
    )
    removed += _remove(root + "/run", now - KEPT_DAYS * clock.DAY, lambda name: name.startswith("client-"))
    removed += _remove(root + "/subconscious/sessions", now - KEPT_DAYS * clock.DAY, lambda _: True)
    _forget_whispers(root, now)
    from memtui.core.health import retention

    removed += clear(root, now)
    done = retention.collect(root, now, retention.deadline(TIDY_MOST))
    return removed + len(done.temporary) + done.images


def _forget_whispers(root: str, now: float) -> None:
    """Remove whispers that expired from the inboxes: their sessions have ended."""
    for slug in paths.inbox_slugs(root):
        path = f"{paths.inbox_dir(root, slug)}/{inbox_format.FILES['guidance']}"
        try:
            if any(_is_over(entry, now) for entry in inbox_format.read(path)):
                inbox_file.rewrite(path, lambda source: _without_whispers(source, now))
        except OSError:
            continue


def _is_over(entry: inbox_format.Entry, now: float) -> bool:
    return entry.fields.get("kind") == WHISPER and entry.expired(now)


def _without_whispers(source: str, now: float) -> str:
    for entry in reversed(inbox_format.parse(source)):
        if _is_over(entry, now):
            source = source[: entry.start] + source[entry.start + len(entry.raw) :]
    return source


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


GONE_DAYS = 30


def clear(root: str, now: float) -> int:
    """Remove the indexes that nothing has needed for GONE_DAYS; return the number of files. The directory
    of one that can't be read counts as gone; one that can't be looked at does not."""
    removed = 0
    for name in paths.names_in(root + "/recall"):
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
