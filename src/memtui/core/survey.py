"""What is to be said of each memory of a scope: flags on its health, and how often it was delivered and used."""

import os
from dataclasses import dataclass, field

from memtui.core import delivery, fs, index_budget, memory_index, scopes, trust
from memtui.core.memory import Memory
from memtui.core.scopes import Scope

# Counting reads the log from its end; what is older than this many records says little.
RECORDS_READ = 2000


@dataclass
class Row:
    """A memory, its file relative to the scope's directory, and what is to be said of it."""

    memory: Memory
    file: str
    flags: list[str] = field(default_factory=list)
    deliveries: int = 0
    last_delivery: str | None = None
    uses: int = 0


class Usage:
    """Deliveries and uses by path of the memory, from the newest records of the log."""

    def __init__(self, root: str) -> None:
        self.deliveries: dict[str, int] = {}
        self.last: dict[str, str] = {}
        self.uses: dict[str, int] = {}
        for number, record in enumerate(delivery.newest_first(root)):
            if number >= RECORDS_READ:
                break
            items = record.get("items")
            for item in items if isinstance(items, list) else []:
                if isinstance(item, dict) and item.get("kind") in {"index", "memory", "use"}:
                    self._count(item, str(record.get("time")))

    def _count(self, item: "dict[str, object]", time: str) -> None:
        path = item.get("path")
        if not isinstance(path, str) or item.get("left_out") or item.get("reason") == "gone in this session":
            return
        if item["kind"] == "use":
            self.uses[path] = self.uses.get(path, 0) + 1
            return
        self.deliveries[path] = self.deliveries.get(path, 0) + 1
        self.last.setdefault(path, time)


def index_of(scope: Scope) -> "memory_index.Index | None":
    """The scope's MEMORY.md, None where there is none or it can't be read."""
    try:
        return memory_index.parse_index(fs.read_bytes(scope.index_path))
    except OSError:
        return None


def survey(root: str, scope: Scope, counts: Usage) -> "list[Row]":
    """The memories of a scope with everything there is to say of them."""
    index = index_of(scope) if scope.kind != "instructions" else None
    below: set[str] = set()
    absent: set[str] = set()
    if index is not None:
        found = index_budget.budget(index.raw, agent=scope.kind == "agent")
        below = {_normal(entry.target) for entry in found.below}
        absent = set(memory_index.missing(index, [file for file, problem in scopes.files(scope) if not problem]))
    trusted = trust.trusted_names(root, scope.directory) if scope.kind == "project" and scope.exists else None
    rows = []
    memories = list(scopes.memories(scope))
    names = {name for each in memories for name in (each.name, each.stem)}
    real = os.path.realpath(scope.directory)
    for each in memories:
        file = each.path.removeprefix(scope.directory + "/")
        row = Row(each, file)
        if each.broken:
            row.flags.append(f"broken: {each.broken}")
        if scope.kind != "instructions":
            if trusted is not None and file not in trusted and not each.broken:
                row.flags.append("not trusted, not delivered: memtui trust")
            if index is not None and file in absent:
                row.flags.append("no line in MEMORY.md")
            elif _normal(file) in below:
                row.flags.append("below the cut of MEMORY.md: the client does not load its line")
            row.flags += [f"broken link [[{name}]]" for name in each.links if name not in names]
        # A path in the log is the one that the client or the hook used: with or without symlinks.
        for path in {each.path, f"{real}/{file}"}:
            row.deliveries += counts.deliveries.get(path, 0)
            row.uses += counts.uses.get(path, 0)
            row.last_delivery = row.last_delivery or counts.last.get(path)
        rows.append(row)
    return rows


def _normal(target: str) -> str:
    return os.path.normpath(target)
