"""Session state: what a session was told, so that a later prompt brings only what is new.

The state is derived: if it is lost, a list is delivered again, but no guidance is."""

from memtui.base import fastjson_hot, fs_hot
from memtui.base.fastjson_hot import rows, table, text

VERSION = 1
# The fields of a state.
FIELDS = (
    *("started", "cwd", "project", "project_root", "transcript", "mode", "copy_of", "redone", "telling"),
    *("prompted", "stamps", "updates", "waiting", "too_long", "told_untrusted", "blocks", "dirs", "building", "turn"),
    *("turn_of", "tool", "compacting"),
)


def safe(session_id: str) -> str:
    """Make a session id safe for a file name. The client's ids are UUIDs, which stay as they are."""
    if len(session_id) <= 80 and session_id.isascii() and session_id.replace("-", "").isalnum():
        return session_id
    return "".join([c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in session_id[:80]]) or "_"


def path(root: str, session_id: str, part: str = "") -> str:
    """Return the path of a session's state file, or of a `part`: `index`, the memories it was told of; `cursor`, how
    far its transcript was read; `missed`, what did not arrive; `stopped`, the claims under way at a turn's end."""
    return f"{root}/sessions/{safe(session_id)}{'.' + part if part else ''}.json"


def load_part(root: str, session_id: str, part: str) -> "dict[str, object]":
    """Read a part of a session's state; `{}` if there is none, or it can't be read."""
    return _values(_read(root, session_id, part))


def save_part(root: str, session_id: str, part: str, values: "dict[str, object]") -> None:
    """Overwrite a part of a session's state in place, without waiting for the disk. Raises OSError."""
    fs_hot.overwrite(path(root, session_id, part), fastjson_hot.dumps({**values, "v": VERSION}).encode())


def _read(root: str, session_id: str, part: str = "") -> bytes:
    try:
        return fs_hot.read(path(root, session_id, part), "session")
    except OSError:
        return b""


def _values(data: bytes) -> "dict[str, object]":
    values = fastjson_hot.loads_dict(data) if data else {}
    return values if values.get("v") == VERSION else {}


class SessionState:
    """What one session was told, and where it runs; fields as docs/file-formats.md has them."""

    __slots__ = (*FIELDS, "_root", "_data", "index", "is_new", "session_id")

    def __init__(
        self, root: str, session_id: str, values: "dict[str, object] | None" = None, data: bytes = b""
    ) -> None:
        self._root, self._data, self.session_id = root, data, session_id
        self.is_new = not values  # not seen before, or its file can't be read
        # The part of that name, if a hook is to save it, too.
        self.index: dict[str, object] = {}
        values = values or {}
        self.started = text(values, "started")
        self.cwd = text(values, "cwd")
        self.project = text(values, "project")
        self.project_root = text(values, "project_root")
        self.transcript = text(values, "transcript")
        self.mode = text(values, "mode")
        self.copy_of = rows(values, "copy_of")
        self.redone = rows(values, "redone")
        self.telling = text(values, "telling")
        self.prompted = values.get("prompted") is True
        self.stamps = table(values, "stamps")
        self.updates = table(values, "updates")
        self.waiting = rows(values, "waiting")
        self.too_long = rows(values, "too_long")
        self.told_untrusted = values.get("told_untrusted") is True
        self.blocks = table(values, "blocks")
        self.dirs = table(values, "dirs")
        self.building = rows(values, "building")
        self.turn = rows(values, "turn")
        self.turn_of = text(values, "turn_of")
        self.tool = rows(values, "tool")
        self.compacting = text(values, "compacting")

    def values(self) -> "dict[str, object]":
        """Return the fields that are not empty, as the file has them."""
        return {name: value for name in FIELDS if (value := getattr(self, name))}

    def save(self) -> None:
        """Replace the file, without waiting for the disk, if the state is another than was read. Raises OSError."""
        data = fastjson_hot.dumps({**self.values(), "v": VERSION}).encode()
        if data != self._data:
            fs_hot.write_atomic(path(self._root, self.session_id), data, durable=False)
            self._data = data

    def forget(self, item: "dict[str, object]") -> None:
        """Note that the session does not know an entry of a list after all, so that the next prompt brings it."""
        kind, name, scope = item.get("kind"), str(item.get("id")), str(item.get("scope"))
        if kind == "pending-item":
            self.waiting.append(name)
        elif kind == "pending-update":
            self.stamps[scope] = -1
            table(self.updates, scope).pop(name, None)
        elif kind == "guidance":
            self.too_long = [other for other in self.too_long if other != name]
        elif kind == "block":
            texts = table(self.blocks, "texts")
            texts.pop(name, None)
            self.blocks = {**self.blocks, "stamps": {}, "texts": texts}


def load(root: str, session_id: str) -> SessionState:
    """Read the state of a session; an empty one for a session not seen before, or a file that can't be read."""
    data = _read(root, session_id)
    return SessionState(root, session_id, _values(data), data)
