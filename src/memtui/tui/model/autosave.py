"""What is typed in a form and not saved: kept while it is typed, so that neither escape nor a crash loses it."""

import os
from dataclasses import asdict, dataclass, field

from memtui.core.base import fastjson, fs, ids, session_state
from memtui.core.memories import memory
from memtui.core.memories.memory import Memory
from memtui.present import safe_text

Row = dict[str, object]
OF_MEMORY = "memory-"


def path(root: str, name: str) -> str:
    """The file of an autosave. `name` says what is being written: `guidance`, or the id of what is edited."""
    return f"{root}/drafts/{session_state.safe(name)}.json"


def save(root: str, name: str, row: Row) -> None:
    """Write a file. Raises OSError. Not synced: it is written at every pause in typing."""
    fs.write_atomic(path(root, name), fastjson.dumps(row).encode("utf-8", "replace"), durable=False)


def load(root: str, name: str) -> Row:
    """The file of that name, `{}` if there is none."""
    try:
        return fastjson.loads_dict(fs.read_bytes(path(root, name), 1 << 24))
    except OSError:
        return {}


def drop(root: str, name: str) -> None:
    """Forget what was typed. Raises OSError."""
    fs.unlink(path(root, name))


@dataclass
class Autosave:
    """What was typed in one form: `values` as typed, `was` as they were when the form opened, `base` a digest of what
    it was typed over. Of a memory, `path` is its file, empty for a new one, `scope` the label of its scope and `whole`
    its content then, should the file be gone by now; with `raw` the one value `raw` is the text of the whole file."""

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
        """Keep it. Raises OSError."""
        save(root, self.name, {"v": 1, **asdict(self)})

    @property
    def orphan(self) -> bool:
        """Whether the memory's file that it was typed over is gone."""
        return bool(self.path) and not os.path.lexists(self.path)

    @property
    def title(self) -> str:
        """The memory's name in lists."""
        name = os.path.basename(self.path).removesuffix(".md") or self.values.get("name") or "no name yet"
        return safe_text.line(name, 60)

    def memory(self) -> Memory:
        """The memory that it was typed over, as it was then."""
        whole = self.whole or self.was.get("raw", "")
        if not whole and not self.raw:
            given = {**self.was, **self.values}
            about = (given.get("description", ""), given.get("type", ""), given.get("body", ""))
            return memory.from_bytes(self.path, self.scope, memory.new_memory_bytes(self.title, *about))
        return memory.from_bytes(self.path, self.scope, whole.encode("utf-8", "surrogateescape"))


def kept(root: str, name: str) -> Autosave | None:
    """What was typed in the form of that name, None if nothing was."""
    row = load(root, name)
    if not row:
        return None
    if "values" not in row:  # as all forms but that of memories wrote it once
        texts = {key: value if isinstance(value, str) else "yes" * bool(value) for key, value in row.items()}
        return Autosave(name, texts.pop("base", ""), values=texts)
    time, values, was = row.get("time"), _texts(row.get("values")), _texts(row.get("was"))
    if not isinstance(time, int | float) or values is None or was is None:
        return None
    about = {key: row[key] for key in ("base", "path", "scope", "whole") if isinstance(row.get(key), str)}
    return Autosave(name, time=time, values=values, was=was, raw=row.get("raw") is True, **about)  # type: ignore[arg-type]


def _texts(found: object) -> dict[str, str] | None:
    good = isinstance(found, dict) and all(isinstance(value, str) for value in found.values())
    return dict(found) if isinstance(found, dict) and good else None


def name_of(memory_path: str) -> str:
    """The name of what is typed over a memory's file."""
    return OF_MEMORY + ids.digest(memory_path)[:16]


def of_memories(root: str) -> list[Autosave]:
    """What was typed of memories, newest first."""
    try:
        files = os.listdir(os.path.dirname(path(root, "")))
    except OSError:
        return []
    found = [kept(root, file.removesuffix(".json")) for file in files if file.startswith(OF_MEMORY)]
    return sorted((each for each in found if each is not None), key=lambda each: -each.time)


def offered(root: str) -> list[Autosave]:
    """What no memory in the lists leads to: of new memories, and of files that are gone."""
    return [each for each in of_memories(root) if not each.path or each.orphan]
