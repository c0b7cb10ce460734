"""Session state: what a session was already told, so that a later prompt brings only what is new.

The state is derived: if it is lost, a list is delivered again, but no guidance is."""

from memtui.base import fastjson, fs

VERSION = 1


def safe(session_id: str) -> str:
    """Make a session id safe for a file name. The client's ids are UUIDs, which stay as they are."""
    return "".join([c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in session_id[:80]]) or "_"


def path(root: str, session_id: str, part: str = "") -> str:
    """Return the path of a session's state file, or of another `part` of its state. Parts: `index`, the memories it was
    told of; `cursor`, how far its transcript was read; `missed`, what did not arrive; `unread`, turns that a model was
    to read; `stopped`, the claims under way when a turn ended."""
    return f"{root}/sessions/{safe(session_id)}{'.' + part if part else ''}.json"


def load(root: str, session_id: str, part: str = "") -> "dict[str, object]":
    """Read the state; `{}` for a session not seen before, or a file that can't be read."""
    try:
        state = fastjson.loads_dict(fs.read(path(root, session_id, part), "session"))
    except OSError:
        return {}
    return state if state.get("v") == VERSION else {}


def save(root: str, session_id: str, state: "dict[str, object]", part: str = "") -> None:
    """Replace the state, without waiting for the disk; a part is overwritten in place. Raises OSError."""
    data = fastjson.dumps({**state, "v": VERSION}).encode()
    if part:
        fs.overwrite(path(root, session_id, part), data)
    else:
        fs.write_atomic(path(root, session_id), data, durable=False)
