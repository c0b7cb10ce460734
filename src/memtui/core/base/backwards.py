"""Read the lines of a file, last first: its end is there at once, however long it is."""

import posix

from memtui.core.base import fs

BLOCK = 1 << 16
# A file is searched for a word in blocks of this size.
SOUGHT_BLOCK = 1 << 18
# No record of a log is longer.
LONGEST = 1 << 23

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class TooFarError(OSError):
    """Nothing was found in the part of a file that there is time to read."""


def lines(
    path: str,
    end: int = -1,
    needle: bytes = b"",
    fold: bool = False,
    within: int = -1,
    longest: int = LONGEST,
    block: int = 0,
) -> "Iterator[tuple[int, bytes]]":
    """(first byte, line) of the lines that are not blank, last first, without reading more than is asked for.

    `end` is where reading begins: the file's end (-1), or the beginning of a line. Only lines with `needle`, which
    spares the taking apart of others; with `fold` it is in small letters, and found in whatever case. A line of more
    than `longest` bytes (-1: any number) is passed over. Raises OSError; TooFarError where `within` bytes (-1: any
    number) are not enough.
    """
    fd = fs.open_regular(path, ours=True)
    try:
        at = end = posix.fstat(fd).st_size if end < 0 else end
        pieces: list[bytes] = []  # of a line that begins in a block before, last piece first
        held = 0  # bytes of that line
        while at > 0:
            if 0 <= within < end - at:
                raise TooFarError(27, f"not found in its last {within >> 20} MB", path)
            size = min(block or (SOUGHT_BLOCK if needle else BLOCK), at)
            at -= size
            data = posix.pread(fd, size, at)
            # What stands before the first line end may begin in the block before; behind the last one begins the line
            # that the pieces end.
            begin, last = data.find(b"\n") + 1 if at else 0, data.rfind(b"\n") + 1
            held += len(data) - last
            if 0 <= longest < held:
                data, pieces = data[:last], []
            if at and not begin:
                pieces.append(data)
                continue
            data = b"".join([data, *reversed(pieces)])
            for start, line in _with(data, begin, needle, fold) if needle else _all(data, begin):
                yield at + start, line
            pieces, held = [data[: max(0, begin - 1)]], max(0, begin - 1)
    finally:
        posix.close(fd)


def _all(data: bytes, begin: int) -> "Iterator[tuple[int, bytes]]":
    start = len(data) + 1
    for line in reversed(data[begin:].split(b"\n")):
        start -= len(line) + 1
        if line.strip():
            yield start, line


def _with(data: bytes, begin: int, needle: bytes, fold: bool) -> "Iterator[tuple[int, bytes]]":
    sought = data.lower() if fold else data
    end = len(data) if needle in sought else 0
    while (hit := sought.rfind(needle, begin, end)) >= 0:
        start = data.rfind(b"\n", begin, hit) + 1 or begin
        stop = data.find(b"\n", hit)
        yield start, data[start : stop if stop >= 0 else len(data)]
        end = start
