"""The directory `claimed` of an inbox: guidance that hooks took, and files that a rewrite replaced."""

import posix

from memtui.base import clock, fs, ids
from memtui.inbox import format as inbox_format

MARK = "replaced~"
# A shell that keeps a claim or a replaced file open for longer than this loses what it writes after that.
KEPT_SECONDS = 3600.0
# How many lines at the end of a file are looked at for text that was appended by hand after a hook had read the file.
PARTED_LINES = 64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def _names(directory: str) -> "list[str]":
    try:
        return sorted(posix.listdir(f"{directory}/{inbox_format.CLAIMED}"))
    except OSError:
        return []


def listed(directory: str) -> "list[tuple[str, str, str, int]]":
    """List the claims of an inbox, oldest first: (file name, delivery id, session id, pid of the hook)."""
    claims = []
    for name in _names(directory):
        parts = name.removesuffix(".md").split("~")
        if len(parts) == 3 and parts[2].isascii() and parts[2].isdigit() and ids.id_time(parts[0]) is not None:
            claims.append((name, parts[0], parts[1], int(parts[2])))
    return claims


def replaced(directory: str) -> "list[str]":
    """List the names of an inbox's replaced files that may still be written to, oldest first."""
    paths_replaced = [
        name
        for name in _names(directory)
        if name.startswith(MARK) and name.count("~") == 3 and name.split("~")[2].isdecimal()
    ]
    return sorted(paths_replaced, key=lambda name: name.rpartition("~")[2])


def keep(path: str, fd: int, size: int) -> "str | None":
    """Return the second name that keeps an open file when it is replaced; "": no hard links, None: it changed."""
    directory, _, name = path.rpartition("/")
    backup = f"{directory}/{inbox_format.CLAIMED}/{MARK}{name}~{size}~{ids.new_id()}"
    try:
        try:
            posix.link(path, backup, follow_symlinks=False)
        except FileNotFoundError:
            fs.makedirs(f"{directory}/{inbox_format.CLAIMED}")
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


def unknown(entries: "list[inbox_format.Entry]", known_ids: "set[str]") -> "list[inbox_format.Entry]":
    """Return the entries not among the keys of `elsewhere`, and the end that was appended to a known one."""
    rows = []
    for entry in entries:
        if not _is_known(entry, known_ids):
            parts = parted(entry, lambda head: _is_known(head, known_ids))
            rows.extend(parts[1] if parts else [entry])
    return rows


def _is_known(entry: inbox_format.Entry, known_ids: "set[str]") -> bool:
    return entry.id in known_ids or _key(entry) in known_ids


def parted(
    entry: inbox_format.Entry, is_wanted: "Callable[[inbox_format.Entry], bool]"
) -> "tuple[inbox_format.Entry, list[inbox_format.Entry]] | None":
    """Split hand-written text into a beginning that `is_wanted` takes and what was appended; else None."""
    if entry.fields:
        return None
    lines = entry.raw.split("\n")
    for count in range(len(lines) - 1, max(0, len(lines) - PARTED_LINES), -1):
        head = inbox_format.parse("\n".join(lines[:count]))
        if head and is_wanted(head[0]):
            return head[0], inbox_format.parse("\n".join(lines[count:]))
    return None


def _key(entry: inbox_format.Entry) -> str:
    """Return the key of an entry: its id and the hash of its text, as the delivery log has them."""
    return f"{entry.id} {ids.content_hash(entry.text)}"


def elsewhere(directory: str, since: float, delivery_id: str = "") -> "set[str]":
    """Return keys, for `unknown`, of guidance in an inbox, or that other deliveries took since or claimed."""
    from memtui.deliver import log as delivery_log

    known_ids = {""}
    entries = inbox_format.read(directory + "/" + inbox_format.FILES["guidance"])
    root = directory[: directory.rfind("/")]
    root = root if directory.endswith("/global") else root[: root.rfind("/")]
    logged = {delivery_id}
    for record in _since(root, since, delivery_id):
        logged.add(str(record.get("id")))
        for item in delivery_log.brought(record):
            known_ids.add(f"{item.get('id')} {item['hash']}" if "hash" in item else str(item.get("id")))
    for name, other, _, _ in listed(directory):
        if delivery_id and other > delivery_id and other not in logged:
            try:
                data = fs.read(f"{directory}/{inbox_format.CLAIMED}/{name}", "claim")
            except OSError:
                continue  # reconciled by now, or no claim
            entries.extend(inbox_format.parse(inbox_format.decode(data)))
    known_ids.update([_key(e) for e in entries])
    return known_ids


def _since(root: str, since: float, delivery_id: str) -> "list[dict[str, object]]":
    """Return the records of guidance since a time (by the log's order if the clock was put back), but for one's."""
    from memtui.deliver import log as delivery_log

    now = clock.now()
    ahead = since > now
    begin = delivery_log.back_to(since)
    records = list(delivery_log.newest_first(root, needle=b'"guidance"', since=begin, within=delivery_log.WITHIN_BYTES))
    times = [clock.parse(record.get("time")) or 0.0 for record in records]
    own = [record.get("id") == delivery_id and not record.get("recovered") for record in records]
    before = len(records) if ahead else 0
    before = next((n for n in range(len(records)) if own[n] or (ahead and times[n] > now)), before)
    return [
        record
        for number, record in enumerate(records)
        if record.get("id") != delivery_id and (number < before or times[number] >= since)
    ]
