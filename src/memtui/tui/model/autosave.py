"""Autosaves: text typed in a form and not saved, written while one types, so that no crash loses it."""

import os
from collections.abc import Container
from dataclasses import asdict, dataclass, field

from memtui import keymap
from memtui.base import fastjson_hot, fs_hot, ids_hot, paths_hot, session_state_hot
from memtui.base.phrasing_hot import ago
from memtui.store import memory
from memtui.store.memory import Memory
from memtui.views import safe_text

OF_MEMORY = "memory-"


@dataclass
class Autosave:
    """The autosave of one form, of a memory or an entry."""

    name: str
    base: str = ""  # a digest of the text that is being changed
    time: float = 0.0  # of the last save, in seconds since the epoch
    values: dict[str, str] = field(default_factory=dict)  # as typed
    was: dict[str, str] = field(default_factory=dict)  # as they were when the form opened
    path: str = ""  # of a memory; empty for a new one
    scope: str = ""  # the label of its scope
    raw: bool = False  # the only value is `raw`: the whole file
    whole: str = ""  # the file when the form opened, in case it is deleted

    def save(self, root: str) -> None:
        """Write it, without fsync: this happens at every pause in typing. Raises OSError."""
        row = fastjson_hot.dumps({"v": 1, **asdict(self)}).encode("utf-8", "replace")
        fs_hot.write_atomic(path(root, self.name), row, durable=False)

    @property
    def orphan(self) -> bool:
        return bool(self.path) and not os.path.lexists(self.path)

    @property
    def title(self) -> str:
        name = os.path.basename(self.path).removesuffix(".md") or self.values.get("name") or "no name yet"
        return safe_text.line(name, 60)

    def memory(self) -> Memory:
        return memory.from_bytes(self.path, self.scope, self.whole.encode("utf-8", "surrogateescape"))


def path(root: str, name: str) -> str:
    """Return the file of an autosave. `name`: `guidance`, or the id of what is edited."""
    return f"{root}/drafts/{session_state_hot.safe(name)}.json"


def drop(root: str, name: str) -> None:
    fs_hot.unlink(path(root, name))


def kept(root: str, name: str) -> Autosave | None:
    """Return the autosave with this name, None if there is none that can be read."""
    try:
        row = fastjson_hot.loads_dict(fs_hot.read_bytes(path(root, name), 1 << 24))
    except OSError:
        return None
    texts = [row.get(key) for key in ("values", "was")]
    if not isinstance(row.get("time"), int | float):
        return None
    if not all(isinstance(table, dict) and all(isinstance(text, str) for text in table.values()) for table in texts):
        return None
    about = {key: row[key] for key in ("time", "values", "was", "base", "path", "scope", "whole") if key in row}
    about |= {key: str(about.get(key, "")) for key in ("base", "path", "scope", "whole")}
    return Autosave(name, raw=row.get("raw") is True, **about)  # type: ignore[arg-type]


def name_of(memory_path: str) -> str:
    return OF_MEMORY + ids_hot.digest(memory_path)[:16]


def names(root: str) -> frozenset[str]:
    """Return the names of all autosaves, as their files have them; `has` looks one up."""
    return frozenset(file.removesuffix(".json") for file in paths_hot.names_in(os.path.dirname(path(root, ""))))


def has(autosaves: Container[str], name: str) -> bool:
    return session_state_hot.safe(name) in autosaves


def left(action_id: str) -> str:
    """Return the note when a form is left and its text is kept; the action goes on with it."""
    return keymap.keyed(f"Your text is kept: {{{action_id}}} goes on with it.")


def unsaved(at: float, now: float, action_id: str) -> str:
    """Return the line of a detail for what has an autosave of the time `at`; 0 if that is not known."""
    when = f", {ago(at, now)}" if at else ""
    return f"you have unsaved text for this{when}: {keymap.key_of(action_id)} goes on with it"


def of_memories(root: str) -> list[Autosave]:
    autosaves = [kept(root, name) for name in names(root) if name.startswith(OF_MEMORY)]
    return sorted((autosave for autosave in autosaves if autosave is not None), key=lambda autosave: -autosave.time)


def offered(root: str) -> list[Autosave]:
    """Return the autosaves that no listed memory has: those of new memories, and those of deleted files."""
    return [autosave for autosave in of_memories(root) if not autosave.path or autosave.orphan]
