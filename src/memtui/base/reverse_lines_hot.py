"""Read the lines of a file, last first, in blocks: the newest lines come at once, however long the file is."""

import posix

from memtui.base import fs_hot

BLOCK, SEARCH_BLOCK = 1 << 16, 1 << 18  # bytes read at a time; more where a word is searched for
LONGEST = 1 << 23  # the most bytes that a record of a log has
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class TooFarError(OSError):
    """The search gave up: the part of the file that there is time to read was read without an answer."""


def lines(
    path: str,
    end: int = -1,
    needle: bytes = b"",
    fold: bool = False,
    within: int = -1,
    longest: int = LONGEST,
    block: int = 0,
) -> "Iterator[tuple[int, bytes]]":
    """Yield (offset, line) of each line that is not blank, last first, reading a block only when it is needed. `end`:
    the offset to begin at, which begins a line (-1: the file's end). `needle`: yield only lines that contain it,
    without splitting the others; with `fold` it is in small letters, and capitals make no difference. Lines longer than
    `longest` bytes (-1: no limit) are skipped. Raises OSError; TooFarError if the caller asks for lines further than
    `within` bytes (-1: no limit) from the end."""
    fd = fs_hot.open_regular(path, ours=True)
    try:
        at = end = posix.fstat(fd).st_size if end < 0 else end
        pieces: list[bytes] = []  # of a line that begins in an earlier block, last piece first
        held = 0  # their bytes
        while at > 0:
            if 0 <= within < end - at:
                raise TooFarError(27, f"not found in its last {within >> 20} MB", path)
            size = min(block or (SEARCH_BLOCK if needle else BLOCK), at)
            at -= size
            data = posix.pread(fd, size, at)
            # What comes before the first newline may begin in an earlier block; what follows the last newline is the
            # beginning of the line in `pieces`.
            begin, last = data.find(b"\n") + 1 if at else 0, data.rfind(b"\n") + 1
            held += len(data) - last
            if 0 <= longest < held:
                data, pieces = data[:last], []
            if at and not begin:
                pieces.append(data)
                continue
            data = b"".join([data, *reversed(pieces)])
            for start, line in _matching(data, begin, needle, fold) if needle else _all(data, begin):
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


def _matching(data: bytes, begin: int, needle: bytes, fold: bool) -> "Iterator[tuple[int, bytes]]":
    searched = data.lower() if fold else data
    end = len(data) if needle in searched else 0
    while (hit := searched.rfind(needle, begin, end)) >= 0:
        start = data.rfind(b"\n", begin, hit) + 1 or begin
        stop = data.find(b"\n", hit)
        yield start, data[start : stop if stop >= 0 else len(data)]
        end = start
