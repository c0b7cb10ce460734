"""The memories that a session was given whole, by recall or otherwise, so that it gets none of them twice. Hook path.

The part `recall` of the session's state: `sent`, by path, [hash of the memory, its file's time in ns, its size];
`units`, UTF-16 units given since the start or the last compaction; `tool`, paths given before a tool, which some
clients drop at a resume; `giving`, paths that a hook is about to print, which count as given once it did."""

from memtui.base import fastjson_hot, fs_hot, session_state_hot

PART = "recall"
# Seconds that a hook waits for another one that gives memories to the same session.
LOCK_SECONDS = 0.5
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def lock(root: str, session_id: str) -> fs_hot.Lock:
    """Return the lock of what a session was given: of two hooks at the same moment, one gives a memory."""
    path = f"{root}/run/worker-given-{session_state_hot.safe(session_id)}.lock"
    return fs_hot.Lock(path, LOCK_SECONDS, by_process=True)


class SessionMemories:
    """The memories that a session was given; none without an id. Each change is saved at once."""

    __slots__ = ("_at", "_giving", "sent", "tool", "units")

    def __init__(self, root: str = "", session_id: str = "") -> None:
        self._at = (root, session_id)
        state = session_state_hot.load_part(root, session_id, PART) if session_id else {}
        sent, doubtful = fastjson_hot.table(state, "sent").items(), fastjson_hot.rows(state, "giving")
        sound = [(path, row) for path, row in sent if isinstance(row, list) and len(row) == 3]
        self.sent = {path: row for path, row in sound if path not in doubtful}
        self._giving: list[str] = []
        self.units = fastjson_hot.number(state, "units")
        self.tool = [str(path) for path in fastjson_hot.rows(state, "tool")]

    def note(self, memories: "dict[str, list[object]]", units: int, tool: bool = False) -> None:
        """Note that the session has these memories, of so many units. Raises OSError."""
        self.sent.update(memories)
        self.units += units
        self.tool += [path for path in memories if tool]
        self._save()

    def begin(self, memories: "dict[str, list[object]]", units: int, tool: bool = False) -> None:
        """Note that these memories are about to be printed. Raises OSError."""
        self._giving += memories
        self.note(memories, units, tool)

    def end(self, left_out: "Iterable[str]") -> None:
        """Note that what was about to be printed was, but for these paths. Raises OSError."""
        self._giving = []
        self.forget(left_out, always=True)

    def forget(self, paths: "Iterable[str]", always: bool = False) -> None:
        """Forget the memories at these paths; save that `always`, or if it had any. Raises OSError."""
        forgotten = {path for path in paths if path in self.sent}
        if forgotten or always:
            self.sent = {path: noted for path, noted in self.sent.items() if path not in forgotten}
            self.tool = [path for path in self.tool if path not in forgotten]
            self._save()

    def _save(self) -> None:
        lists = {"tool": self.tool, "giving": self._giving}
        state = {"sent": self.sent, "units": self.units, **{key: paths for key, paths in lists.items() if paths}}
        session_state_hot.save_part(*self._at, PART, state)


def copy(root: str, parent: str, session_id: str) -> None:
    """Note that a session has what its parent was given, too. Raises OSError."""
    state = session_state_hot.load_part(root, parent, PART)
    if state:
        own = fastjson_hot.table(session_state_hot.load_part(root, session_id, PART), "sent")
        state["sent"] = {**fastjson_hot.table(state, "sent"), **own}
        session_state_hot.save_part(root, session_id, PART, state)
