"""What was written to an inbox file after the file had been replaced.

A shell's `>>` knows no lock: it may have opened the file just before a rewrite put another in its place, and write just
after. The replaced file is kept as `claimed/replaced~<file>~<size>~<ulid>` until nobody has it open for writing any
more; then what it holds beyond `size` is carried over. What a killed rewrite left there, `recover` carries over.
"""

import posix

from memtui.core.base import clock, fs, ids
from memtui.core.deliveries import log as delivery_log
from memtui.core.inbox import file as inbox_file

DIRECTORY = "claimed"
MARK = "replaced~"
# So long a rewrite waits for a writer that has the replaced file open.
WRITER_SECONDS = 0.25
# A shell that keeps it open for longer than this loses what it writes from then on.
KEPT_SECONDS = 3600.0
# So many lines at the end of a file may have been appended by hand while somebody else dealt with it.
PARTED_LINES = 64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def keep(path: str, fd: int, size: int) -> "str | None":
    """Give the open file a second name, under which it outlives its replacement, and return that; empty on a file
    system without hard links. None if the file at `path` is another by now or no longer has `size` bytes."""
    directory, _, name = path.rpartition("/")
    kept = f"{directory}/{DIRECTORY}/{MARK}{name}~{size}~{ids.new_id()}"
    try:
        try:
            posix.link(path, kept, follow_symlinks=False)
        except FileNotFoundError:
            fs.makedirs(f"{directory}/{DIRECTORY}")
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


def collect(path: str, fd: int, size: int, kept: str, whole: bool) -> None:
    """Add to the file at `path` what was written to the one that it replaced; `whole`: all or nothing, should this
    process be killed. Raises OSError."""
    if not fs.quiet(fd, WRITER_SECONDS) and kept:
        return
    late = fs.read_fd(fd, size, fs.KINDS["claim"][0])
    if late:
        text = _separate(path, late, set())
        if whole:
            inbox_file.add_locked(path, text, again=False)
        else:
            fs.append(path, inbox_file.encode(text), durable=True)
    if kept:
        fs.unlink(kept)


def recover(directory: str) -> None:
    """Carry over what rewrites of an inbox had to leave behind. The caller holds the inbox lock. Raises OSError."""
    replaced = []
    for kept in left(directory):
        path = f"{directory}/{DIRECTORY}/{kept}"
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
            if not fs.quiet(fd) and clock.now() - since < KEPT_SECONDS:
                continue
            late = fs.read_fd(fd, int(size), fs.KINDS["claim"][0])
            target = f"{directory}/{name}"
            data = _separate(target, late, elsewhere(directory, since)) if late else ""
            if data:
                inbox_file.add_locked(target, data)
            fs.unlink(path)
        finally:
            posix.close(fd)


def left(directory: str) -> "list[str]":
    """The names of the replaced files of an inbox that may still be written to, oldest first."""
    try:
        names = posix.listdir(f"{directory}/{DIRECTORY}")
    except OSError:
        return []
    found = [n for n in names if n.startswith(MARK) and n.count("~") == 3 and n.split("~")[2].isdecimal()]
    return sorted(found, key=lambda name: name.rpartition("~")[2])


def _separate(path: str, late: bytes, known: "set[str]") -> str:
    """Late text as entries of their own, so that they stay the same whatever is written beside them, less those known.
    In a list of items each line is one already."""
    if path.endswith("/" + inbox_file.FILES["items"]):
        return "" if known and late in inbox_file.end_of(path) else inbox_file.decode(late)
    entries = unknown(inbox_file.parse(inbox_file.decode(late)), known)
    return "".join([inbox_file.standalone(e) for e in entries])


def unknown(entries: "list[inbox_file.Entry]", known: "set[str]") -> "list[inbox_file.Entry]":
    """The entries that are not among the keys of `elsewhere`; of hand-written text also the end that was appended to a
    beginning which is."""
    found = []
    for entry in entries:
        if not _is_known(entry, known):
            parts = parted(entry, lambda head: _is_known(head, known))
            found.extend(parts[1] if parts else [entry])
    return found


def _is_known(entry: inbox_file.Entry, known: "set[str]") -> bool:
    return entry.id in known or _key(entry) in known


def parted(
    entry: inbox_file.Entry, wanted: "Callable[[inbox_file.Entry], bool]"
) -> "tuple[inbox_file.Entry, list[inbox_file.Entry]] | None":
    """A hand-written entry as one that is wanted and what was appended to it by hand later, if it is to be had so."""
    if entry.fields:
        return None
    lines = entry.raw.split("\n")
    for count in range(len(lines) - 1, max(0, len(lines) - PARTED_LINES), -1):
        head = inbox_file.parse("\n".join(lines[:count]))
        if head and wanted(head[0]):
            return head[0], inbox_file.parse("\n".join(lines[count:]))
    return None


def _key(entry: inbox_file.Entry) -> str:
    """What makes an entry the same: its id and its text, as the delivery log has them."""
    return f"{entry.id} {ids.content_hash(entry.text)}"


def elsewhere(directory: str, since: float, delivery_id: str = "") -> "set[str]":
    """The guidance that stands in an inbox, or that deliveries other than `delivery_id` have taken since: its ids and
    texts, as keys for `unknown`.

    `since` is in seconds since the epoch. With `delivery_id`, what later claims hold counts as well, unless the log
    tells what they delivered. Never empty, for there is always something that no entry is.
    """
    known = {""}
    entries = inbox_file.read(directory + "/" + inbox_file.FILES["guidance"])
    root = directory[: directory.rfind("/")]
    root = root if directory.endswith("/global") else root[: root.rfind("/")]
    logged = {delivery_id}
    for record in _since(root, since, delivery_id):
        logged.add(str(record.get("id")))
        items = record.get("items")
        for item in items if isinstance(items, list) else []:
            if isinstance(item, dict) and not item.get("left_out"):
                known.add(f"{item.get('id')} {item['hash']}" if "hash" in item else str(item.get("id")))
    from memtui.core.inbox import claims

    for name, other, _, _ in claims.listed(directory):
        if delivery_id and other > delivery_id and other not in logged:
            try:
                data = fs.read(f"{directory}/{DIRECTORY}/{name}", "claim")
            except OSError:
                continue  # settled by now, or no claim
            entries.extend(inbox_file.parse(inbox_file.decode(data)))
    known.update([_key(e) for e in entries])
    return known


def _since(root: str, since: float, delivery_id: str) -> "list[dict[str, object]]":
    """The records of guidance that was delivered since a time, but for one delivery's own. By the time of the delivery,
    not by its id: what failed before may have come back and been taken since. What stands in the log behind that
    delivery's record came later whatever the clock said; where it has none, and the clock was put back, what stands
    behind all that is yet to come."""
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
