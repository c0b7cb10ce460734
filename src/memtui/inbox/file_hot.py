"""Write inbox files, and list the directory `claimed` of an inbox: guidance that hooks took, and replaced files. A
replaced file is kept until nobody writes to it: a shell's `>>` takes no lock."""

import posix

from memtui.base import clock_hot, fs_hot, ids_hot
from memtui.inbox import format_hot

REWRITE_BYTES = 1 << 26  # a longer file is not rewritten, since a rewrite holds all of it in memory
REPLACE_SECONDS = 0.5  # the longest time that a process needs from replacing a file to releasing its lock
WRITER_SECONDS = 0.25  # how long a rewrite waits for a writer to close the replaced file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def add_entry(
    directory: str, kind: str, fields: "dict[str, str]", text: str, timeout: float = 2.0, now: "float | None" = None
) -> str:
    """Add an entry of `kind` with `id` and `time`; return its id. Whole also without the lock. Raises OSError."""
    seconds = clock_hot.now() if now is None else now
    fields = {"id": fields.get("id") or ids_hot.new_id(seconds), "time": clock_hot.iso_seconds(seconds), **fields}
    rendered, path = format_hot.render(fields, text), directory + "/" + format_hot.FILES[kind]
    lock = _lock_if_free(directory, timeout)
    try:
        if lock.fd >= 0:
            recover(directory)
            add_locked(path, rendered)
            return fields["id"]
    except OSError:  # maybe of what comes after the entry is in its place: to say that it is not there would double it
        if format_hot.encode(rendered) not in _end_of(path):
            raise
        return fields["id"]
    finally:
        lock.__exit__()
    append_text(directory, kind, rendered, 0.0)
    return fields["id"]


def append_text(directory: str, kind: str, text: str, timeout: float) -> None:
    """Append text as it is, under the lock if it is free within `timeout` seconds, else without. Raises OSError."""
    data = format_hot.encode(text)
    path = directory + "/" + format_hot.FILES[kind]
    lock = _lock_if_free(directory, timeout)
    try:
        if fs_hot.append(path, data, durable=True) or lock.fd >= 0:
            return
    finally:
        lock.__exit__()
    # The process that holds the lock has replaced the file. Once it is done, the new file shows whether it has the text
    # too. If the lock is still held then, the text may be written twice, rather than lost.
    lock = _lock_if_free(directory, max(timeout, REPLACE_SECONDS))
    try:
        if data not in _end_of(path):
            fs_hot.append(path, data, durable=True)
    finally:
        lock.__exit__()


def _lock_if_free(directory: str, timeout: float) -> fs_hot.Lock:
    """Return the lock of an inbox, held (`fd` is not negative) if it was free within `timeout` seconds."""
    lock = fs_hot.Lock(directory + "/" + format_hot.LOCK_NAME, timeout)
    try:
        lock.__enter__()
    except OSError:
        pass
    return lock


def _end_of(path: str) -> bytes:
    try:
        return fs_hot.read_bytes(path, offset=max(0, posix.stat(path).st_size - format_hot.MAX_BYTES))
    except FileNotFoundError:
        return b""


def rewrite(path: str, change: "Callable[[str], str]", timeout: float = 2.0) -> bool:
    """Replace a file's text by what `change` returns; return whether it changed. Raises fs_hot.LockTimeoutError."""
    directory = path[: path.rfind("/")]
    with fs_hot.Lock(directory + "/" + format_hot.LOCK_NAME, timeout):
        recover(directory)
        return rewrite_locked(path, change)


def rewrite_locked(path: str, change: "Callable[[str], str]", again: bool = True) -> bool:
    """Rewrite as `rewrite`, under the caller's lock; `again`: what was appended late is added by another rewrite."""
    while True:
        try:
            fd = fs_hot.open_regular(path)
        except FileNotFoundError:
            after = format_hot.encode(change(""))
            if after and not fs_hot.create(path, after, durable=True):
                fs_hot.append(path, after, durable=True)  # another process has made the file meanwhile
            return bool(after)
        try:
            before = fs_hot.read_fd(fd, most=REWRITE_BYTES, path=path)
            after = format_hot.encode(change(format_hot.decode(before)))
            if after == before:
                return False
            backup = _backup(path, fd, len(before))
            if backup is None:
                continue
            try:
                if after:
                    fs_hot.write_atomic(path, after)
                else:
                    fs_hot.unlink(path)
            except OSError:
                fs_hot.unlink(backup)
                raise
            _collect(path, fd, len(before), backup, again)
            return True
        finally:
            posix.close(fd)


def add_locked(path: str, text: str, again: bool = True) -> None:
    """Put entries at a file's end by a rewrite (an append over MAX_BYTES), under the caller's lock. Raises OSError."""
    if format_hot.is_too_long(path):
        fs_hot.append(path, format_hot.encode(text), durable=True)
        return
    rewrite_locked(path, lambda source: source + ("\n" if source and not source.endswith("\n") else "") + text, again)


def _collect(path: str, fd: int, size: int, backup: str, whole: bool) -> None:
    """Add to `path` what was written to the replaced file beyond `size`, and remove that one. Raises OSError."""
    if not fs_hot.quiet(fd, WRITER_SECONDS) and backup:
        return
    late = fs_hot.read_fd(fd, size, fs_hot.KINDS["claim"][0])
    if late:
        text = _separate(path, late, set())
        if whole:
            add_locked(path, text, again=False)
        else:
            fs_hot.append(path, format_hot.encode(text), durable=True)
    if backup:
        fs_hot.unlink(backup)


def recover(directory: str) -> None:
    """Carry over what was appended to replaced files, and remove them, under the caller's lock. Raises OSError."""
    replaced = []
    for backup in replaced_files(directory):
        path = f"{directory}/{format_hot.CLAIMED}/{backup}"
        # A file that has another name was never replaced; such go first, as the rewrites below may replace the file.
        if posix.lstat(path).st_nlink > 1:
            fs_hot.unlink(path)
        else:
            replaced.append(path)
    for path in replaced:
        _, name, size, ulid = path.rsplit("/", 1)[1].split("~")
        since = ids_hot.id_time(ulid) or 0.0
        fd = fs_hot.open_regular(path, ours=True, follow=False)
        try:
            if not fs_hot.quiet(fd) and clock_hot.now() - since < KEPT_SECONDS:
                continue
            late = fs_hot.read_fd(fd, int(size), fs_hot.KINDS["claim"][0])
            target = f"{directory}/{name}"
            data = _separate(target, late, known_elsewhere(directory, since)) if late else ""
            if data:
                add_locked(target, data)
            fs_hot.unlink(path)
        finally:
            posix.close(fd)


def _separate(path: str, late: bytes, known_ids: "set[str]") -> str:
    """Return late text as entries with marks, without `known_ids`; in a file of items each line is one already."""
    if path.endswith("/" + format_hot.FILES["items"]):
        return "" if known_ids and late in _end_of(path) else format_hot.decode(late)
    entries = unknown_entries(format_hot.parse(format_hot.decode(late)), known_ids)
    return "".join([format_hot.standalone(e) for e in entries])


REPLACED = "replaced~"
KEPT_SECONDS = 3600.0  # a shell that keeps a claim or a replaced file open for longer loses what it writes then
PARTED_LINES = 64  # lines at a file's end that are looked at for text appended by hand after a hook had read it


def _names(directory: str) -> "list[str]":
    try:
        return sorted(posix.listdir(f"{directory}/{format_hot.CLAIMED}"))
    except OSError:
        return []


def claimed(directory: str) -> "list[tuple[str, str, str, int]]":
    """List the claims of an inbox, oldest first: (file name, delivery id, session id, pid of the hook)."""
    claims = []
    for name in _names(directory):
        parts = name.removesuffix(".md").split("~")
        if len(parts) == 3 and parts[2].isascii() and parts[2].isdigit() and ids_hot.id_time(parts[0]) is not None:
            claims.append((name, parts[0], parts[1], int(parts[2])))
    return claims


def replaced_files(directory: str) -> "list[str]":
    """List the names of an inbox's replaced files that may still be written to, oldest first."""
    names = [name for name in _names(directory) if name.startswith(REPLACED) and name.count("~") == 3]
    return sorted([name for name in names if name.split("~")[2].isdecimal()], key=lambda name: name.rpartition("~")[2])


def _backup(path: str, fd: int, size: int) -> "str | None":
    """Return the second name that keeps an open file when it is replaced; "": no hard links, None: it changed."""
    directory, _, name = path.rpartition("/")
    backup = f"{directory}/{format_hot.CLAIMED}/{REPLACED}{name}~{size}~{ids_hot.new_id()}"
    try:
        try:
            posix.link(path, backup, follow_symlinks=False)
        except FileNotFoundError:
            fs_hot.makedirs(f"{directory}/{format_hot.CLAIMED}")
            posix.link(path, backup, follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError:
        return ""
    stat_result, ours = posix.lstat(backup), posix.fstat(fd)
    if (stat_result.st_dev, stat_result.st_ino) == (ours.st_dev, ours.st_ino) and ours.st_size == size:
        return backup
    posix.unlink(backup)
    return None


def unknown_entries(entries: "list[format_hot.Entry]", known_ids: "set[str]") -> "list[format_hot.Entry]":
    """Return the entries not among the keys of `known_elsewhere`, and the end that was appended to a known one."""
    rows = []
    for entry in entries:
        if not _is_known(entry, known_ids):
            parts = parted(entry, lambda head: _is_known(head, known_ids))
            rows.extend(parts[1] if parts else [entry])
    return rows


def _is_known(entry: format_hot.Entry, known_ids: "set[str]") -> bool:
    return entry.id in known_ids or _key(entry) in known_ids


def parted(
    entry: format_hot.Entry, is_wanted: "Callable[[format_hot.Entry], bool]"
) -> "tuple[format_hot.Entry, list[format_hot.Entry]] | None":
    """Split hand-written text into a beginning that `is_wanted` takes and what was appended; else None."""
    if entry.fields:
        return None
    lines = entry.raw.split("\n")
    for count in range(len(lines) - 1, max(0, len(lines) - PARTED_LINES), -1):
        head = format_hot.parse("\n".join(lines[:count]))
        if head and is_wanted(head[0]):
            return head[0], format_hot.parse("\n".join(lines[count:]))
    return None


def _key(entry: format_hot.Entry) -> str:
    return f"{entry.id} {ids_hot.content_hash(entry.text)}"


def known_elsewhere(directory: str, since: float, delivery_id: str = "") -> "set[str]":
    """Return keys, for `unknown_entries`, of guidance in an inbox, or that other deliveries took since or claimed."""
    from memtui.deliver import log_hot

    known_ids = {""}
    entries = format_hot.read(directory + "/" + format_hot.FILES["guidance"])
    root = directory[: directory.rfind("/")]
    root = root if directory.endswith("/global") else root[: root.rfind("/")]
    logged = {delivery_id}
    for record in _since(root, since, delivery_id):
        logged.add(str(record.get("id")))
        for item in log_hot.brought(record):
            known_ids.add(f"{item.get('id')} {item['hash']}" if "hash" in item else str(item.get("id")))
    for name, other, _, _ in claimed(directory):
        if delivery_id and other > delivery_id and other not in logged:
            try:
                data = fs_hot.read(f"{directory}/{format_hot.CLAIMED}/{name}", "claim")
            except OSError:
                continue  # reconciled by now, or no claim
            entries.extend(format_hot.parse(format_hot.decode(data)))
    known_ids.update([_key(e) for e in entries])
    return known_ids


def _since(root: str, since: float, delivery_id: str) -> "list[dict[str, object]]":
    """Return the records of guidance since a time (by the log's order if the clock was put back), but for one's."""
    from memtui.deliver import log_hot

    now = clock_hot.now()
    ahead = since > now
    begin = log_hot.back_to(since)
    records = list(log_hot.newest_first(root, needle=b'"guidance"', since=begin, within=log_hot.WITHIN_BYTES))
    times = [clock_hot.parse(record.get("time")) or 0.0 for record in records]
    own = [record.get("id") == delivery_id and not record.get("recovered") for record in records]
    before = len(records) if ahead else 0
    before = next((n for n in range(len(records)) if own[n] or (ahead and times[n] > now)), before)
    return [
        record
        for number, record in enumerate(records)
        if record.get("id") != delivery_id and (number < before or times[number] >= since)
    ]
