"""The status of each memory of a scope: its findings, and how often it was delivered and used."""

import itertools
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from memtui.base import clock_hot, ids_hot, visible_hot, word_lists
from memtui.base.finding import Finding, good, note, problem
from memtui.base.findings import REGISTRY
from memtui.client import locate_hot
from memtui.deliver import log_hot
from memtui.deliver.record import BRING_NOTHING, GONE, MEMORY_KINDS, RECALL, USE
from memtui.deliver.statistics import RecallCounter, RecallCounts
from memtui.store import links, own_checks_hot, scopes, trust_hot
from memtui.store.frontmatter import head_hot
from memtui.store.index import index_state
from memtui.store.index.index_state import IndexState, index_of
from memtui.store.memory import LinkTargets, Memory
from memtui.store.scopes import Scope

_TABLES = word_lists.tables(__file__.removesuffix("py") + "txt")
# Only so many of the newest records of the log are counted.
RECORDS_READ = 2000
# Shown instead of deliveries for memories that the client loads.
BY_CLIENT = _TABLES["by client"]
CHANGED = "memories.changed"
# So many of a memory's newest deliveries are kept to be shown.
NEWEST_KEPT = 8
# A finding's letter in lists.
LETTERS = {code: kind.letter for code, kind in REGISTRY.items() if kind.letter}
# Links to no memory of their scope, and to what can be no memory's name.
LINKS = ("memories.link", "memories.odd_link")
NEVER_RECALLED = RecallCounts()
NOT_CHECKED: Mapping[str, object] = {}
# The letters, the worst first.
MEANINGS = _TABLES["letters"]
ORDER = list(MEANINGS)


@dataclass
class MemoryDelivery:
    """A delivery of a memory: the delivery's record in the log, without text and items, and the memory's own item."""

    record: dict[str, object]
    item: dict[str, object]


@dataclass(slots=True)
class Row:
    """A memory, its file, its findings (`flags`), deliveries and uses; `recalls`: what came of recalling it; `check`:
    what its own checks said last, `{}` if it has none; `held`: how each of its rules was kept (rules/counts.py)."""

    memory: Memory
    file: str
    flags: Sequence[Finding] = ()
    deliveries: int = 0
    uses: int = 0
    newest: Sequence[MemoryDelivery] = ()
    recalls: RecallCounts = field(default_factory=lambda: NEVER_RECALLED)
    check: Mapping[str, object] = field(default_factory=lambda: NOT_CHECKED)
    held: Sequence[Any] = ()

    def sum_held(self, count: str) -> int:
        """Add up a count of all its rules: `kept` and `opportunities` since it was written, or `…_before`."""
        return sum(getattr(rule, count) for rule in self.held)

    @property
    def held_share(self) -> float | None:
        """The share of opportunities at which its rules were kept since it was written; None if there was none."""
        return self.sum_held("kept") / count if (count := self.sum_held("opportunities")) else None

    @property
    def used(self) -> int:
        """How often a prompt brought it, or the agent opened or wrote it."""
        return self.recalls.recalled + self.uses

    @property
    def last_delivery(self) -> str | None:
        return str(self.newest[0].record.get("time")) if self.newest else None

    @property
    def letters(self) -> str:
        """The flags as letters, each once."""
        if not self.flags:
            return ""
        own = {LETTERS[flag.code] for flag in self.flags}
        return "".join(letter for letter in ORDER if letter in own)

    def never_delivered(self, scope: Scope) -> bool:
        """Return whether memtui's hooks could have delivered it and never did."""
        return scope.delivered and not self.deliveries


# The orders of a list of memories: what to sort by, the smallest first. Equals are sorted by name.
SORT_KEYS: dict[str, Callable[[Row], object]] = {
    "name": lambda _: 0,
    "type": lambda row: row.memory.type or "~",
    "age": lambda row: -row.memory.changed_at,
    "size": lambda row: -row.memory.size,
    "deliveries": lambda row: -row.deliveries,
    "last": lambda row: -(clock_hot.parse(row.last_delivery) or 0.0),
    "recalled": lambda row: -row.recalls.recalled,
    "used": lambda row: -row.used,
    "held": lambda row: 2.0 if row.held_share is None else row.held_share,  # the worst first
    "flags": lambda row: min(map(ORDER.index, row.letters), default=len(ORDER)),  # the worst first
}


@dataclass
class UsageCounts:
    """How often a memory was delivered and used, with its newest deliveries; `prompts`: those that a prompt brought."""

    deliveries: int = 0
    uses: int = 0
    prompts: list[dict[str, object]] = field(default_factory=list)
    newest: list[MemoryDelivery] = field(default_factory=list)


NOTHING = UsageCounts()


class Usage:
    """Deliveries and uses by path in the newest records of the log. Not thread-safe."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.memories: defaultdict[str, UsageCounts] = defaultdict(UsageCounts)
        self.recalls = RecallCounter()
        self._ends = log_hot.ends(root)
        noted: dict[str, str] = {}
        for _, line in itertools.islice(log_hot.lines(root, self._ends, noted=noted), RECORDS_READ):
            self._add(line, appended=False, noted=noted)

    def follow(self) -> set[str] | None:
        """Count what was appended, and return the paths whose counts changed; None if the log was cut."""
        got = log_hot.appended(self.root, self._ends)
        if got is None:
            return None
        lines, self._ends = got
        return {path for _, line in lines for path in self._add(line, appended=True)}

    def _add(self, line: bytes, *, appended: bool, noted: dict[str, str] | None = None) -> list[str]:
        """Count a line of the log, which is newer than all others if `appended`. Return the paths of its memories."""
        record = log_hot.parse(line, noted) or {}
        items = record.pop("items", None)
        record.pop("text", None)
        seconds = clock_hot.parse(record.get("time")) or 0.0
        paths = []
        for item in items if isinstance(items, list) else []:
            if not isinstance(item, dict) or item.get("left_out") or item.get("reason") == GONE:
                continue
            kind, path = item.get("kind"), item.get("path")
            if not isinstance(path, str) or not (kind in BRING_NOTHING or kind in MEMORY_KINDS):
                continue
            paths.append(path)
            chars = item.get("chars")
            if kind != "index":
                session, action = str(record.get("session_id", "")), str(item.get("action", ""))
                size = chars if isinstance(chars, int) else 0
                self.recalls.add(path, session, str(kind), action, size, seconds, newest=appended)
            counts = self.memories[path]
            if kind in BRING_NOTHING:
                counts.uses += kind == USE
                continue
            counts.deliveries += 1
            if kind == RECALL and record.get("event") == "UserPromptSubmit":
                counts.prompts.insert(0 if appended else len(counts.prompts), record)
            if appended:
                counts.newest = [MemoryDelivery(record, item), *counts.newest[: NEWEST_KEPT - 1]]
            elif len(counts.newest) < NEWEST_KEPT:
                counts.newest.append(MemoryDelivery(record, item))
        return paths

    def recalled(self, path: str) -> RecallCounts:
        """Return what came of recalling the memory at a path."""
        return self.recalls.memories.get(path, NEVER_RECALLED)


def of_memory(scope: Scope, memory: Memory, link_targets: LinkTargets) -> Iterator[Finding]:
    about = {"scope": scope.shown, "memory": memory.stem, "path": memory.path}
    subject = f"memory:{memory.path}"
    if memory.broken:
        code = "memories.leaves" if memory.broken == locate_hot.LEAVES else "memories.broken"
        if head_hot.first_conflict(memory.raw):
            yield problem("memories.conflict", subject, **index_state.sides(memory.raw), **about)
        else:
            yield problem(code, subject, why=memory.broken, **about)
    if not scope.has_index:
        return
    if count := hidden(memory.raw):
        yield problem("memories.hidden", subject, count=count, **about)
    for target in memory.links:
        # One in a directory can be another file, such as `../docs/design.md`.
        if link_targets.of(target, memory.path) is not None or ("/" in target and target.endswith(".md")):
            continue
        name = target.removesuffix(".md")
        link = {"name": name, "link": links.shown(target), "files": [memory.stem]}
        from memtui.store import references  # many modules, for the few memories with a broken link

        yield note(LINKS[0] if references.is_name(name) else LINKS[1], subject, **link, **about)


def hidden(raw: bytes) -> int:
    """Count the invisible characters of a file, except for a byte order mark at its beginning."""
    return 0 if raw.isascii() else _hidden(raw)


@lru_cache(1 << 13)  # called again for every memory whenever a file changes
def _hidden(raw: bytes) -> int:
    text = raw.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    return sum(text.count(char) for char in set(text) if not " " <= char <= "~" and visible_hot.hidden(char))


def not_trusted(root: str, scope: Scope) -> list[str]:
    """List the files of a scope that are not delivered until a person trusts them; none where none needs that."""
    if scope.kind not in {"project", "team", "remote"} or scope.problem or not scope.exists:
        return []
    try:
        status = trust_hot.status(root, scope.directory)
    except OSError:
        return []
    return [*status.new, *status.changed]


def trust_waiting(scope: Scope, files: list[str]) -> Finding:
    about = {"scope": scope.shown, "directory": scope.directory, "files": files}
    return problem("trust.waiting", f"memory:{scope.directory}/{files[0]}", **about)


def of_scope(root: str, scope: Scope, usage: Usage, memories_by_path: dict[str, Memory] | None = None) -> list[Row]:
    """Return a scope's memories with findings and counts. `memories_by_path`: a cache."""
    indexed = IndexState(root, scope, index_of(scope)).flags() if scope.has_index else {}
    waiting = {*not_trusted(root, scope)}
    rows, outcomes = [], own_checks_hot.load(root, scope.directory)
    memories = list(scopes.memories(scope, memories_by_path))
    known_targets = LinkTargets(memories)
    # The log may have a memory's path with symlinks resolved; without records that doesn't matter.
    real = os.path.realpath(scope.directory) if usage.memories else scope.directory
    for memory in memories:
        file = sys.intern(memory.path.removeprefix(scope.directory + "/"))
        row = Row(memory, file)
        flags = [*of_memory(scope, memory, known_targets), *_of_checks(row, scope, outcomes)]
        if file in waiting:
            flags.append(trust_waiting(scope, [file]))
        of_index = indexed.get(file, ())
        by_letter = sorted([*flags, *of_index], key=lambda flag: ORDER.index(LETTERS[flag.code])) if flags else of_index
        row.flags = tuple(by_letter)  # a tuple stays what it is: thousands of rows share one
        _count(row, real, usage)
        rows.append(row)
    return rows


def _of_checks(row: Row, scope: Scope, outcomes: dict[str, object]) -> Iterator[Finding]:
    """Note on a row what the memory's own checks said last, and yield a finding unless they hold."""
    memory, checks = row.memory, row.memory.checks
    if not checks or not scope.has_index:
        return
    outcome = own_checks_hot.row_of(outcomes, row.file, ids_hot.digest(memory.raw))
    row.check = {"state": own_checks_hot.NOT_MADE, "check": checks[0], "why": "", **outcome}
    subject, about = f"memory:{memory.path}", {**row.check, "scope": scope.shown, "memory": memory.stem}
    if row.check["state"] == own_checks_hot.FAILS:
        yield problem("memories.verify", subject, **about)
    elif row.check["state"] == own_checks_hot.NOT_MADE:
        yield note("memories.unchecked", subject, **about)


def recount(scope: Scope, rows: Iterable[Row], usage: Usage, paths: set[str]) -> list[Row]:
    """Update the counts of those rows of a scope whose paths `Usage.follow` returned, and return these rows."""
    real = os.path.realpath(scope.directory)
    tops = {scope.directory + "/", real + "/"}
    files = {path.removeprefix(top) for path in paths for top in tops if path.startswith(top)}
    changed = [row for row in rows if row.file in files] if files else []
    for row in changed:
        _count(row, real, usage)
    return changed


def _count(row: Row, real: str, usage: Usage) -> None:
    if any(flag.code == CHANGED for flag in row.flags):
        row.flags = tuple(flag for flag in row.flags if flag.code != CHANGED)
    # The log has the path that the client or the hook used: with symlinks resolved or not.
    paths = {row.memory.path, f"{real}/{row.file}"}
    counts = [usage.memories[path] for path in paths if path in usage.memories]
    row.deliveries, row.uses = sum(each.deliveries for each in counts), sum(each.uses for each in counts)
    row.newest = tuple(delivery for each in counts for delivery in each.newest)
    recalls = [usage.recalls.memories[path] for path in paths if path in usage.recalls.memories]
    row.recalls = RecallCounts() if recalls else NEVER_RECALLED
    for recall in recalls:
        row.recalls.add(recall)
    if row.newest and _changed_since(row.memory, row.newest[0]):
        row.flags = (*row.flags, good(CHANGED, f"memory:{row.memory.path}", file=row.file))


def _changed_since(memory: Memory, delivery: MemoryDelivery) -> bool:
    """Return whether a memory changed after a delivery: by the delivered hash, or the file's time if there is none."""
    delivered = delivery.item.get("hash")
    if delivery.item.get("kind") == "index" and isinstance(delivered, str):
        return ids_hot.digest(memory.raw)[: len(delivered)] != delivered
    when = clock_hot.parse(delivery.record.get("time"))
    return when is not None and memory.mtime > when
