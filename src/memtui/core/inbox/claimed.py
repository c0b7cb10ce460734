"""What lies in the directory `claimed` of an inbox: guidance that hooks took, and files that a rewrite replaced.

A claim is `<delivery id>~<session id>~<pid>.md`, a replaced file `replaced~<file>~<size>~<ulid>`. What either holds may
stand elsewhere by now: in the inbox again, or delivered; `elsewhere` and `unknown` tell.
"""

import posix

from memtui.core.base import clock, fs, ids
from memtui.core.inbox import format as inbox_format

MARK = "replaced~"
# A shell that keeps it open for longer than this loses what it writes from then on.
KEPT_SECONDS = 3600.0
# So many lines at the end of a file may have been appended by hand while somebody else dealt with it.
PARTED_LINES = 64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def listed(directory: str) -> "list[tuple[str, str, str, int]]":
    """The claims of an inbox, oldest first: (file name, delivery id, session id, pid of the hook)."""
    try:
        names = posix.listdir(f"{directory}/{inbox_format.CLAIMED}")
    except OSError:
        return []
    found = []
    for name in sorted(names):
        parts = name.removesuffix(".md").split("~")
        if len(parts) == 3 and parts[2].isascii() and parts[2].isdigit() and ids.id_time(parts[0]) is not None:
            found.append((name, parts[0], parts[1], int(parts[2])))
    return found


def replaced(directory: str) -> "list[str]":
    """The names of the replaced files of an inbox that may still be written to, oldest first."""
    try:
        names = posix.listdir(f"{directory}/{inbox_format.CLAIMED}")
    except OSError:
        return []
    found = [n for n in names if n.startswith(MARK) and n.count("~") == 3 and n.split("~")[2].isdecimal()]
    return sorted(found, key=lambda name: name.rpartition("~")[2])


def keep(path: str, fd: int, size: int) -> "str | None":
    """Give the open file a second name, under which it outlives its replacement, and return that; empty on a file
    system without hard links. None if the file at `path` is another by now or no longer has `size` bytes."""
    directory, _, name = path.rpartition("/")
    kept = f"{directory}/{inbox_format.CLAIMED}/{MARK}{name}~{size}~{ids.new_id()}"
    try:
        try:
            posix.link(path, kept, follow_symlinks=False)
        except FileNotFoundError:
            fs.makedirs(f"{directory}/{inbox_format.CLAIMED}")
            posix.link(path, kept, follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError:
        return ""
    found, ours = posix.lstat(kept), posix.fstat(fd)
    if (found.st_dev, found.st_ino) == (ours.st_dev, ours.st_ino) and ours.st_size == size:
        return kept
    posix.unlink(kept)
    return None


def unknown(entries: "list[inbox_format.Entry]", known: "set[str]") -> "list[inbox_format.Entry]":
    """The entries that are not among the keys of `elsewhere`; of hand-written text also the end that was appended to a
    beginning which is."""
    found = []
    for entry in entries:
        if not _is_known(entry, known):
            parts = parted(entry, lambda head: _is_known(head, known))
            found.extend(parts[1] if parts else [entry])
    return found


def _is_known(entry: inbox_format.Entry, known: "set[str]") -> bool:
    return entry.id in known or _key(entry) in known


def parted(
    entry: inbox_format.Entry, wanted: "Callable[[inbox_format.Entry], bool]"
) -> "tuple[inbox_format.Entry, list[inbox_format.Entry]] | None":
    """A hand-written entry as one that is wanted and what was appended to it by hand later, if it is to be had so."""
    if entry.fields:
        return None
    lines = entry.raw.split("\n")
    for count in range(len(lines) - 1, max(0, len(lines) - PARTED_LINES), -1):
        head = inbox_format.parse("\n".join(lines[:count]))
        if head and wanted(head[0]):
            return head[0], inbox_format.parse("\n".join(lines[count:]))
    return None


def _key(entry: inbox_format.Entry) -> str:
    """The key under which an entry is the same: its id and its text, as the delivery log has them."""
    return f"{entry.id} {ids.content_hash(entry.text)}"


def elsewhere(directory: str, since: float, delivery_id: str = "") -> "set[str]":
    """The guidance that stands in an inbox, or that deliveries other than `delivery_id` have taken since: its ids and
    texts, as keys for `unknown`.

    `since` is in seconds since the epoch. With `delivery_id`, what later claims hold counts as well, unless the log
    tells what they delivered. Never empty, for there is always something that no entry is.
    """
    known = {""}
    entries = inbox_format.read(directory + "/" + inbox_format.FILES["guidance"])
    root = directory[: directory.rfind("/")]
    root = root if directory.endswith("/global") else root[: root.rfind("/")]
    logged = {delivery_id}
    for record in _since(root, since, delivery_id):
        logged.add(str(record.get("id")))
        items = record.get("items")
        for item in items if isinstance(items, list) else []:
            if isinstance(item, dict) and not item.get("left_out"):
                known.add(f"{item.get('id')} {item['hash']}" if "hash" in item else str(item.get("id")))
    for name, other, _, _ in listed(directory):
        if delivery_id and other > delivery_id and other not in logged:
            try:
                data = fs.read(f"{directory}/{inbox_format.CLAIMED}/{name}", "claim")
            except OSError:
                continue  # settled by now, or no claim
            entries.extend(inbox_format.parse(inbox_format.decode(data)))
    known.update([_key(e) for e in entries])
    return known


def _since(root: str, since: float, delivery_id: str) -> "list[dict[str, object]]":
    """The records of guidance that was delivered since a time, but for one delivery's own. By the time of the delivery,
    not by its id: what failed before may have come back and been taken since. What stands in the log behind that
    delivery's record came later whatever the clock said; where it has none, and the clock was put back, what stands
    behind all that is yet to come."""
    from memtui.core.deliveries import log as delivery_log

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
