"""Write inbox files. A replaced file is kept until nobody writes to it: a shell's `>>` takes no lock."""

import posix

from memtui.base import clock, fs, ids
from memtui.inbox import claim_files
from memtui.inbox import format as inbox_format

# A longer file is not rewritten, since a rewrite holds all of it in memory.
REWRITE_BYTES = 1 << 26
# The longest time that a process needs from replacing a file to releasing its lock.
REPLACE_SECONDS = 0.5
# How long a rewrite waits for a writer to close the replaced file.
WRITER_SECONDS = 0.25

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def add_entry(
    directory: str, kind: str, fields: "dict[str, str]", text: str, timeout: float = 2.0, now: "float | None" = None
) -> str:
    """Add an entry of `kind` with `id` and `time`; return its id. Whole also without the lock. Raises OSError."""
    seconds = clock.now() if now is None else now
    fields = {"id": fields.get("id") or ids.new_id(seconds), "time": clock.iso_seconds(seconds), **fields}
    rendered, path = inbox_format.render(fields, text), directory + "/" + inbox_format.FILES[kind]
    lock = _lock_if_free(directory, timeout)
    try:
        if lock.fd >= 0:
            recover(directory)
            add_locked(path, rendered)
            return fields["id"]
    except OSError:  # maybe of what comes after the entry is in its place: to say that it is not there would double it
        if inbox_format.encode(rendered) not in _end_of(path):
            raise
        return fields["id"]
    finally:
        lock.__exit__()
    append_text(directory, kind, rendered, 0.0)
    return fields["id"]


def append_text(directory: str, kind: str, text: str, timeout: float) -> None:
    """Append text as it is, under the lock if it is free within `timeout` seconds, else without. Raises OSError."""
    data = inbox_format.encode(text)
    path = directory + "/" + inbox_format.FILES[kind]
    lock = _lock_if_free(directory, timeout)
    try:
        if fs.append(path, data, durable=True) or lock.fd >= 0:
            return
    finally:
        lock.__exit__()
    # The process that holds the lock has replaced the file. Once it is done, the new file shows whether it has the text
    # too. If the lock is still held then, the text may be written twice, rather than lost.
    lock = _lock_if_free(directory, max(timeout, REPLACE_SECONDS))
    try:
        if data not in _end_of(path):
            fs.append(path, data, durable=True)
    finally:
        lock.__exit__()


def _lock_if_free(directory: str, timeout: float) -> fs.Lock:
    """Return the lock of an inbox, held (`fd` is not negative) if it was free within `timeout` seconds."""
    lock = fs.Lock(directory + "/" + inbox_format.LOCK_NAME, timeout)
    try:
        lock.__enter__()
    except OSError:
        pass
    return lock


def _end_of(path: str) -> bytes:
    """Return the part of an inbox file that holds all that was just appended."""
    try:
        return fs.read_bytes(path, offset=max(0, posix.stat(path).st_size - inbox_format.MAX_BYTES))
    except FileNotFoundError:
        return b""


def rewrite(path: str, change: "Callable[[str], str]", timeout: float = 2.0) -> bool:
    """Replace an inbox file's text by what `change` returns; return whether it changed. Raises fs.LockTimeoutError."""
    directory = path[: path.rfind("/")]
    with fs.Lock(directory + "/" + inbox_format.LOCK_NAME, timeout):
        recover(directory)
        return rewrite_locked(path, change)


def rewrite_locked(path: str, change: "Callable[[str], str]", again: bool = True) -> bool:
    """Rewrite as `rewrite`, under the caller's lock; `again`: what was appended late is added by another rewrite."""
    while True:
        try:
            fd = fs.open_regular(path)
        except FileNotFoundError:
            after = inbox_format.encode(change(""))
            if after and not fs.create(path, after, durable=True):
                fs.append(path, after, durable=True)  # another process has made the file meanwhile
            return bool(after)
        try:
            before = fs.read_fd(fd, most=REWRITE_BYTES, path=path)
            after = inbox_format.encode(change(inbox_format.decode(before)))
            if after == before:
                return False
            backup = claim_files.keep(path, fd, len(before))
            if backup is None:
                continue
            try:
                if after:
                    fs.write_atomic(path, after)
                else:
                    fs.unlink(path)
            except OSError:
                fs.unlink(backup)
                raise
            _collect(path, fd, len(before), backup, again)
            return True
        finally:
            posix.close(fd)


def add_locked(path: str, text: str, again: bool = True) -> None:
    """Put entries at a file's end by a rewrite (an append over MAX_BYTES), under the caller's lock. Raises OSError."""
    if inbox_format.is_too_long(path):
        fs.append(path, inbox_format.encode(text), durable=True)
        return
    rewrite_locked(path, lambda source: source + ("\n" if source and not source.endswith("\n") else "") + text, again)


def _collect(path: str, fd: int, size: int, backup: str, whole: bool) -> None:
    """Add to `path` what was written to the replaced file beyond `size`, and remove that one. Raises OSError."""
    if not fs.quiet(fd, WRITER_SECONDS) and backup:
        return
    late = fs.read_fd(fd, size, fs.KINDS["claim"][0])
    if late:
        text = _separate(path, late, set())
        if whole:
            add_locked(path, text, again=False)
        else:
            fs.append(path, inbox_format.encode(text), durable=True)
    if backup:
        fs.unlink(backup)


def recover(directory: str) -> None:
    """Carry over what was appended to replaced files, and remove them, under the caller's lock. Raises OSError."""
    replaced = []
    for backup in claim_files.replaced(directory):
        path = f"{directory}/{inbox_format.CLAIMED}/{backup}"
        # A file that has another name was never replaced, and has nothing to carry over. These are removed first, since
        # the rewrites below may replace the file.
        if posix.lstat(path).st_nlink > 1:
            fs.unlink(path)
        else:
            replaced.append(path)
    for path in replaced:
        _, name, size, ulid = path.rsplit("/", 1)[1].split("~")
        since = ids.id_time(ulid) or 0.0
        fd = fs.open_regular(path, ours=True, follow=False)
        try:
            if not fs.quiet(fd) and clock.now() - since < claim_files.KEPT_SECONDS:
                continue
            late = fs.read_fd(fd, int(size), fs.KINDS["claim"][0])
            target = f"{directory}/{name}"
            data = _separate(target, late, claim_files.elsewhere(directory, since)) if late else ""
            if data:
                add_locked(target, data)
            fs.unlink(path)
        finally:
            posix.close(fd)


def _separate(path: str, late: bytes, known_ids: "set[str]") -> str:
    """Return late text as entries with marks, without `known_ids`; in a file of items each line is one already."""
    if path.endswith("/" + inbox_format.FILES["items"]):
        return "" if known_ids and late in _end_of(path) else inbox_format.decode(late)
    entries = claim_files.unknown(inbox_format.parse(inbox_format.decode(late)), known_ids)
    return "".join([inbox_format.standalone(e) for e in entries])
