"""The status of each memory of a scope: findings about it, and how often it was delivered and used."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from memtui.core.base import clock, fs, ids, visible
from memtui.core.base.finding import OK, Finding, good, note, problem
from memtui.core.memories import scopes
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.core.places import locate, trust

if TYPE_CHECKING:
    from memtui.core.deliveries.statistics import Statistics
    from memtui.core.memories import index as memory_index

# Counting reads the log from its end; what is older than this many records says little.
RECORDS_READ = 2000

# What stands in the place of deliveries where there can be none.
BY_CLIENT = "by the client itself, which memtui leaves it to"
CHANGED = "memories.changed"

# How many of a memory's newest deliveries are kept to be shown.
TOLD = 8
# The letter of a finding in lists, the worst first.
LETTERS = {
    "memories.broken": "X",
    "memories.leaves": "X",
    "memories.hidden": "H",
    "trust.waiting": "U",
    "memories.cut": "B",
    "memories.no_line": "N",
    "memories.link": "L",
    CHANGED: "C",
}
ORDER = list(dict.fromkeys(LETTERS.values()))
MEANINGS = {
    "X": "the frontmatter is broken",
    "H": "it holds characters that nobody can see",
    "U": "not trusted, so not delivered",
    "B": "below the cut of MEMORY.md",
    "N": "no line in MEMORY.md",
    "L": "a link leads nowhere",
    "C": "changed since it was delivered",
}


@dataclass
class Told:
    """A delivery that brought a memory: its record of the log without text and items, and the item's own fields."""

    record: "dict[str, object]"
    item: "dict[str, object]"


@dataclass
class Row:
    """A memory, its file relative to the scope's directory, and what is to be said of it."""

    memory: Memory
    file: str
    flags: list[Finding] = field(default_factory=list)
    deliveries: int = 0
    last_delivery: str | None = None
    uses: int = 0
    told: list[Told] = field(default_factory=list)

    @property
    def letters(self) -> str:
        """The flags as letters, each once."""
        if not self.flags:
            return ""
        found = {LETTERS[flag.code] for flag in self.flags}
        return "".join(found) if len(found) == 1 else "".join(each for each in ORDER if each in found)

    @property
    def severity(self) -> int:
        """Where the worst flag stands among all of them, the worst first."""
        return min((ORDER.index(letter) for letter in self.letters), default=len(ORDER))

    @property
    def wanting(self) -> bool:
        """Whether something is to be done about it; that it changed since it was delivered is only to be known."""
        return any(flag.level != OK for flag in self.flags)

    def never_delivered(self, scope: Scope) -> bool:
        """Whether memtui's hooks could have delivered it and never did."""
        return scope.delivered and not self.deliveries


class Usage:
    """Deliveries and uses by path of the memory, from the newest records of the log. Used by one thread at a time."""

    def __init__(self, root: str) -> None:
        from memtui.core.deliveries import log as delivery_log

        self.root = root
        self.deliveries: dict[str, int] = {}
        self.last: dict[str, str] = {}
        self.uses: dict[str, int] = {}
        self.told: dict[str, list[Told]] = {}
        self._ends = delivery_log.ends(root)
        for number, (_, line) in enumerate(delivery_log.lines(root, self._ends)):
            if number >= RECORDS_READ:
                break
            self._line(line, newest=False)

    def follow(self) -> "set[str] | None":
        """Count what was appended since; the paths that it concerns. None: the log was cut, so all is to be counted
        anew."""
        from memtui.core.deliveries import log as delivery_log

        got = delivery_log.appended(self.root, self._ends)
        if got is None:
            return None
        lines, self._ends = got
        return {path for _, line in lines for path in self._line(line, newest=True)}

    def _line(self, line: bytes, *, newest: bool) -> "list[str]":
        from memtui.core.deliveries import log as delivery_log

        record = delivery_log.parse(line) or {}
        items = record.pop("items", None)
        record.pop("text", None)
        found = []
        for item in items if isinstance(items, list) else []:
            if isinstance(item, dict) and item.get("kind") in {"index", "memory", "use"}:
                found += self._count(item, record, newest)
        return found

    def _count(self, item: "dict[str, object]", record: "dict[str, object]", newest: bool) -> "list[str]":
        path = item.get("path")
        if not isinstance(path, str) or item.get("left_out") or item.get("reason") == "gone in this session":
            return []
        if item["kind"] == "use":
            self.uses[path] = self.uses.get(path, 0) + 1
            return [path]
        self.deliveries[path] = self.deliveries.get(path, 0) + 1
        if newest or path not in self.last:
            self.last[path] = str(record.get("time"))
        told = self.told.setdefault(path, [])
        if newest:
            told.insert(0, Told(record, item))
            del told[TOLD:]
        elif len(told) < TOLD:
            told.append(Told(record, item))
        return [path]


def index_of(scope: Scope) -> "memory_index.Index | None":
    """The scope's MEMORY.md, None where there is none or it can't be read."""
    from memtui.core.memories import index as memory_index

    try:
        return memory_index.parse_index(fs.read_bytes(scope.index_path))
    except OSError:
        return None


def names(memories: Iterable[Memory]) -> set[str]:
    """What `[[links]]` can name."""
    return {name for each in memories for name in (each.name, each.stem)}


def of_memory(scope: Scope, found: Memory, known: "set[str]") -> "Iterator[Finding]":
    """What is wrong with a memory by itself: broken, with text that nobody sees, or with links to none of the
    `known` names."""
    about = {"scope": scope.label, "memory": found.stem, "path": found.path}
    subject = f"memory:{found.path}"
    if found.broken:
        code = "memories.leaves" if found.broken == locate.LEAVES else "memories.broken"
        yield problem(code, subject, why=found.broken, **about)
    if scope.kind == "instructions":
        return
    if count := hidden(found.raw):
        yield problem("memories.hidden", subject, count=count, **about)
    for name in found.links:
        if name not in known:
            yield note("memories.link", subject, name=name, **about)


@lru_cache(1 << 13)  # looked at again whenever any file changes
def hidden(raw: bytes) -> int:
    """How many characters of a file draw nothing; a byte order mark at its begin is none."""
    if raw.isascii():
        return 0
    text = raw.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    return sum(text.count(char) for char in set(text) if not " " <= char <= "~" and visible.hidden(char))


def of_scope(root: str, scope: Scope, counts: Usage, known: "dict[str, Memory] | None" = None) -> "list[Row]":
    """The memories of a scope with everything there is to say of them. `known` holds memories by path that were read
    before: those whose time and size are the same are not read again, and what is read goes in."""
    from memtui.core.memories import index as memory_index

    index = index_of(scope) if scope.kind != "instructions" else None
    below: set[str] = set()
    absent: set[str] = set()
    cut = 0
    if index is not None:
        found = memory_index.budget(index.raw, agent=scope.kind == "agent")
        below, cut = {_normal(entry.target) for entry in found.below}, found.cut_line or 0
        absent = set(memory_index.missing(index, scopes.indexed(root, scope)))
    trusted = trust.trusted_names(root, scope.directory) if scope.kind == "project" and scope.exists else None
    rows = []
    memories = list(scopes.memories(scope, known))
    known_names = names(memories)
    # Where nothing was told, no path in the log is another name of one here.
    real = os.path.realpath(scope.directory) if counts.deliveries or counts.uses else scope.directory
    for each in memories:
        file = each.path.removeprefix(scope.directory + "/")
        row = Row(each, file, list(of_memory(scope, each, known_names)))
        if scope.kind != "instructions":
            here = f"index:{scope.label}"
            if trusted is not None and file not in trusted and not each.broken:
                row.flags.append(
                    problem("trust.waiting", f"memory:{each.path}", directory=scope.directory, files=[file])
                )
            if index is not None and file in absent:
                row.flags.append(problem("memories.no_line", here, scope=scope.label, files=[file]))
            elif _normal(file) in below:
                row.flags.append(problem("memories.cut", here, scope=scope.label, line=cut, below=len(below)))
            row.flags.sort(key=lambda flag: ORDER.index(LETTERS[flag.code]))
        _tell(row, real, counts)
        rows.append(row)
    return rows


def never_delivered(
    root: str,
    found: Iterable[Scope],
    counted: "Statistics",
    usage: Usage,
    known: "dict[str, Memory] | None" = None,
) -> list[Row]:
    """The memories of some scopes that memtui could have delivered and no delivery counted brought, by name. Reads all
    of them; `usage` and `known` as of `of_scope`."""
    paths = {path for path, each in counted.memories.items() if each.deliveries}
    names = {path.rpartition("/")[2] for path in paths}
    rows = [
        row
        for scope in found
        if scope.delivered and scope.exists and not scope.problem
        for row in of_scope(root, scope, usage, known)
    ]
    # A path in the log may go through a symlink: a name that was never told at all is sure.
    never = [r for r in rows if r.memory.path not in paths and not (r.deliveries and r.file in names)]
    return sorted(never, key=lambda row: (row.memory.name, row.memory.path))


def recount(scope: Scope, rows: Iterable[Row], counts: Usage, paths: "set[str]") -> "list[Row]":
    """Tell rows of a scope anew what became of them, where `Usage.follow` named their paths; which those are."""
    real = os.path.realpath(scope.directory)
    tops = {scope.directory + "/", real + "/"}
    files = {path.removeprefix(top) for path in paths for top in tops if path.startswith(top)}
    found = [row for row in rows if row.file in files] if files else []
    for row in found:
        _tell(row, real, counts)
    return found


def _tell(row: Row, real: str, counts: Usage) -> None:
    row.deliveries, row.uses, row.last_delivery, row.told = 0, 0, None, []
    row.flags = [flag for flag in row.flags if flag.code != CHANGED]
    # A path in the log is the one that the client or the hook used: with or without symlinks.
    for path in {row.memory.path, f"{real}/{row.file}"}:
        row.deliveries += counts.deliveries.get(path, 0)
        row.uses += counts.uses.get(path, 0)
        row.last_delivery = row.last_delivery or counts.last.get(path)
        row.told += counts.told.get(path, [])
    if row.told and _changed_since(row.memory, row.told[0]):
        row.flags.append(good(CHANGED, f"memory:{row.memory.path}", file=row.file))


def _changed_since(found: Memory, told: Told) -> bool:
    """Whether the agent was told of other content than there is now, or nobody knows of which, before this change."""
    known = told.item.get("hash")
    if told.item.get("kind") == "index" and isinstance(known, str):
        return ids.digest(found.raw)[: len(known)] != known
    when = clock.parse(told.record.get("time"))
    return when is not None and found.mtime > when


def _normal(target: str) -> str:
    return os.path.normpath(target)
