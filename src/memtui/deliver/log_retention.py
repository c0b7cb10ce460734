"""What goes from the delivery log: months that ended long ago, as a whole, and the texts of a purged memory. A record
keeps the hash of a text that was dropped, and `folded: true`."""

import calendar
import os
import posix
import re
from collections.abc import Callable, Iterator

from memtui.base import clock, fastjson, fs, ids, reverse_lines
from memtui.deliver import log as delivery_log

BLOCK = 1 << 20


def old(root: str, now: float, days: int, prefix: str = delivery_log.PREFIX) -> list[str]:
    """Return the logs of the months that ended more than so many days ago, oldest first; none for 0 days."""
    months = [(path, _end(path, prefix)) for path in reversed(delivery_log.months(root, prefix))]
    return [path for path, end in months if days > 0 and end is not None and end < now - days * clock.DAY]


def _end(path: str, prefix: str) -> float | None:
    """Return when the month of a log ended, in seconds since the epoch; None if its name holds no month."""
    stem = os.path.basename(path).removeprefix(prefix).removesuffix(delivery_log.SUFFIX)
    begin = clock.parse(stem + "-01")
    if begin is None:
        return None
    return begin + calendar.monthrange(int(stem[:4]), int(stem[5:7]))[1] * clock.DAY


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
                    offset = 0 if blanked != line else len(line)
                    while offset < len(line):
                        offset += posix.pwrite(fd, blanked[offset:], at + offset)
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
    place = _TEXT.search(line)
    if not isinstance(text, str) or not text or place is None:
        return line
    marks = (f'"text_hash": "{ids.content_hash(text)}", "folded": true', '"folded": true')
    mark = next((mark.encode() for mark in marks if len(mark) <= len(place[0])), b"")
    return line[: place.start()] + mark.ljust(len(place[0])) + line[place.end() :] if mark else line


def _blocks(fd: int) -> Iterator[list[bytes]]:
    """Yield the whole lines of a file, some at a time."""
    at = 0
    pieces: list[bytes] = []
    while block := os.pread(fd, BLOCK, at):
        at += len(block)
        head, end, tail = block.rpartition(b"\n")
        if not end:
            pieces.append(block)
            if len(pieces) * BLOCK > reverse_lines.LONGEST:
                return  # no line of a log is so long
            continue
        yield b"".join([*pieces, head]).split(b"\n")
        pieces = [tail]
