"""What was typed in the form of a memory and not saved: kept while it is typed, offered again after a crash."""

import os
from dataclasses import asdict, dataclass, field

from memtui.core.base import ids
from memtui.core.memories import memory
from memtui.core.memories.memory import Memory
from memtui.present import safe_text
from memtui.tui.model import autosave

VERSION = 1
PREFIX = "memory-"


@dataclass
class Draft:
    """`values` as typed, `was` as they were when the form opened; `path` is the memory's file, empty for a new one,
    `base` the `ids.digest` of its content then and `whole` that content, should the file be gone by now. With `raw` the
    one value `raw` is the text of the whole file."""

    key: str
    path: str = ""
    base: str = ""
    scope: str = ""
    time: float = 0.0
    raw: bool = False
    values: dict[str, str] = field(default_factory=dict)
    was: dict[str, str] = field(default_factory=dict)
    whole: str = ""

    @property
    def orphan(self) -> bool:
        """Whether the file that it was typed over is gone."""
        return bool(self.path) and not os.path.lexists(self.path)

    @property
    def title(self) -> str:
        """Its name in lists."""
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


def key_of(path: str) -> str:
    """The key of the draft for a memory's file."""
    return ids.digest(path)[:16]


class Drafts:
    """The drafts of memories in a memtui root."""

    def __init__(self, root: str) -> None:
        self.root = root

    def save(self, draft: Draft) -> None:
        """Keep a draft. Raises OSError."""
        autosave.save(self.root, PREFIX + draft.key, {"v": VERSION, **asdict(draft)})

    def drop(self, key: str) -> None:
        """It was saved, or is not wanted. Raises OSError."""
        autosave.drop(self.root, PREFIX + key)

    def of(self, path: str) -> Draft | None:
        """The draft for a memory's file."""
        return self._read(key_of(path))

    def all(self) -> list[Draft]:
        """All drafts, newest first."""
        try:
            names = os.listdir(os.path.dirname(autosave.path(self.root, PREFIX)))
        except OSError:
            return []
        keys = [name[len(PREFIX) : -len(".json")] for name in names if name.startswith(PREFIX)]
        found = [self._read(key) for key in keys]
        return sorted((draft for draft in found if draft is not None), key=lambda draft: -draft.time)

    def offered(self) -> list[Draft]:
        """Those that no memory in the lists leads to: of new memories, and of files that are gone."""
        return [draft for draft in self.all() if not draft.path or draft.orphan]

    def _read(self, key: str) -> Draft | None:
        found = autosave.load(self.root, PREFIX + key)
        if found.pop("v", None) != VERSION or found.get("key") != key:
            return None
        try:
            draft = Draft(**found)  # type: ignore[arg-type]
        except TypeError:
            return None
        tables = all(
            isinstance(t, dict) and all(isinstance(v, str) for v in t.values()) for t in (draft.values, draft.was)
        )
        texts = (draft.path, draft.scope, draft.base, draft.whole)
        good = isinstance(draft.time, int | float) and all(isinstance(text, str) for text in texts)
        return draft if tables and good else None
