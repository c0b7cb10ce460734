"""The delivery log: JSON Lines, a file a month. It is appended to in one write, read from its end, and followed.

What became of deliveries is appended too, once it is known: a line of outcomes names them by id. Whoever reads the log
gets each record with the `outcome` that was noted for it, and never such a line itself."""

import posix

from memtui.base import clock_hot, fastjson_hot, fs_hot, ids_hot, paths_hot
from memtui.deliver import log_file_hot

# What appends to the log stands apart: a hook that delivers needs no more of it.
VERSION, PREFIX, SUFFIX = log_file_hot.VERSION, log_file_hot.PREFIX, log_file_hot.SUFFIX
append, log_path = log_file_hot.append, log_file_hot.log_path
ID_AT = b'{"v": 1, "id": "'
RECOVERED = b'"recovered": true'
OUTCOMES_AT = b'{"v": 1, "outcomes": {'
# A hook or worker reads no more than this from the end of a month's log, which is seldom so long.
WITHIN_BYTES = 1 << 26
# Reading back to a time ends after this many bytes of older records in a row: more than hours of work.
OLDER_BYTES = 4 << 20
# A clock is put back by no more than this.
CLOCK_SECONDS = 86_400.0
# Reading back to a time looks at so many files: a clock may have been put back, or years ahead.
RECENT_MONTHS = 3
# Two hooks at the same moment may log in either order; a recovered record is logged later.
DISORDER_SECONDS = 60.0
# Sums look at so much of the newest log unless all of it is asked for: a second's work.
WINDOW_BYTES = 64 << 20
# The size of the blocks in which the last line end of a log is looked for.
ENDS_BLOCK = 1 << 16
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Record = dict[str, object]
    # The place of a line: file, first byte, and number of bytes without the line end.
    Place = tuple[str, int, int]


def months(root: str, prefix: str = PREFIX) -> "list[str]":
    """Return the log files, newest month first; those of another log by its prefix."""
    names = [name for name in paths_hot.names_in(root + "/log") if name.startswith(prefix) and name.endswith(SUFFIX)]
    return [f"{root}/log/{name}" for name in sorted(names, reverse=True)]


class Skipped:
    """Whether a reader ended at its limit, before the log's beginning (`older`); `read`: bytes that it looked at."""

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
    """Yield the records of the delivery log, newest first, as `lines`; `most`: bytes after which reading ends."""
    other = skipped or Skipped()
    noted: dict[str, str] = {}
    for _, line in lines(root, None, needle, since, fold, within, noted):
        if most and other.read >= most:
            other.older = True
            return
        other.read += len(line) + 1
        record = parse(line, noted)
        if record is not None:
            yield record


def records_of(root: str, delivery_id: str, within: int = -1) -> "Iterator[Record]":
    """Yield the records of one delivery, newest first; one with two claims may have two. `within` as for `lines`."""
    for record in newest_first(root, needle=delivery_id.encode(), since=ids_hot.id_time(delivery_id), within=within):
        if record.get("id") == delivery_id:
            yield record


def lines(
    root: str,
    below: "dict[str, int] | None" = None,
    needle: bytes = b"",
    since: "float | None" = None,
    fold: bool = False,
    within: int = -1,
    noted: "dict[str, str] | None" = None,
) -> "Iterator[tuple[Place, bytes]]":
    """Yield the lines of the delivery log with their places, newest first; files that can't be read are skipped.
    `below`: only these files, each up to this byte. `needle`: in each line; with `fold` in small letters, for any case.
    `since`: seconds since the epoch, where reading ends. `noted` takes in what lines of outcomes say. Raises
    TooFarError, with `since`, instead of reading more than `within` bytes of a month."""
    from memtui.base import reverse_lines_hot  # a hook that only appends does without

    oldest = ids_hot.new_id(max(0.0, since - DISORDER_SECONDS))[:10].encode() if since is not None else b""
    files = months(root) if below is None else sorted(below, reverse=True)
    for path in files[: RECENT_MONTHS if oldest else None]:
        end = -1 if below is None else below[path]
        try:
            if oldest:
                lines_back = _since(reverse_lines_hot.lines(path, end, within=within), oldest)
            else:
                lines_back = reverse_lines_hot.lines(path, end, needle, fold)
            for start, line in lines_back:
                if line.startswith(OUTCOMES_AT):
                    if noted is not None:
                        _take_in(line, noted)
                elif not (oldest and needle) or needle in (line.lower() if fold else line):
                    yield (path, start, len(line)), line
        except reverse_lines_hot.TooFarError:
            raise
        except OSError:
            continue


def before(ends: "dict[str, int]", place: "Place") -> "dict[str, int]":
    """Return the `below` with which `lines` goes on before a place, for a reading that began at `ends`."""
    path, start, _ = place
    return {**{path_before: end for path_before, end in ends.items() if path_before < path}, path: start}


def _since(lines_back: "Iterator[tuple[int, bytes]]", oldest: bytes) -> "Iterator[tuple[int, bytes]]":
    """Yield the lines of a log back to the beginning of an id, but for older records that were recovered late."""
    older: list[tuple[int, bytes]] = []
    size = 0
    for start, line in lines_back:
        if line.startswith(OUTCOMES_AT):
            yield start, line  # it says nothing of when those around it were logged
        elif line.startswith(ID_AT) and line[len(ID_AT) : len(ID_AT) + 10] < oldest:
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
    """Return the `since` that finds all that was logged after `seconds`: earlier if the clock was put back since."""
    now = clock_hot.now()
    return seconds if seconds <= now else now - CLOCK_SECONDS


def parse(line: bytes, noted: "dict[str, str] | None" = None) -> "Record | None":
    """Return the record of a line, with its `noted` outcome; None if it is torn, no delivery, or of another version."""
    record = fastjson_hot.loads_dict(line)
    if record.get("v") != VERSION or not isinstance(record.get("items"), list):
        return None
    outcome = noted.get(str(record.get("id"))) if noted else None
    if outcome:
        record["outcome"] = outcome
    return record


def note_outcomes(root: str, records: "list[Record]", outcomes: "dict[str, str]") -> None:
    """Append what became of these deliveries, by id, with the kinds of their items. Raises OSError."""
    if outcomes:
        kinds = {str(item.get("kind")) for record in records for item in brought(record)}
        row = {"v": VERSION, "outcomes": outcomes, "time": clock_hot.iso(clock_hot.now()), "kinds": sorted(kinds)}
        sessions = sorted({str(record.get("session_id")) for record in records})
        append(root, {**row, "sessions": sessions}, clock_hot.now())


def _take_in(line: bytes, noted: "dict[str, str]") -> None:
    for name, outcome in fastjson_hot.table(fastjson_hot.loads_dict(line), "outcomes").items():
        noted.setdefault(name, str(outcome))


def items(record: "Record") -> "list[Record]":
    return [item for item in fastjson_hot.rows(record, "items") if isinstance(item, dict)]


def brought(record: "Record") -> "list[Record]":
    return [item for item in items(record) if not item.get("left_out")]


def read(place: "Place") -> "Record | None":
    """Return the record at a place; None if it is gone."""
    path, start, length = place
    try:
        return parse(fs_hot.read_bytes(path, length, start))
    except OSError:
        return None


def sizes(root: str) -> "dict[str, int]":
    """Return the log files with the size of each in bytes."""
    sizes_by_path = {}
    for path in months(root):
        try:
            sizes_by_path[path] = posix.stat(path).st_size
        except OSError:
            continue
    return sizes_by_path


def ends(root: str) -> "dict[str, int]":
    """Return the log files with the byte at which the last finished line of each ends."""
    ends_by_path = {}
    for path, size in sizes(root).items():
        try:
            ends_by_path[path] = _last_end(path, size)
        except OSError:
            continue
    return ends_by_path


def _last_end(path: str, end: int) -> int:
    while end > 0:
        begin = max(0, end - ENDS_BLOCK)
        at = fs_hot.read_bytes(path, end - begin, begin).rfind(b"\n")
        if at >= 0:
            return begin + at + 1
        end = begin
    return 0


def appended(root: str, since: "dict[str, int]") -> "tuple[list[tuple[Place, bytes]], dict[str, int]] | None":
    """Return the finished lines written since the files ended at `since`, and the ends now; None if one is shorter."""
    now = sizes(root)
    appended_lines: list[tuple[Place, bytes]] = []
    after = dict(since)
    for path in sorted({*since, *now}):
        start = since.get(path, 0)
        if now.get(path, 0) < start:
            return None
        if now[path] == start:
            continue
        try:
            data = fs_hot.read_bytes(path, now[path] - start, start)
        except OSError:
            continue
        whole = data.rfind(b"\n") + 1
        after[path] = start + whole
        for line in data[:whole].split(b"\n")[:-1]:
            if line.strip() and not line.startswith(OUTCOMES_AT):
                appended_lines.append(((path, start, len(line)), line))
            start += len(line) + 1
    return appended_lines, after
