"""The delivery log and the error log: JSON Lines, appended in one write, read with torn lines skipped and counted."""

import posix

from memtui.core.base import clock, fastjson, fs, ids, paths

VERSION = 1
PREFIX, SUFFIX = "deliveries-", ".jsonl"
ERROR_LOG_LIMIT = 1 << 20
MESSAGE_LIMIT, TRACE_LIMIT = 500, 16
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
# A line sought by a word in it: read in blocks of this size. No record is longer than LONGEST.
SOUGHT_BLOCK = 1 << 18
LONGEST = 1 << 23

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def log_path(root: str, seconds: float) -> str:
    """The month's log: `log/deliveries-2026-11.jsonl`."""
    return f"{root}/log/{PREFIX}{clock.iso(seconds)[:7]}{SUFFIX}"


def append(root: str, record: "dict[str, object]", seconds: float) -> None:
    """Append one record (keys: docs/file-formats.md). Raises OSError."""
    fs.append(log_path(root, seconds), fastjson.dumps(record).encode() + b"\n")


def log_error(root: str, where: str, error: BaseException) -> bool:
    """Note what went wrong, with where it happened; False if that can't be noted. Never raises; a log over its limit
    starts anew, one old one is kept. A message may quote what was read: secrets are taken out."""
    if paths.strangers(root):
        return False
    path = root + "/log/errors.jsonl"
    trace = error.__traceback__
    places = []
    while trace is not None:
        code = trace.tb_frame.f_code
        places.append(f"{code.co_filename[code.co_filename.rfind('/') + 1 :]}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    record = {
        "v": VERSION,
        "time": clock.iso(clock.now()),
        "where": where,
        "error": type(error).__name__,
        "message": _harmless(str(error)[: 8 * MESSAGE_LIMIT])[:MESSAGE_LIMIT],
        "trace": places[-TRACE_LIMIT:],
    }
    try:
        try:
            if posix.stat(path).st_size > ERROR_LOG_LIMIT:
                posix.rename(path, path + ".1")
        except FileNotFoundError:
            pass
        fs.append(path, fastjson.dumps(record).encode() + b"\n")
    except OSError:
        return False
    return True


def _harmless(message: str) -> str:
    if not message:
        return ""
    try:
        from memtui.core.redaction import redact  # too dear for a hook that nothing goes wrong in

        return redact.redact(message)[0]
    except Exception:
        return "[left out]"


def errors(root: str) -> "Iterator[dict[str, object]]":
    """What was noted so, newest first; nothing where that can't be read."""
    try:
        for line in lines_backwards(root + "/log/errors.jsonl"):
            row = fastjson.loads_dict(line)
            if row:
                yield row
    except OSError:
        return


def months(root: str) -> "list[str]":
    """The log files, newest month first."""
    try:
        names = posix.listdir(root + "/log")
    except OSError:
        return []
    found = sorted((n for n in names if n.startswith(PREFIX) and n.endswith(SUFFIX)), reverse=True)
    return [f"{root}/log/{name}" for name in found]


class TooFarError(OSError):
    """What was sought was not found in that part of the log which there is time to read."""


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
) -> "Iterator[dict[str, object]]":
    """The records of the delivery log, newest first, read backwards in blocks: the first is there at once, however
    long the log. `needle` must stand in the line, which spares the parsing of others; with `fold`, in small letters, in
    whatever case. With `since`, in seconds since the epoch, records end at the last whose id is not a minute older:
    those after it in the log are newer whatever their ids say, for a clock can be put back. With `most` reading ends
    after so many bytes of lines. With `since` and `within` it raises TooFarError where it would have to read more than
    that many bytes of a month."""
    tally = skipped or Skipped()
    oldest = ids.new_id(max(0.0, since - DISORDER_SECONDS))[:10].encode() if since is not None else b""
    for path in months(root)[: RECENT_MONTHS if oldest else None]:
        try:
            if oldest:
                lines = _lines_since(path, oldest, within)
            else:
                lines = lines_with(path, needle, fold) if needle else lines_backwards(path, longest=LONGEST)
            for line in lines:
                if most and tally.read >= most:
                    tally.older = True
                    return
                tally.read += len(line) + 1
                if needle and needle not in (line.lower() if fold else line):
                    continue
                record = fastjson.loads_dict(line)
                if record.get("v") == VERSION and isinstance(record.get("items"), list):
                    yield record
                else:
                    tally.count += 1
        except TooFarError:
            raise
        except OSError:
            continue


def back_to(seconds: float) -> float:
    """From when to read the log for what was logged after `seconds`: from earlier if that is yet to come, for then the
    clock was put back."""
    now = clock.now()
    return seconds if seconds <= now else now - CLOCK_SECONDS


def _lines_since(path: str, oldest: bytes, within: int) -> "Iterator[bytes]":
    """The lines of a log from the end back to the first that is not older than an id's beginning. One that was
    recovered was written late, in another's place: it is passed over where it is older."""
    older: list[bytes] = []
    size = 0
    for line in lines_backwards(path, longest=LONGEST, within=within):
        if line.startswith(ID_AT) and line[len(ID_AT) : len(ID_AT) + 10] < oldest:
            if RECOVERED not in line:
                older.append(line)
            size += len(line)
            if size > OLDER_BYTES:
                return
        else:
            yield from older
            yield line
            older, size = [], 0


def lines_with(path: str, needle: bytes, fold: bool = False, block: int = SOUGHT_BLOCK) -> "Iterator[bytes]":
    """As `lines_backwards`, but only the lines that hold `needle` (which has no line end), found block by block without
    taking the other lines apart. `fold`: the needle is in small letters, and found in whatever case. A line longer
    than LONGEST is passed over."""
    fd = fs.open_regular(path, ours=True)
    try:
        at = posix.fstat(fd).st_size
        rest = b""  # the end of a line that begins in a block before
        torn = False  # that line is too long to be held
        while at > 0:
            size = min(block, at)
            at -= size
            data = posix.pread(fd, size, at)
            if torn:
                data, torn = data[: data.rfind(b"\n") + 1], b"\n" not in data
            data += rest
            # What stands before the first line end may begin in the block before.
            begin = data.find(b"\n") + 1 if at else 0
            if at and not begin:
                rest = data
                if len(rest) > LONGEST:
                    rest, torn = b"", True
                continue
            sought = data.lower() if fold else data
            end = len(data) if needle in sought else 0
            while (hit := sought.rfind(needle, begin, end)) >= 0:
                start = data.rfind(b"\n", begin, hit) + 1 or begin
                stop = data.find(b"\n", hit)
                yield data[start : stop if stop >= 0 else len(data)]
                end = start
            rest = data[: max(0, begin - 1)]
    finally:
        posix.close(fd)


def lines_backwards(path: str, block: int = 1 << 16, longest: int = -1, within: int = -1) -> "Iterator[bytes]":
    """The lines of a file that are not blank, last first, without reading more of it than is asked for.

    A line of more than `longest` bytes (-1: any number) is passed over. Raises OSError; TooFarError where `within`
    bytes from the end (-1: any number) are not enough.
    """
    fd = fs.open_regular(path, ours=True)
    try:
        end = at = posix.fstat(fd).st_size
        pieces: list[bytes] = []  # of the line that the blocks read so far have begun, last piece first
        held = 0
        while at > 0:
            if 0 <= within < end - at:
                raise TooFarError(27, f"not found in its last {within >> 20} MB", path)
            size = min(block, at)
            at -= size
            parts = posix.pread(fd, size, at).split(b"\n")
            held += len(parts[-1])
            if 0 <= longest < held:
                pieces = []
            else:
                pieces.append(parts[-1])
            if len(parts) == 1:
                continue
            held = len(parts[0])
            line = b"".join(reversed(pieces))
            if line.strip():
                yield line
            for part in reversed(parts[1:-1]):
                if part.strip():
                    yield part
            pieces = [parts[0]]
        line = b"".join(reversed(pieces))
        if line.strip():
            yield line
    finally:
        posix.close(fd)
