"""Fold deliveries, old ones and those of a purged memory: drop their texts from the log and keep the records, with the
text's hash and `folded: true`.

Only months that ended long ago are rewritten. Hooks append without a lock; one with a wrong clock, or a worker that
logs what a killed hook could not, may write to such a month at the same moment. So the replaced file keeps a second
name, `replaced~<month's file>~<size>~<ulid>`, until nobody has it open for writing. Then what it holds beyond `size`
is appended to the new file, by this run or by a later one (`recover`).
"""

import calendar
import os
import posix
import re
from collections.abc import Callable, Iterator

from memtui.core.base import backwards, clock, fastjson, fs, ids
from memtui.core.client import process
from memtui.core.deliveries import blocks as delivery_blocks
from memtui.core.deliveries import log as delivery_log

MARK = "replaced~"
# How long a rewrite waits for a writer to close the replaced file.
WRITER_SECONDS = 0.25
# A writer that keeps a replaced file open for longer than this loses what it writes after that.
KEPT_SECONDS = 3600.0
BLOCK = 1 << 20


def month_end(path: str, prefix: str = delivery_log.PREFIX) -> float | None:
    """Return when the month of a log ended, in seconds since the epoch; None if its name holds no month."""
    stem = os.path.basename(path).removeprefix(prefix).removesuffix(delivery_log.SUFFIX)
    begin = clock.parse(stem + "-01")
    if begin is None:
        return None
    return begin + calendar.monthrange(int(stem[:4]), int(stem[5:7]))[1] * clock.DAY


def old(root: str, now: float, days: int) -> list[str]:
    """Return the logs of the months that ended more than so many days ago, oldest first; none for 0 days."""
    found = [(path, month_end(path)) for path in reversed(delivery_log.months(root))]
    return [path for path, end in found if days > 0 and end is not None and end < now - days * clock.DAY]


def stamp(path: str) -> list[int]:
    """Return numbers that are the same as long as a log is. Raises OSError."""
    found = os.stat(path)
    return [found.st_mtime_ns, found.st_size, found.st_ino]


def folded(line: bytes) -> bytes:
    """Return a line of the log without the delivered text; unchanged if it has none or can't be parsed."""
    record = fastjson.loads_dict(line) if b'"text"' in line else {}
    text = record.get("text")
    if record.get("v") != delivery_log.VERSION or not isinstance(text, str) or not text:
        return line
    chars = record.get("chars")
    known = isinstance(chars, int) and not isinstance(chars, bool) and chars > 0
    more = {
        "chars": chars if known else delivery_blocks.units(text),
        "text_hash": ids.content_hash(text),
        "folded": True,
    }
    return fastjson.dumps({**{key: value for key, value in record.items() if key != "text"}, **more}).encode()


def fold_records(root: str, is_meant: Callable[[dict[str, object]], bool], within: Callable[[str], bool]) -> None:
    """Drop the texts of the records that are meant, and the reasons within which the words are, in place: each line
    keeps its length, so that hooks may append and readers may follow meanwhile. Raises OSError."""
    for path in delivery_log.months(root):
        fd = fs.open_regular(path, ours=True, follow=False, write=True)
        try:
            at = 0
            for lines in _blocks(fd):
                for line in lines:
                    record = fastjson.loads_dict(line) if b'"items"' in line else {}
                    blanked = _blanked(line, record, within) if record and is_meant(record) else line
                    done = 0 if blanked != line else len(line)
                    while done < len(line):
                        done += posix.pwrite(fd, blanked[done:], at + done)
                    at += len(line) + 1
            posix.fsync(fd)
        finally:
            posix.close(fd)


_TEXT, _REASON = (re.compile(rb'"' + key + rb'": ("(?:[^"\\]|\\.)*+")') for key in (b"text", b"reason"))


def _blanked(line: bytes, record: dict[str, object], within: Callable[[str], bool]) -> bytes:
    """Return the line of a record with blanks in place of its text, and of each reason within which the words are;
    unchanged if it has none that can be found."""

    def reasonless(match: re.Match[bytes]) -> bytes:
        has = within(str(fastjson.loads(match[1])))
        return b'"reason": ""'.ljust(len(match[0])) if has else match[0]

    line = _REASON.sub(reasonless, line)
    text = record.get("text")
    found = _TEXT.search(line)
    if not isinstance(text, str) or not text or found is None:
        return line
    marks = (f'"text_hash": "{ids.content_hash(text)}", "folded": true', '"folded": true')
    mark = next((each.encode() for each in marks if len(each) <= len(found[0])), b"")
    return line[: found.start()] + mark.ljust(len(found[0])) + line[found.end() :] if mark else line


def fold(path: str, go: Callable[[], bool]) -> int | None:
    """Fold one month and return by how many bytes its log is shorter. None, with nothing changed, if `go` returned
    False, the file is no log, or the file system has no hard links. Raises OSError. For one process at a time."""
    temporary = fs.temporary(path)
    directory, name = os.path.split(path)
    fd = fs.open_regular(path, ours=True, follow=False)
    try:
        found = os.fstat(fd)
        size, length = _copy(fd, temporary, found.st_mode & 0o7777, go)
        if size is None or os.fstat(fd).st_size - size > backwards.LONGEST:
            return None
        kept = f"{directory}/{MARK}{name}~{size}~{ids.new_id()}"
        try:
            os.link(path, kept, follow_symlinks=False)
        except OSError:
            return None
        os.rename(temporary, path)
        fs.sync_dir(directory)
        _collect(fd, path, size, kept, fs.quiet(fd, WRITER_SECONDS))
        return size - length
    finally:
        os.close(fd)
        fs.unlink(temporary)


def _copy(fd: int, temporary: str, mode: int, go: Callable[[], bool]) -> tuple[int | None, int]:
    """Write the folded lines. Return the bytes of whole lines read (None: `go` returned False) and those written."""
    out = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, fs.FILE_MODE)
    try:
        size = length = 0
        for lines in _blocks(fd):
            if not go():
                return None, 0
            data = b"".join([folded(line) + b"\n" for line in lines])
            fs.write_all(out, data)
            size += sum(map(len, lines)) + len(lines)
            length += len(data)
        os.fchmod(out, mode)
        os.fsync(out)
        return size, length
    finally:
        os.close(out)


def _blocks(fd: int) -> Iterator[list[bytes]]:
    """Yield the whole lines of a file, some at a time."""
    at = 0
    pieces: list[bytes] = []
    while block := os.pread(fd, BLOCK, at):
        at += len(block)
        head, end, tail = block.rpartition(b"\n")
        if not end:
            pieces.append(block)
            if len(pieces) * BLOCK > backwards.LONGEST:
                return  # no line of a log is so long
            continue
        yield b"".join([*pieces, head]).split(b"\n")
        pieces = [tail]


def _collect(fd: int, path: str, size: int, kept: str, quiet: bool) -> None:
    """Append what was written to the replaced file after it was read, and remove that file; not while it is open."""
    if not quiet:
        return
    late = fs.read_fd(fd, size)
    if late and late not in _end(path, len(late) + BLOCK):
        fs.append(path, late, durable=True)
    fs.unlink(kept)


def _end(path: str, size: int) -> bytes:
    try:
        return fs.read_bytes(path, -1, max(0, os.stat(path).st_size - size))
    except FileNotFoundError:
        return b""


def recover(root: str) -> None:
    """Remove the temporary files of killed runs, and append what was written to replaced files since. Raises OSError.
    For one process at a time."""
    directory = root + "/log"
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        return
    for name in names:
        temporary = fs.temporary_of(name) if name.startswith(delivery_log.PREFIX) else None
        if temporary and not process.alive(temporary[1]):
            fs.unlink(f"{directory}/{name}")
    for name in [name for name in names if name.startswith(MARK) and name.count("~") == 3]:
        kept = f"{directory}/{name}"
        _, month, size, ulid = name.split("~")
        if not size.isdecimal():
            continue
        if os.lstat(kept).st_nlink > 1:  # it was never replaced
            fs.unlink(kept)
            continue
        fd = fs.open_regular(kept, ours=True, follow=False)
        try:
            quiet = fs.quiet(fd) or clock.now() - (ids.id_time(ulid) or 0.0) > KEPT_SECONDS
            _collect(fd, f"{directory}/{month}", int(size), kept, quiet)
        finally:
            os.close(fd)
