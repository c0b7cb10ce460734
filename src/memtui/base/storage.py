"""Files for the command line and the TUI: reading one that may be missing, and the errors for one that fails."""

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator

from memtui.base import fs_hot
from memtui.base.errors import MemtuiError


def read_or_none(path: str) -> bytes | None:
    """Read a file; None if it does not exist. Raises OSError."""
    try:
        return fs_hot.read_bytes(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def modified_ns(path: str) -> int:
    """Return when a file changed last, in nanoseconds; 0 where that can't be told."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def sync_disks(paths: Iterable[str]) -> None:
    """Wait until the file systems of some paths have all that was written to them. Raises OSError."""
    import ctypes  # only many changes at once need it

    syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    for path in {os.stat(path).st_dev: path for path in paths}.values():
        if syncfs is None:
            os.sync()
            continue
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            if syncfs(fd):
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), path)
        finally:
            os.close(fd)


@contextlib.contextmanager
def storing(path: str) -> Iterator[None]:
    """Read or write `path`; an OSError becomes the error of `storage_error`."""
    try:
        yield
    except OSError as error:
        raise storage_error(error, path) from error


def storage_error(error: OSError, path: str) -> MemtuiError:
    """Make the error that tells a person which path failed, why, and what to do."""
    reason = error.strerror or str(error)
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        hint = "Free some space and try again; nothing was lost."
    elif error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        hint = f"Make {os.path.dirname(path)} writable for you and try again; nothing was lost."
    elif isinstance(error, fs_hot.LockTimeoutError):
        return MemtuiError("Another memtui process is writing.", f"Try again in a moment; the lock is {path}.")
    else:
        hint = "Fix that and try again; nothing was lost."
    return MemtuiError(f"{path} can't be written: {reason}", hint)


def file_error(error: OSError) -> MemtuiError:
    """Make the error for a file of which only the system's error is known: which file, why, and what to do."""
    return MemtuiError(f"{error.filename or 'A file'}: {error.strerror or error}", "Fix that and try again.")
