"""Read, append, replace and lock files: bounded reads, appends in one write, atomic rewrites, advisory locks.

Imports only what costs a hook nothing. Everything that memtui creates is private (directories 0700, files 0600), except
what goes into a repository; a rewrite keeps the mode of the file it replaces."""

import posix
import time

from memtui.base import fastjson_hot, native_hot

FILE_MODE = 0o600
DIR_MODE = 0o700
NEW_FILE = posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC
S_IFMT, S_IFDIR, S_IFREG, S_IFLNK = 0o170000, 0o040000, 0o100000, 0o120000
LOCK_POLL_SECONDS = 0.005
NOT_REGULAR = "not a regular file"
# The files that a hook or worker reads whole, by kind: the most bytes one may have, and whether it must belong to us or
# to root. A larger file was made neither by memtui nor for it. Inbox files, memories, logs and transcripts may be of
# any length, and are read in part: inbox/file, places/catalog, deliveries/log, client/transcript.
KINDS = {
    "settings": (1 << 20, True),  # config.toml, installs.json
    "session": (1 << 24, True),  # sessions/: what a session was told, how far its transcript was read
    "trust": (1 << 25, True),  # some 80 bytes a memory
    "cache": (1 << 26, True),  # run/: some 250 bytes a memory
    "claim": (1 << 24, True),  # guidance that a hook claimed; a writer may have added to it since
    "client": (1 << 21, False),  # the client's settings, as large as it reads; a repository's are anyone's
}


class LockTimeoutError(OSError):
    """Another process held a lock for longer than the caller would wait."""


class KeptError(OSError):
    """An append failed, but some of its bytes are in the file and can't be removed."""


def open_regular(path: str, ours: bool = False, follow: bool = True, write: bool = False) -> int:
    """Open a regular file, for reading, or with `write` for both, without ever waiting; return the descriptor. Raises
    OSError, also for FIFOs, sockets, devices and directories; with `ours` for files that belong to neither us nor root,
    without `follow` for symlinks."""
    flags = posix.O_CLOEXEC | posix.O_NONBLOCK | posix.O_NOCTTY | (posix.O_RDWR if write else posix.O_RDONLY)
    fd = posix.open(path, flags if follow else flags | posix.O_NOFOLLOW)
    try:
        owner = _regular(fd, path).st_uid
        if ours and owner not in (posix.geteuid(), 0):
            raise OSError(1, f"belongs to another user (number {owner})", path)
    except OSError:
        posix.close(fd)
        raise
    return fd


def _regular(fd: int, path: str) -> "posix.stat_result":
    status = posix.fstat(fd)
    if status.st_mode & S_IFMT != S_IFREG:
        raise OSError(22, NOT_REGULAR, path)
    return status


def read(path: str, kind: str) -> bytes:
    """Read a whole file of one of the KINDS. Raises OSError, also for one that is too large or not ours."""
    most, ours = KINDS[kind]
    fd = open_regular(path, ours)
    try:
        return read_fd(fd, most=most, path=path)
    finally:
        posix.close(fd)


def read_table(path: str, kind: str = "cache") -> "dict[str, object]":
    """Read a JSON object as `read` does; an empty one for a file that can't be read, or holds none."""
    try:
        return fastjson_hot.loads_dict(read(path, kind))
    except OSError:
        return {}


def read_bytes(path: str, limit: int = -1, offset: int = 0, follow: bool = True) -> bytes:
    """Read a regular file from `offset`, at most `limit` bytes (-1: all), whoever owns it. Raises OSError."""
    fd = open_regular(path, follow=follow)
    try:
        return _read(fd, offset, posix.fstat(fd).st_size - offset, limit)
    finally:
        posix.close(fd)


def _read(fd: int, offset: int, expected: int, limit: int) -> bytes:
    """Read an open file from `offset`, at most `limit` bytes (-1: all); it had `expected` when that was looked up."""
    chunks = []
    # Ask for no more than the file has: a buffer of a megabyte costs more than reading a memory. A file that grows
    # meanwhile is read to its new end; a short read is the end once the size that was known is read.
    size = min(max(expected, 0) + 1, 1 << 20)
    while limit:
        size = size if limit < 0 else min(limit, size)
        chunk = posix.pread(fd, size, offset)
        expected -= len(chunk)
        offset += len(chunk)
        chunks.append(chunk)
        if not chunk or (len(chunk) < size and expected <= 0):
            break
        if limit > 0:
            limit -= len(chunk)
        size = min(expected + 1, 1 << 20) if expected > 0 else 1 << 20
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def read_fd(fd: int, offset: int = 0, most: int = -1, path: str = "") -> bytes:
    """Read an open file from `offset` to its end. Raises OSError, also for more than `most` bytes (-1: any number)."""
    size = posix.fstat(fd).st_size - offset
    too_large = 0 <= most < size
    data = b"" if too_large else _read(fd, offset, size, -1 if most < 0 else most + 1)
    if too_large or 0 <= most < len(data):  # it grew, or is a file of the kernel, which reports no size
        raise OSError(27, f"is larger than {most >> 20} MB", path)
    return data


def read_or_empty(path: str, limit: int = -1) -> bytes:
    """Read as `read_bytes` does, but a missing file as an empty one. Raises OSError for other errors."""
    try:
        return read_bytes(path, limit)
    except FileNotFoundError:
        return b""


def head(path: str, limit: int = -1) -> bytes:
    """Read the first `limit` bytes of a file (-1: all); none where it can't be read."""
    try:
        return read_bytes(path, limit)
    except OSError:
        return b""


def stamp(path: str) -> int:
    """Return a number that changes when a file does; 0 if it is missing or empty."""
    try:
        status = posix.stat(path)
    except OSError:
        return 0
    return status.st_mtime_ns ^ status.st_size << 1 if status.st_size else 0


def makedirs(path: str, mode: int = DIR_MODE) -> None:
    """Create a directory and its parents, private unless `mode` is given. No error if it exists. Raises OSError."""
    try:
        posix.mkdir(path, mode)
    except FileExistsError:
        return
    except FileNotFoundError:
        above = path[: path.rstrip("/").rfind("/")]
        if not above:
            raise
        makedirs(above, mode)
        try:
            posix.mkdir(path, mode)
        except FileExistsError:  # another process was faster
            return


def _open_making_dirs(path: str, flags: int, mode: int) -> int:
    try:
        return posix.open(path, flags, mode)
    except FileNotFoundError:
        makedirs(path[: path.rfind("/")])
        return posix.open(path, flags, mode)


def write_all(fd: int, data: bytes) -> None:
    """Write every byte, or raise OSError (a full disk can take only a part)."""
    while data:
        data = data[posix.write(fd, data) :]


def append(path: str, data: bytes, durable: bool = False) -> bool:
    """Append in a single write, so that lines of concurrent writers do not mix, behind a newline if a crash tore the
    last one. `durable` waits for the disk. False if another process removed or replaced the file meanwhile. Raises
    OSError after removing what was written; KeptError if that can't be removed."""
    flags = posix.O_RDWR | posix.O_APPEND | posix.O_CREAT | posix.O_CLOEXEC | posix.O_NONBLOCK | posix.O_NOCTTY
    fd = _open_making_dirs(path, flags, FILE_MODE)
    try:
        size = _regular(fd, path).st_size
        if size and posix.pread(fd, 1, size - 1) != b"\n":
            data = b"\n" + data
        count = posix.write(fd, data)
        if count < len(data) or durable:
            _complete(fd, data, count, durable)
        return posix.fstat(fd).st_nlink > 0
    finally:
        posix.close(fd)


def _complete(fd: int, data: bytes, offset: int, durable: bool) -> None:
    """Append what the first write left over, and remove all of it again on an error; KeptError if that can't be."""
    start = posix.lseek(fd, 0, 1) - offset
    try:
        write_all(fd, data[offset:])
        if durable:
            posix.fsync(fd)
    except OSError as error:
        try:
            alone = data.startswith(posix.pread(fd, len(data) + 1, start))
            if alone:
                posix.ftruncate(fd, start)
        except OSError:
            alone = False
        if alone:
            raise
        raise KeptError(*error.args) from error


_caches = True


def keep_no_caches() -> None:
    """Write no more caches in this process: it is to write nothing at all."""
    global _caches  # noqa: PLW0603
    _caches = False


def write_cache(path: str, data: bytes) -> None:
    """Write a file that can be made again. No error is raised if that fails: nothing is lost."""
    if not _caches:
        return
    try:
        write_atomic(path, data, durable=False)
    except OSError:
        pass


def overwrite(path: str, data: bytes) -> None:
    """Overwrite a file in place, at a fifth of `write_atomic`'s cost; a crash damages it. Raises OSError."""
    fd = _open_making_dirs(path, posix.O_RDWR | posix.O_CREAT | posix.O_CLOEXEC | posix.O_NONBLOCK, FILE_MODE)
    try:
        size = _regular(fd, path).st_size
        write_all(fd, data)
        if size > len(data):
            posix.ftruncate(fd, len(data))
    finally:
        posix.close(fd)


def temporary(path: str) -> str:
    """Return a new name for the temporary file that is to replace a file, in the same directory."""
    return f"{path}.{posix.getpid()}-{posix.urandom(4).hex()}.tmp"


def temporary_of(name: str) -> "tuple[str, int] | None":
    """Split a name from `temporary` into (the file's own name, its writer's process id); None for other names."""
    stem, _, mark = name.removesuffix(".tmp").rpartition(".")
    pid, _, random = mark.partition("-")
    if not name.endswith(".tmp") or not (pid.isascii() and pid.isdecimal()) or len(random) != 8:
        return None
    return stem, int(pid)


def write_atomic(path: str, data: bytes, durable: bool = True) -> None:
    """Replace a file by a temporary one, synced if `durable`; on any error the old content stays. Raises OSError."""
    new = temporary(path)
    mode = FILE_MODE
    try:
        status = posix.stat(path)
        if status.st_mode & S_IFMT == S_IFREG:
            mode = status.st_mode & 0o7777
    except OSError:
        pass
    fd = _open_making_dirs(new, NEW_FILE, FILE_MODE)
    try:
        write_and_close(fd, data, mode, durable)
        posix.rename(new, path)
    except BaseException:
        try:
            posix.unlink(new)
        except OSError:
            pass
        raise
    if durable:
        sync_dir(path[: path.rfind("/")] or "/")


def write_and_close(fd: int, data: bytes, mode: int, durable: bool) -> None:
    """Write all of a new file, with permission bits, to the disk if `durable`, and close it. Raises OSError."""
    try:
        write_all(fd, data)
        if mode != FILE_MODE:
            posix.fchmod(fd, mode)
        if durable:
            posix.fsync(fd)
    finally:
        posix.close(fd)


def create(path: str, data: bytes, durable: bool = False) -> bool:
    """Create a file with all of its data at once; False if it exists or can't be written. Raises OSError."""
    new = temporary(path)
    fd = _open_making_dirs(new, NEW_FILE, FILE_MODE)
    try:
        write_and_close(fd, data, FILE_MODE, durable)
        posix.link(new, path)
    except OSError:
        return False
    finally:
        unlink(new)
    if durable:
        sync_dir(path[: path.rfind("/")] or "/")
    return True


def sync_dir(path: str) -> None:
    """Wait until the disk has the names of a directory: makes a rename durable. No error if the file system can't."""
    sync(path, posix.O_DIRECTORY)


def sync(path: str, flags: int = 0) -> None:
    """Wait until the disk has what was written to a file, if it exists. No error if the file system can't."""
    try:
        fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK | flags)
    except OSError:
        return
    try:
        posix.fsync(fd)
    except OSError:
        pass
    finally:
        posix.close(fd)


def unlink(path: str) -> None:
    """Remove a file; no error if there is none. Raises OSError for other errors."""
    try:
        posix.unlink(path)
    except FileNotFoundError:
        pass


def quiet(fd: int, seconds: float = 0.0) -> bool:
    """Tell whether nobody has a file open for writing, waiting up to `seconds`; the kernel grants a lease on the read-
    only `fd` only then. On file systems without leases True, after a wait for a writer that has just opened it."""
    fcntl = native_hot.load("fcntl")
    deadline = time.monotonic() + seconds
    while True:
        try:
            # A broken lease sends a signal: choose one that is ignored, since the default one ends the process.
            fcntl.fcntl(fd, fcntl.F_SETSIG, 23)  # SIGURG
            fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
            return True
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
        except (AttributeError, OSError):
            time.sleep(min(seconds, 0.05))
            return True
        time.sleep(LOCK_POLL_SECONDS)


class Lock:
    """An advisory lock on a file, as a context manager; the file stays behind. `timeout` is in seconds; 0 tries once.
    The kernel frees the lock of a killed process. `by_process`: a record lock, which keeps out other processes alone,
    not other threads, and for which a hook loads no module; all who lock a file have to choose the same. Raises
    LockTimeoutError, and another OSError where no lock is possible."""

    def __init__(self, path: str, timeout: float, by_process: bool = False) -> None:
        self.path, self.timeout, self.by_process = path, timeout, by_process
        self.fd = -1

    def __enter__(self) -> "Lock":  # noqa: PYI034  typing costs a hook its budget
        flags = posix.O_RDWR | posix.O_CREAT | posix.O_CLOEXEC | posix.O_NONBLOCK | posix.O_NOCTTY
        self.fd = _open_making_dirs(self.path, flags, FILE_MODE)
        try:
            _regular(self.fd, self.path)
            deadline = time.monotonic() + self.timeout
            while True:
                try:
                    if self.by_process:
                        posix.lockf(self.fd, posix.F_TLOCK, 0)
                    else:
                        fcntl = native_hot.load("fcntl")
                        fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return self
                except BlockingIOError as error:
                    if time.monotonic() >= deadline:
                        raise LockTimeoutError(11, "held by another process", self.path) from error
                time.sleep(LOCK_POLL_SECONDS)
        except OSError:  # also of a file system without locks
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        if self.fd >= 0:
            posix.close(self.fd)
            self.fd = -1
