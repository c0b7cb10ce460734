"""How far a transcript was read: an offset, and marks by which a file that was rewritten since is recognised.

After a compaction the client may drop the records before it from the file. What is left of those that were read is
found again by the last line of them."""

from memtui.base import fs, ids

MARK_BYTES = 256
# A line that is longer can't be found again.
LINE_BYTES = 1 << 16


def note(path: str, offset: int) -> dict[str, object]:
    """Return what `start` needs to read on from an offset, which is at the end of a line. Raises OSError."""
    begin = max(0, offset - LINE_BYTES)
    lines = (fs.read_bytes(path, offset - begin, begin) if offset else b"").removesuffix(b"\n").rsplit(b"\n", 1)
    line = lines[-1] if len(lines) > 1 or not begin else b""
    return {"offset": offset, "mark": mark(path, offset), "line": ids.content_hash(line) if line else ""}


def start(cursor: dict[str, object], path: str) -> int:
    """Return the offset to read on from; 0 if the file is not the one read before, or has nothing any more of what was
    read. One that was moved still is. `cursor` is made by `note`. Raises OSError."""
    offset = cursor.get("offset")
    if not isinstance(offset, int) or offset < 0:
        return 0
    return offset if mark(path, offset) == cursor.get("mark") else _behind(path, cursor.get("line"))


def mark(path: str, offset: int) -> str:
    """Return a hash of the bytes before an offset; empty if the file is shorter. Raises OSError."""
    begin = max(0, offset - MARK_BYTES)
    data = fs.read_bytes(path, offset - begin, begin) if offset else b""
    return ids.content_hash(data) if len(data) == offset - begin else ""


def _behind(path: str, line: object) -> int:
    """Return the offset behind the last line with this hash; 0 if there is none."""
    behind = offset = 0
    if not isinstance(line, str) or not line:
        return 0
    with open(fs.open_regular(path, ours=True), "rb") as file:
        while part := file.readline(LINE_BYTES):
            offset += len(part)
            if part.endswith(b"\n") and ids.content_hash(part[:-1]) == line:
                behind = offset
    return behind
