"""How far a transcript was read: an offset, and a mark by which a file that was rewritten since is recognised."""

from memtui.core.base import fs, ids

MARK_BYTES = 256


def start(cursor: dict[str, object], path: str) -> int:
    """Return the offset to read on from; 0 if the file is not the one read before, or was rewritten since. One that was
    moved still is. `cursor` has `offset` and `mark`. Raises OSError."""
    offset = cursor.get("offset")
    if not isinstance(offset, int) or offset < 0:
        return 0
    return offset if mark(path, offset) == cursor.get("mark") else 0


def mark(path: str, offset: int) -> str:
    """Return a hash of the bytes before an offset; empty if the file is shorter. Raises OSError."""
    begin = max(0, offset - MARK_BYTES)
    data = fs.read_bytes(path, offset - begin, begin) if offset else b""
    return ids.content_hash(data) if len(data) == offset - begin else ""
