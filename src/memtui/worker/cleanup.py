"""Tidying: remove files that nothing needs any more, at most once a day."""

import os
import time

from memtui.base import clock, fs, paths
from memtui.inbox import file as inbox_file
from memtui.inbox import format as inbox_format
from memtui.inbox.note_block import WHISPER
from memtui.recall import segment
from memtui.store import index_requests

KEPT_DAYS = 30
# How the locks of processes that read a session begin.
WORKERS = ("worker-", "subconscious-")
# Seconds that collecting what the settings no longer keep may take.
TIDY_MOST = 30.0


def tidy(root: str) -> int:
    """Remove what nothing needs any more, at most once a day; return the number of files: session files unchanged for
    KEPT_DAYS, locks of ended workers, indexes of directories that are gone, and for up to TIDY_MOST seconds what the
    settings no longer keep; also expired whispers. Raises OSError if its stamp can't be written."""
    now = clock.now()
    stamp = root + "/run/tidied"
    try:
        if 0 <= now - os.stat(stamp).st_mtime < clock.DAY:
            return 0
    except OSError:
        pass
    fs.write_atomic(stamp, b"", durable=False)
    month = now - KEPT_DAYS * clock.DAY
    removed = _remove(root + "/sessions", month, ending=".json")
    removed += _remove(root + "/run", now - clock.DAY, WORKERS, ".lock")
    removed += _remove(root + "/run", month, ("client-",))
    removed += _remove(root + "/subconscious/sessions", month)
    # What older versions learned from decisions on drafts.
    removed += _remove(root + "/feedback", month)
    removed += clear(root, now)
    _forget_whispers(root, now)
    from memtui.tidy.checks import retention

    end = time.monotonic() + TIDY_MOST
    due = retention.collect(root, now, lambda: time.monotonic() < end)
    return removed + len(due.temporary) + due.images


def _forget_whispers(root: str, now: float) -> None:
    """Remove whispers that expired from the inboxes: their sessions have ended."""

    def is_over(entry: inbox_format.Entry) -> bool:
        return entry.fields.get("kind") == WHISPER and entry.expired(now)

    def without(source: str) -> str:
        for entry in filter(is_over, reversed(inbox_format.parse(source))):
            source = source[: entry.start] + source[entry.start + len(entry.raw) :]
        return source

    for slug in paths.inbox_slugs(root):
        path = f"{paths.inbox_dir(root, slug)}/{inbox_format.FILES['guidance']}"
        try:
            if any(map(is_over, inbox_format.read(path))):
                inbox_file.rewrite(path, without)
        except OSError:
            continue


def _remove(directory: str, before: float, begins: tuple[str, ...] = ("",), ending: str = "") -> int:
    """Remove the files of a directory that were not changed since; return how many. Locks that are held stay."""
    removed = 0
    for name in paths.names_in(directory):
        path = f"{directory}/{name}"
        try:
            if (
                not (name.startswith(begins) and name.endswith(ending))
                or os.path.islink(path)
                or not os.path.isfile(path)
                or os.stat(path).st_mtime >= before
            ):
                continue
            if ending == ".lock":
                with fs.Lock(path, 0.0):
                    os.unlink(path)
            else:
                os.unlink(path)
            removed += 1
        except OSError:
            continue
    return removed


def clear(root: str, now: float) -> int:
    """Remove indexes not written for KEPT_DAYS whose directory is gone or unreadable; return the number of files."""
    removed = 0
    for name in paths.names_in(root + "/recall"):
        base = f"{root}/recall/{name.removesuffix('.index')}"
        try:
            if name.endswith(".index") and _is_gone(base + ".index", now - KEPT_DAYS * clock.DAY):
                with fs.Lock(base + ".lock", 0.0):
                    files = [*index_requests.files_of(root, base), base + ".lock"]
                    for path in files:
                        fs.unlink(path)
                    removed += len(files)
        except OSError:
            continue
    return removed


def _is_gone(path: str, before: float) -> bool:
    """Tell whether an index was not written since, and its directory is gone or unknown. Raises OSError."""
    if os.stat(path).st_mtime > before:
        return False
    try:
        manifest, _ = segment.parse_manifest(fs.read_bytes(path))
    except segment.DAMAGED:
        manifest = None
    try:
        return manifest is None or not os.lstat(manifest.directory)
    except (FileNotFoundError, NotADirectoryError):
        return True
