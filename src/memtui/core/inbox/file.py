"""Writing inbox files: append an entry, rewrite a file, carry over what was appended late.

A shell's `>>` knows no lock: it may have opened the file just before a rewrite put another in its place, and write just
after. The replaced file is kept (claimed.py) until nobody has it open for writing any more; then what it holds beyond
the size that was read is carried over. What a killed rewrite left there, `recover` carries over.
"""

import posix

from memtui.core.base import clock, fs, ids
from memtui.core.inbox import claimed
from memtui.core.inbox import format as inbox_format

# A longer file is not rewritten: who does so holds all of it in memory.
REWRITE_BYTES = 1 << 26
# What a process needs at most from replacing a file to letting go of its lock.
REPLACE_SECONDS = 0.5
# So long a rewrite waits for a writer that has the replaced file open.
WRITER_SECONDS = 0.25

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def append_entry(
    directory: str, kind: str, fields: "dict[str, str]", text: str, timeout: float = 2.0, now: "float | None" = None
) -> str:
    """Append an entry of `kind` (guidance, updates, items) and return its id. Raises OSError.

    `id` and `time` are added where the fields lack them. A lock that stays held for `timeout` seconds is passed by: an
    append is whole without it, and what is said must not be lost.
    """
    seconds = clock.now() if now is None else now
    whole = {"id": fields.get("id") or ids.new_id(seconds), "time": clock.iso_seconds(seconds), **fields}
    append_text(directory, kind, inbox_format.render(whole, text), timeout)
    return whole["id"]


def append_text(directory: str, kind: str, text: str, timeout: float) -> None:
    """Append text as it is, under the lock if it can be had in `timeout` seconds, else without. Raises OSError."""
    data = inbox_format.encode(text)
    path = directory + "/" + inbox_format.FILES[kind]
    lock = fs.Lock(directory + "/" + inbox_format.LOCK_NAME, timeout)
    try:
        lock.__enter__()
    except OSError:
        pass
    try:
        if fs.append(path, data, durable=True) or lock.fd >= 0:
            return
    finally:
        lock.__exit__()
    # Whoever holds the lock has replaced the file: only after it can be seen whether this came along.
    lock = fs.Lock(directory + "/" + inbox_format.LOCK_NAME, max(timeout, REPLACE_SECONDS))
    try:
        lock.__enter__()
    except OSError:
        pass  # rather said twice than lost
    try:
        if data not in end_of(path):
            fs.append(path, data, durable=True)
    finally:
        lock.__exit__()


def end_of(path: str) -> bytes:
    """The end of an inbox file, as far back as what was just appended can stand."""
    try:
        return fs.read_bytes(path, offset=inbox_format.unread(path))
    except FileNotFoundError:
        return b""


def rewrite(path: str, change: "Callable[[str], str]", timeout: float = 2.0) -> bool:
    """Read an inbox file, let `change` make its new text, and replace it; True if anything changed.

    Holds the inbox lock (raises fs.LockTimeoutError after `timeout` seconds). A writer who knows of no lock, such as a
    shell's `>>`, loses nothing: the file is read again if it changed in between, and what was appended to the replaced
    file is carried over. An empty result removes the file.
    """
    directory = path[: path.rfind("/")]
    with fs.Lock(directory + "/" + inbox_format.LOCK_NAME, timeout):
        recover(directory)
        return rewrite_locked(path, change)


def rewrite_locked(path: str, change: "Callable[[str], str]", again: bool = True) -> bool:
    """As `rewrite`, for a caller that holds the inbox lock. `again`: what was appended late is added by a rewrite too,
    and only what comes during that is appended."""
    while True:
        try:
            fd = fs.open_regular(path)
        except FileNotFoundError:
            after = inbox_format.encode(change(""))
            if after and not fs.create(path, after, durable=True):
                fs.append(path, after, durable=True)  # someone has made the file since
            return bool(after)
        try:
            before = fs.read_fd(fd, most=REWRITE_BYTES, path=path)
            after = inbox_format.encode(change(inbox_format.decode(before)))
            if after == before:
                return False
            kept = claimed.keep(path, fd, len(before))
            if kept is None:
                continue
            try:
                if after:
                    fs.write_atomic(path, after)
                else:
                    fs.unlink(path)
            except OSError:
                fs.unlink(kept)
                raise
            collect(path, fd, len(before), kept, again)
            return True
        finally:
            posix.close(fd)


def add_locked(path: str, text: str, again: bool = True) -> None:
    """Put entries at the end of an inbox file, all or nothing: a process can be killed in the middle of an append.
    Only where the file is too long to be rewritten in passing they are appended.

    For a caller that holds the inbox lock. Raises OSError.
    """
    if inbox_format.unread(path):
        fs.append(path, inbox_format.encode(text), durable=True)
        return
    rewrite_locked(path, lambda source: source + ("\n" if source and not source.endswith("\n") else "") + text, again)


def collect(path: str, fd: int, size: int, kept: str, whole: bool) -> None:
    """Add to the file at `path` what was written to the one that it replaced; `whole`: all or nothing, should this
    process be killed. Raises OSError."""
    if not fs.quiet(fd, WRITER_SECONDS) and kept:
        return
    late = fs.read_fd(fd, size, fs.KINDS["claim"][0])
    if late:
        text = _separate(path, late, set())
        if whole:
            add_locked(path, text, again=False)
        else:
            fs.append(path, inbox_format.encode(text), durable=True)
    if kept:
        fs.unlink(kept)


def recover(directory: str) -> None:
    """Carry over what rewrites of an inbox had to leave behind. The caller holds the inbox lock. Raises OSError."""
    replaced = []
    for kept in claimed.replaced(directory):
        path = f"{directory}/{inbox_format.CLAIMED}/{kept}"
        # With another name to it, the file was never replaced: what it holds is in nobody's way. Such go first, as what
        # is carried over below may replace the file.
        if posix.lstat(path).st_nlink > 1:
            fs.unlink(path)
        else:
            replaced.append(path)
    for path in replaced:
        _, name, size, made = path.rsplit("/", 1)[1].split("~")
        since = ids.id_time(made) or 0.0
        fd = fs.open_regular(path, ours=True, follow=False)
        try:
            if not fs.quiet(fd) and clock.now() - since < claimed.KEPT_SECONDS:
                continue
            late = fs.read_fd(fd, int(size), fs.KINDS["claim"][0])
            target = f"{directory}/{name}"
            data = _separate(target, late, claimed.elsewhere(directory, since)) if late else ""
            if data:
                add_locked(target, data)
            fs.unlink(path)
        finally:
            posix.close(fd)


def _separate(path: str, late: bytes, known: "set[str]") -> str:
    """Late text as entries of their own, so that they stay the same whatever is written beside them, less those known.
    In a list of items each line is one already."""
    if path.endswith("/" + inbox_format.FILES["items"]):
        return "" if known and late in end_of(path) else inbox_format.decode(late)
    entries = claimed.unknown(inbox_format.parse(inbox_format.decode(late)), known)
    return "".join([inbox_format.standalone(e) for e in entries])
