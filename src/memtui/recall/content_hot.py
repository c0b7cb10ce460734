"""What a memory's file says, as recall gives it: its body, when it ends, and by what a change is seen. Hook path."""

import posix

from memtui.base import clock_hot, ids_hot

READ_BYTES = 1 << 20  # bytes of a file that are read: a longer one is no memory for a prompt, but its beginning may be
EXPIRES = (b"expires", b"expiry", b"valid_until")  # the fields that say when a memory ends


def head(data: bytes) -> "tuple[str, str]":
    """Split a memory into its frontmatter, without the fences, and its body."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    if text.startswith("---\n"):
        end = text.find("\n---", 3)
        line = text.find("\n", end + 1)
        if end >= 0 and text[end + 1 : line if line >= 0 else None].rstrip() == "---":
            return text[4 : end + 1], text[line + 1 :] if line >= 0 else ""
    return "", text


def body(data: bytes) -> str:
    """Return a memory without its frontmatter."""
    return head(data)[1]


def in_conflict(data: bytes) -> bool:
    """Tell whether a memory has git's conflict markers: then nobody knows which of both versions holds."""
    if b"<<<<<<<" not in data:
        return False
    from memtui.store.frontmatter import head_hot

    return head_hot.first_conflict(data) > 0


def seen(data: bytes) -> str:
    """Return a hash of what a session has once it was given a memory: of the body, without one of all."""
    text = body(data).strip().encode("utf-8", "replace") or data
    # Not BLAKE2b, whose library takes longer to load than all of this. Nobody gains from two bodies that look the same.
    return f"{len(text):x}.{ids_hot.number_of(text):x}"


def expiry(data: bytes) -> "float | None":
    """Return when a memory's own frontmatter says that it ends, in seconds since the epoch; None if it does not."""
    beginning = data[:8192]
    if not any(field in beginning for field in EXPIRES):
        return None
    for line in head(data)[0].split("\n"):
        field, colon, value = line.partition(":")
        if colon and field.strip().encode() in EXPIRES:
            return clock_hot.parse(value.strip().strip("'\""))
    return None


def note_given(root: str, session_id: str, paths: "list[str]") -> None:
    """Note that a session has the whole of some memories, as they are now, if they are there. Raises OSError."""
    from memtui.base import fs_hot
    from memtui.deliver import session_memories_hot

    noted: dict[str, list[object]] = {}
    for path in paths:
        try:
            status = posix.stat(path)
            noted[path] = [seen(fs_hot.read_bytes(path, READ_BYTES)), status.st_mtime_ns, status.st_size]
        except OSError:
            continue  # it is gone since
    if noted:
        with session_memories_hot.lock(root, session_id):
            session_memories_hot.SessionMemories(root, session_id).note(noted, 0)
