"""Read, append, replace and lock files: bounded reads, appends in one write, atomic rewrites, advisory locks.

Standard library only, and of that only what costs a hook nothing to import.

Everything memtui creates is private, directories 0700, files 0600, but for what goes into a repository. A rewrite keeps
the mode of the file it replaces.
"""

import posix
import time

FILE_MODE = 0o600
DIR_MODE = 0o700
S_IFMT, S_IFDIR, S_IFREG, S_IFLNK = 0o170000, 0o040000, 0o100000, 0o120000
LOCK_POLL_SECONDS = 0.005
NOT_REGULAR = "not a regular file"
# What a hook or worker reads whole: the most bytes that a file of each kind may have, and whether it must belong to us
# or to root. A larger one was made neither by memtui nor for it. Of inbox files, memories, logs and transcripts, which
# may be as long as they like, a part is read: inbox/file, places/catalog, deliveries/log, client/transcript.
KINDS = {
    "settings": (1 << 20, True),  # config.toml, installs.json
    "session": (1 << 24, True),  # what a session was told, how far its transcript was read
    "trust": (1 << 25, True),  # some 80 bytes a memory
    "cache": (1 << 26, True),  # run/: some 250 bytes a memory
    "claim": (1 << 24, True),  # guidance that a hook took; it may have grown since
    "client": (1 << 22, False),  # the client's settings; a repository's belong to whoever made it
}


class LockTimeoutError(OSError):
    """Another process held the lock for longer than the caller would wait."""


class KeptError(OSError):
    """Writing failed, yet what was written is there, at least a part of it, and can't be taken off again."""


def open_regular(path: str, ours: bool = False, follow: bool = True, write: bool = False) -> int:
    """A descriptor of a regular file, for reading, or with `write` for both; opening never waits. Raises OSError.

    FIFOs, sockets, devices and directories are refused; with `ours` also what belongs to neither us nor root, without
    `follow` also symlinks.
    """
    flags = posix.O_CLOEXEC | posix.O_NONBLOCK | posix.O_NOCTTY | (posix.O_RDWR if write else posix.O_RDONLY)
    fd = posix.open(path, flags if follow else flags | posix.O_NOFOLLOW)
    found = posix.fstat(fd)
    if found.st_mode & S_IFMT != S_IFREG:
        posix.close(fd)
        raise OSError(22, NOT_REGULAR, path)
    if ours and found.st_uid not in (posix.geteuid(), 0):
        posix.close(fd)
        raise OSError(1, f"belongs to another user (number {found.st_uid})", path)
    return fd


def read(path: str, kind: str) -> bytes:
    """Read a whole file of one of the KINDS. Raises OSError, also for one that is too large or not ours."""
    most, ours = KINDS[kind]
    fd = open_regular(path, ours)
    try:
        return read_fd(fd, most=most, path=path)
    finally:
        posix.close(fd)


def read_bytes(path: str, limit: int = -1, offset: int = 0) -> bytes:
    """Read a regular file from `offset`, at most `limit` bytes (-1: all), whoever owns it. Raises OSError."""
    fd = open_regular(path)
    try:
        if offset:
            posix.lseek(fd, offset, 0)
        chunks = []
        # No more is asked for than there is: room for a megabyte costs more than a memory. What grows meanwhile is read
        # on; a short answer is the end once all that there was is read.
        left = posix.fstat(fd).st_size - offset
        size = min(max(left, 0) + 1, 1 << 20)
        while limit:
            size = size if limit < 0 else min(limit, size)
            chunk = posix.read(fd, size)
            left -= len(chunk)
            chunks.append(chunk)
            if not chunk or (len(chunk) < size and left <= 0):
                break
            if limit > 0:
                limit -= len(chunk)
            size = min(left + 1, 1 << 20) if left > 0 else 1 << 20
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)
    finally:
        posix.close(fd)


def read_or_empty(path: str, limit: int = -1) -> bytes:
    """Read as `read_bytes` does, but take a missing file for an empty one. Other errors are raised."""
    try:
        return read_bytes(path, limit)
    except FileNotFoundError:
        return b""


def stamp(path: str) -> int:
    """A number that changes with a file; 0 if it is missing or empty."""
    try:
        found = posix.stat(path)
    except OSError:
        return 0
    return found.st_mtime_ns ^ found.st_size << 1 if found.st_size else 0


def makedirs(path: str, mode: int = DIR_MODE) -> None:
    """Create a directory and its parents, private unless the permission bits are given. No error where it exists."""
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
    """Append in a single write to a file made if need be: whole lines of concurrent writers do not mix.

    A last line torn by a crash is closed with a newline first, so that it costs one line, not two. `durable` waits
    for the disk. False if another process has removed or replaced the file in between, and may not have seen the data.
    Raises OSError; what the disk took of the data is then taken off again, and where that can't be, it is a KeptError.
    """
    flags = posix.O_RDWR | posix.O_APPEND | posix.O_CREAT | posix.O_CLOEXEC | posix.O_NONBLOCK | posix.O_NOCTTY
    fd = _open_making_dirs(path, flags, FILE_MODE)
    try:
        found = posix.fstat(fd)
        if found.st_mode & S_IFMT != S_IFREG:
            raise OSError(22, NOT_REGULAR, path)
        size = found.st_size
        if size and posix.pread(fd, 1, size - 1) != b"\n":
            data = b"\n" + data
        written = posix.write(fd, data)
        if written < len(data) or durable:
            _complete(fd, data, written, durable)
        return posix.fstat(fd).st_nlink > 0
    finally:
        posix.close(fd)


def _complete(fd: int, data: bytes, written: int, durable: bool) -> None:
    """Append what a first write left, and wait for the disk; if it is full or fails, take off again what is there,
    unless it is not the end any more."""
    start = posix.lseek(fd, 0, 1) - written
    try:
        write_all(fd, data[written:])
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
    """Write no more caches in this process: nothing at all shall be written."""
    global _caches  # noqa: PLW0603
    _caches = False


def write_cache(path: str, data: bytes) -> None:
    """Write a file that can be made again. If it can't be written, nothing is lost and no error is raised."""
    if not _caches:
        return
    try:
        write_atomic(path, data, durable=False)
    except OSError:
        pass


def overwrite(path: str, data: bytes) -> None:
    """Write a file in its place, which costs a fifth of `write_atomic`; dying in between spoils it. Raises OSError."""
    fd = _open_making_dirs(path, posix.O_RDWR | posix.O_CREAT | posix.O_CLOEXEC | posix.O_NONBLOCK, FILE_MODE)
    try:
        found = posix.fstat(fd)
        if found.st_mode & S_IFMT != S_IFREG:
            raise OSError(22, NOT_REGULAR, path)
        write_all(fd, data)
        if found.st_size > len(data):
            posix.ftruncate(fd, len(data))
    finally:
        posix.close(fd)


def temporary(path: str) -> str:
    """Name a new temporary file beside a file that it will replace."""
    return f"{path}.{posix.getpid()}-{posix.urandom(4).hex()}.tmp"


def temporary_of(name: str) -> "tuple[str, int] | None":
    """Take a name that `temporary` made apart: (the file's own name, its writer's process); None for other names."""
    stem, _, mark = name.removesuffix(".tmp").rpartition(".")
    pid, _, random = mark.partition("-")
    if not name.endswith(".tmp") or not (pid.isascii() and pid.isdecimal()) or len(random) != 8:
        return None
    return stem, int(pid)


def write_atomic(path: str, data: bytes, durable: bool = True) -> None:
    """Replace a file: temporary file in the same directory, flush, fsync, rename.

    `durable=False` leaves out the fsync: for derived state that may be lost with the power, never for a person's
    words. On any error the temporary file is removed and the old content stays.
    """
    made = temporary(path)
    mode = FILE_MODE
    try:
        found = posix.stat(path)
        if found.st_mode & S_IFMT == S_IFREG:
            mode = found.st_mode & 0o7777
    except OSError:
        pass
    fd = _open_making_dirs(made, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC, FILE_MODE)
    try:
        try:
            write_all(fd, data)
            if mode != FILE_MODE:
                posix.fchmod(fd, mode)
            if durable:
                posix.fsync(fd)
        finally:
            posix.close(fd)
        posix.rename(made, path)
    except BaseException:
        try:
            posix.unlink(made)
        except OSError:
            pass
        raise
    if durable:
        sync_dir(path[: path.rfind("/")] or "/")


def create(path: str, data: bytes, durable: bool = False) -> bool:
    """Create a file with all of its data at once. False, with nothing done, if it exists or can't be created."""
    made = temporary(path)
    fd = _open_making_dirs(made, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC, FILE_MODE)
    try:
        try:
            write_all(fd, data)
            if durable:
                posix.fsync(fd)
        finally:
            posix.close(fd)
        posix.link(made, path)
    except OSError:
        return False
    finally:
        unlink(made)
    if durable:
        sync_dir(path[: path.rfind("/")] or "/")
    return True


def sync_dir(path: str) -> None:
    """Make a rename durable. A file system that can't is no error."""
    sync(path, posix.O_DIRECTORY)


def sync(path: str, flags: int = 0) -> None:
    """Wait until the disk has what was written to a file, if it exists. A file system that can't is no error."""
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
    """Remove a file; no error where there is none."""
    try:
        posix.unlink(path)
    except FileNotFoundError:
        pass


def read_fd(fd: int, offset: int = 0, most: int = -1, path: str = "") -> bytes:
    """Read an open file from `offset` to its end. Raises OSError, also for more than `most` bytes (-1: any number)."""
    chunks = []
    size = 0
    if 0 <= most < posix.fstat(fd).st_size - offset:
        raise _too_large(most, path)
    while chunk := posix.pread(fd, 1 << 20, offset):
        chunks.append(chunk)
        offset += len(chunk)
        size += len(chunk)
        if 0 <= most < size:  # it grows, or is one of those of the kernel that tell no size
            raise _too_large(most, path)
    return b"".join(chunks)


def _too_large(most: int, path: str) -> OSError:
    return OSError(27, f"is larger than {most >> 20} MB", path)


def quiet(fd: int, seconds: float = 0.0) -> bool:
    """Whether nobody has a file open for writing, by a read-only descriptor of it; waits up to `seconds` for that.

    The kernel grants a lease only then. Of a file that has lost its name this says that it will not change any more.
    Where there are no leases nobody can tell: True, after time enough for a writer that has just opened the file.
    """
    import fcntl

    deadline = time.monotonic() + seconds
    while True:
        try:
            # A lease that somebody breaks sends a signal: one that is ignored, in place of one that ends the process.
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


def alive(pid: int) -> bool:
    """Whether a process is running, whoever owns it."""
    try:
        posix.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


class Lock:
    """An advisory lock on a file, as a context manager; the file stays behind. Raises LockTimeoutError, and another
    OSError where there can be no lock.

    `timeout` in seconds; 0 tries once. The kernel frees the lock of a killed process.
    """

    def __init__(self, path: str, timeout: float) -> None:
        self.path = path
        self.timeout = timeout
        self.fd = -1

    def __enter__(self) -> "Lock":  # noqa: PYI034  typing costs a hook its budget
        import fcntl

        flags = posix.O_RDWR | posix.O_CREAT | posix.O_CLOEXEC | posix.O_NONBLOCK | posix.O_NOCTTY
        self.fd = _open_making_dirs(self.path, flags, FILE_MODE)
        if posix.fstat(self.fd).st_mode & S_IFMT != S_IFREG:
            self.__exit__()
            raise OSError(22, NOT_REGULAR, self.path)
        deadline = time.monotonic() + self.timeout
        while True:
            try:
                fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return self
            except BlockingIOError as error:
                if time.monotonic() >= deadline:
                    self.__exit__()
                    raise LockTimeoutError(11, "held by another process", self.path) from error
            except OSError:  # a file system without locks
                self.__exit__()
                raise
            time.sleep(LOCK_POLL_SECONDS)

    def __exit__(self, *_: object) -> None:
        if self.fd >= 0:
            posix.close(self.fd)
            self.fd = -1
