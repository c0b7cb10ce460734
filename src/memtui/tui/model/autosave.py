"""Autosaves: what a person has typed in a form and not saved, written while they type, so that neither escape nor a
crash loses it."""

import os
from collections.abc import Container
from dataclasses import asdict, dataclass, field

from memtui import actions
from memtui.core.base import fastjson, fs, ids, session_state
from memtui.core.base.phrasing import ago
from memtui.core.memories import memory
from memtui.core.memories.memory import Memory
from memtui.present import safe_text

Row = dict[str, object]
OF_MEMORY = "memory-"


def path(root: str, name: str) -> str:
    """Return the file of an autosave. `name`: `guidance`, or the id of what is edited."""
    return f"{root}/drafts/{session_state.safe(name)}.json"


def save(root: str, name: str, row: Row) -> None:
    """Write an autosave's file, without fsync: this happens at every pause in typing. Raises OSError."""
    fs.write_atomic(path(root, name), fastjson.dumps(row).encode("utf-8", "replace"), durable=False)


def load(root: str, name: str) -> Row:
    """Return what the file of an autosave holds, `{}` if there is none."""
    try:
        return fastjson.loads_dict(fs.read_bytes(path(root, name), 1 << 24))
    except OSError:
        return {}


def drop(root: str, name: str) -> None:
    """Delete an autosave. Raises OSError."""
    fs.unlink(path(root, name))


@dataclass
class Autosave:
    """The autosave of one form: `values` as typed, `was` as they were when the form opened, `base` a digest of the text
    that is being changed, `time` of the last save in seconds since the epoch.

    For a memory, `path` is its file (empty for a new one), `scope` the label of its scope, and `whole` the file's
    content when the form opened, in case the file is deleted. With `raw`, the only value is `raw`: the whole file.
    """

    name: str
    base: str = ""
    time: float = 0.0
    values: dict[str, str] = field(default_factory=dict)
    was: dict[str, str] = field(default_factory=dict)
    path: str = ""
    scope: str = ""
    raw: bool = False
    whole: str = ""

    def save(self, root: str) -> None:
        """Write it. Raises OSError."""
        save(root, self.name, {"v": 1, **asdict(self)})

    @property
    def orphan(self) -> bool:
        """Whether the file of the memory being changed is gone."""
        return bool(self.path) and not os.path.lexists(self.path)

    @property
    def title(self) -> str:
        """The memory's name, for lists."""
        name = os.path.basename(self.path).removesuffix(".md") or self.values.get("name") or "no name yet"
        return safe_text.line(name, 60)

    def memory(self) -> Memory:
        """Return the memory being changed, as it was when the form opened."""
        whole = self.whole or self.was.get("raw", "")
        if not whole and not self.raw:
            given = {**self.was, **self.values}
            about = (given.get("description", ""), given.get("type", ""), given.get("body", ""))
            return memory.from_bytes(self.path, self.scope, memory.new_memory_bytes(self.title, *about))
        return memory.from_bytes(self.path, self.scope, whole.encode("utf-8", "surrogateescape"))


def kept(root: str, name: str) -> Autosave | None:
    """Return the autosave with this name, None if there is none that can be read."""
    row = load(root, name)
    if not row:
        return None
    if "values" not in row:  # the old format of all forms but that of memories
        texts = {key: value if isinstance(value, str) else "yes" * bool(value) for key, value in row.items()}
        return Autosave(name, texts.pop("base", ""), values=texts)
    time, values, was = row.get("time"), _texts(row.get("values")), _texts(row.get("was"))
    if not isinstance(time, int | float) or values is None or was is None:
        return None
    about = {key: row[key] for key in ("base", "path", "scope", "whole") if isinstance(row.get(key), str)}
    return Autosave(name, time=time, values=values, was=was, raw=row.get("raw") is True, **about)  # type: ignore[arg-type]


def _texts(value: object) -> dict[str, str] | None:
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        return None
    return value


def name_of(memory_path: str) -> str:
    """Return the name of the autosave for a memory's file."""
    return OF_MEMORY + ids.digest(memory_path)[:16]


def names(root: str) -> frozenset[str]:
    """Return the names of all autosaves, as their files have them; `has` looks one up."""
    try:
        files = os.listdir(os.path.dirname(path(root, "")))
    except OSError:
        return frozenset()
    return frozenset(file.removesuffix(".json") for file in files)


def has(found: Container[str], name: str) -> bool:
    """Return whether what `names` returned has an autosave with this name."""
    return session_state.safe(name) in found


def left(action_id: str) -> str:
    """Return the note when a form is left and its text is kept; the action goes on with it."""
    return actions.keyed(f"Your text is kept: {{{action_id}}} goes on with it.")


def unsaved(at: float, now: float, action_id: str) -> str:
    """Return the line of a detail for what has an autosave of the time `at`; 0 if that is not known."""
    when = f", {ago(at, now)}" if at else ""
    return f"you have unsaved text for this{when}: {actions.key_of(action_id)} goes on with it"


def of_memories(root: str) -> list[Autosave]:
    """Return the autosaves of memories, newest first."""
    found = [kept(root, name) for name in names(root) if name.startswith(OF_MEMORY)]
    return sorted((each for each in found if each is not None), key=lambda each: -each.time)


def offered(root: str) -> list[Autosave]:
    """Return the autosaves that no listed memory has: those of new memories, and those of deleted files."""
    return [each for each in of_memories(root) if not each.path or each.orphan]
