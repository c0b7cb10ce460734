"""The delivery log by the place of each line: read backwards from anywhere, and what was appended since. For who keeps
only places of a long log, and reads a record again when it is looked at."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from memtui.core.base import fastjson
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries.record import Record

BLOCK = 1 << 16
# No record is that long: what is, is not held while its beginning is sought.
LONGEST = 1 << 23


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line stands: a file, its first byte, and how many bytes it has without its line end."""

    path: str
    start: int
    length: int


def _open(path: str) -> int:
    """A file descriptor of a regular file. Raises OSError."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(f"{path} is no file")
    return fd


def sizes(root: str) -> dict[str, int]:
    """The months' logs and how long each is now."""
    found = {}
    for path in delivery_log.months(root):
        try:
            found[path] = os.stat(path).st_size
        except OSError:
            continue
    return found


def ends(root: str) -> dict[str, int]:
    """The months' logs and where the last finished line of each ends: what is half written counts as not there yet."""
    found = {}
    for path, size in sizes(root).items():
        try:
            found[path] = next(backwards(path, size), (0, b""))[0]
        except OSError:
            continue
    return found


def backwards(path: str, end: int) -> Iterator[tuple[int, bytes]]:
    """(first byte, line) of the lines that begin before byte `end`, last first; `end` is a line's beginning, or the
    end of the file. Raises OSError."""
    fd = _open(path)
    try:
        at = end
        pieces: list[bytes] = []
        held = 0
        while at > 0:
            count = min(BLOCK, at)
            at -= count
            parts = os.pread(fd, count, at).split(b"\n")
            pieces.append(parts[-1])
            held += len(parts[-1])
            if len(parts) == 1:
                if held > LONGEST:
                    pieces = [b""]
                continue
            start = at + count - len(parts[-1])
            yield start, b"".join(reversed(pieces))
            for part in reversed(parts[1:-1]):
                start -= len(part) + 1
                yield start, part
            pieces, held = [parts[0]], len(parts[0])
        yield 0, b"".join(reversed(pieces))
    finally:
        os.close(fd)


def older(root: str, before: Place | None = None, since: dict[str, int] | None = None) -> Iterator[tuple[Place, bytes]]:
    """All lines before one, or before the files ended at `since`, newest first. What can't be read is left out."""
    known = sizes(root) if since is None else since
    for path in sorted(known, reverse=True):
        if before is not None and path > before.path:
            continue
        end = before.start if before is not None and path == before.path else known[path]
        try:
            for start, line in backwards(path, end):
                if line.strip():
                    yield Place(path, start, len(line)), line
        except OSError:
            continue


def appended(root: str, since: dict[str, int]) -> tuple[list[tuple[Place, bytes]], dict[str, int]] | None:
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
            fd = _open(path)
        except OSError:
            continue
        try:
            data = os.pread(fd, now[path] - start, start)
        finally:
            os.close(fd)
        whole = data.rfind(b"\n") + 1
        after[path] = start + whole
        for line in data[:whole].split(b"\n")[:-1]:
            if line.strip():
                found.append((Place(path, start, len(line)), line))
            start += len(line) + 1
    return found, after


def record_of(line: bytes) -> Record | None:
    """The record of a line; None for one that is torn, no delivery, or of a version not known."""
    found = fastjson.loads_dict(line)
    return found if found.get("v") == delivery_log.VERSION and isinstance(found.get("items"), list) else None


def read(place: Place) -> Record | None:
    """The record at a place; None where it is gone."""
    try:
        fd = _open(place.path)
    except OSError:
        return None
    try:
        return record_of(os.pread(fd, place.length, place.start))
    except OSError:
        return None
    finally:
        os.close(fd)
