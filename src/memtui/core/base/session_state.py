"""Remember what a session was already told, so that a later prompt brings only what is new.

Derived: losing it repeats a delivery of a list, never one of guidance.
"""

from memtui.core.base import fastjson, fs

VERSION = 1


def safe(session_id: str) -> str:
    """A session id as part of a file name. Ids are the client's UUIDs; anything else is made safe."""
    return "".join([c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in session_id[:80]]) or "_"


def path(root: str, session_id: str, part: str = "") -> str:
    """The state file of a session, or one of its other parts: `index`, what it knows of the memories; `cursor`."""
    return f"{root}/sessions/{safe(session_id)}{'.' + part if part else ''}.json"


def load(root: str, session_id: str, part: str = "") -> "dict[str, object]":
    """Read the state: `{}` for a session not seen before, or a file that can't be read."""
    try:
        state = fastjson.loads_dict(fs.read(path(root, session_id, part), "session"))
    except OSError:
        return {}
    return state if state.get("v") == VERSION else {}


def save(root: str, session_id: str, state: "dict[str, object]", part: str = "") -> None:
    """Replace the state. Raises OSError. Not synced to disk: see the module.

    A part, which holds no words of a person, is written in its place: at worst it is lost.
    """
    data = fastjson.dumps({**state, "v": VERSION}).encode()
    if part:
        fs.overwrite(path(root, session_id, part), data)
    else:
        fs.write_atomic(path(root, session_id), data, durable=False)


def number(state: "dict[str, object]", key: str) -> int:
    """A whole number of the state, 0 if it is missing or of another shape."""
    found = state.get(key)
    return found if isinstance(found, int) else 0


def table(state: "dict[str, object]", key: str) -> "dict[str, object]":
    """A table of the state, `{}` if it is missing or of another shape."""
    found = state.get(key)
    return found if isinstance(found, dict) else {}
