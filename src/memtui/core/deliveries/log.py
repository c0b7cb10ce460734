"""The delivery log: JSON Lines, appended in one write; read backwards, by places and as it grows."""

import posix

from memtui.core.base import clock, fastjson, fs, ids

VERSION = 1
PREFIX, SUFFIX = "deliveries-", ".jsonl"
ID_AT = b'{"v": 1, "id": "'
RECOVERED = b'"recovered": true'
# So far back from its end a hook or worker reads the log for what it wants to know; a month's log seldom is so long.
WITHIN_BYTES = 1 << 26
# So much of the log is looked through for a newer record behind older ones: more than hours of work.
OLDER_BYTES = 4 << 20
# By no more than this is a clock put back.
CLOCK_SECONDS = 86_400.0
# A clock that is put back over the end of a month goes on in the month before; one that was years ahead left a file of
# its own.
RECENT_MONTHS = 3
# Two hooks at the same moment may log in either order; one that was recovered is logged later.
DISORDER_SECONDS = 60.0
# What adds up all records looks at so much of the newest log unless it is asked for all: a second's work.
WINDOW_BYTES = 64 << 20
# The last line end of a log is looked for in blocks of this size.
ENDS_BLOCK = 1 << 16

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Record = dict[str, object]
    # Where a line stands: a file, its first byte, and how many bytes it has without its line end.
    Place = tuple[str, int, int]


def log_path(root: str, seconds: float) -> str:
    """The month's log: `log/deliveries-2026-11.jsonl`."""
    return f"{root}/log/{PREFIX}{clock.iso(seconds)[:7]}{SUFFIX}"


def append(root: str, record: "dict[str, object]", seconds: float) -> None:
    """Append one record (keys: docs/file-formats.md). Raises OSError."""
    fs.append(log_path(root, seconds), fastjson.dumps(record).encode() + b"\n")


def months(root: str) -> "list[str]":
    """The log files, newest month first."""
    try:
        names = posix.listdir(root + "/log")
    except OSError:
        return []
    found = sorted((n for n in names if n.startswith(PREFIX) and n.endswith(SUFFIX)), reverse=True)
    return [f"{root}/log/{name}" for name in found]


class Skipped:
    """What a reader passed over: `count` lines that are torn, no object, or of an unknown version; `older` says that it
    ended at its limit with more of the log before that. `read` counts the bytes of the lines it looked at."""

    count = 0
    read = 0
    older = False


def newest_first(
    root: str,
    skipped: "Skipped | None" = None,
    needle: bytes = b"",
    since: "float | None" = None,
    most: int = 0,
    fold: bool = False,
    within: int = -1,
) -> "Iterator[Record]":
    """The records of the delivery log, newest first; `needle`, `since`, `fold` and `within` as of `lines`. With `most`
    reading ends after so many bytes of lines."""
    seen = skipped or Skipped()
    for _, line in lines(root, None, needle, since, fold, within):
        if most and seen.read >= most:
            seen.older = True
            return
        seen.read += len(line) + 1
        record = parse(line)
        if record is not None:
            yield record
        else:
            seen.count += 1


def lines(
    root: str,
    below: "dict[str, int] | None" = None,
    needle: bytes = b"",
    since: "float | None" = None,
    fold: bool = False,
    within: int = -1,
) -> "Iterator[tuple[Place, bytes]]":
    """The lines of the delivery log with their places, newest first, read backwards in blocks: the first is there at
    once, however long the log. Files that can't be read are passed over.

    `below`: only of these files, and before these bytes, at which lines begin. `needle` must stand in the line; with
    `fold`, in small letters, in whatever case. With `since`, in seconds since the epoch, lines end at the last whose id
    is not a minute older: those after it in the log are newer whatever their ids say, for a clock can be put back. With
    `since` and `within` it raises TooFarError where it would have to read more than that many bytes of a month.
    """
    from memtui.core.base import backwards  # a hook that only appends does without

    oldest = ids.new_id(max(0.0, since - DISORDER_SECONDS))[:10].encode() if since is not None else b""
    files = months(root) if below is None else sorted(below, reverse=True)
    for path in files[: RECENT_MONTHS if oldest else None]:
        end = -1 if below is None else below[path]
        try:
            if oldest:
                found = _since(backwards.lines(path, end, within=within), oldest)
            else:
                found = backwards.lines(path, end, needle, fold)
            for start, line in found:
                if not (oldest and needle) or needle in (line.lower() if fold else line):
                    yield (path, start, len(line)), line
        except backwards.TooFarError:
            raise
        except OSError:
            continue


def before(ends: "dict[str, int]", place: "Place") -> "dict[str, int]":
    """Of files and where they end, what lies before a place: what `lines` takes to go on there."""
    path, start, _ = place
    return {**{each: end for each, end in ends.items() if each < path}, path: start}


def _since(found: "Iterator[tuple[int, bytes]]", oldest: bytes) -> "Iterator[tuple[int, bytes]]":
    """The lines of a log from the end back to the first that is not older than an id's beginning. One that was
    recovered was written late, in another's place: it is passed over where it is older."""
    older: list[tuple[int, bytes]] = []
    size = 0
    for start, line in found:
        if line.startswith(ID_AT) and line[len(ID_AT) : len(ID_AT) + 10] < oldest:
            if RECOVERED not in line:
                older.append((start, line))
            size += len(line)
            if size > OLDER_BYTES:
                return
        else:
            yield from older
            yield start, line
            older, size = [], 0


def back_to(seconds: float) -> float:
    """From when to read the log for what was logged after `seconds`: from earlier if that is yet to come, for then the
    clock was put back."""
    now = clock.now()
    return seconds if seconds <= now else now - CLOCK_SECONDS


def parse(line: bytes) -> "Record | None":
    """The record of a line; None for one that is torn, no delivery, or of a version not known."""
    found = fastjson.loads_dict(line)
    return found if found.get("v") == VERSION and isinstance(found.get("items"), list) else None


def read(place: "Place") -> "Record | None":
    """The record at a place; None where it is gone."""
    path, start, length = place
    try:
        return parse(fs.read_bytes(path, length, start))
    except OSError:
        return None


def sizes(root: str) -> "dict[str, int]":
    """The months' logs and how long each is now."""
    found = {}
    for path in months(root):
        try:
            found[path] = posix.stat(path).st_size
        except OSError:
            continue
    return found


def ends(root: str) -> "dict[str, int]":
    """The months' logs and where the last finished line of each ends: what is half written counts as not there yet."""
    found = {}
    for path, size in sizes(root).items():
        try:
            found[path] = _last_end(path, size)
        except OSError:
            continue
    return found


def _last_end(path: str, end: int) -> int:
    while end > 0:
        begin = max(0, end - ENDS_BLOCK)
        at = fs.read_bytes(path, end - begin, begin).rfind(b"\n")
        if at >= 0:
            return begin + at + 1
        end = begin
    return 0


def appended(root: str, since: "dict[str, int]") -> "tuple[list[tuple[Place, bytes]], dict[str, int]] | None":
    """The lines that were written since the files ended there, oldest first, and the ends now. A line that is not
    finished yet waits. None: a file is shorter than it was, so that everything is to be read anew."""
    now = sizes(root)
    found: list[tuple[Place, bytes]] = []
    after = dict(since)
    for path in sorted({*since, *now}):
        start = since.get(path, 0)
        if now.get(path, 0) < start:
            return None
        if now[path] == start:
            continue
        try:
            data = fs.read_bytes(path, now[path] - start, start)
        except OSError:
            continue
        whole = data.rfind(b"\n") + 1
        after[path] = start + whole
        for line in data[:whole].split(b"\n")[:-1]:
            if line.strip():
                found.append(((path, start, len(line)), line))
            start += len(line) + 1
    return found, after
