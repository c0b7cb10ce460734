"""Read the memories of all scopes in workers; after a change of files, read only what changed."""

import gc
import os
import time
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from textual.worker import Worker, get_current_worker

from memtui.base.phrasing_hot import many
from memtui.deliver.record import Record
from memtui.store import scopes
from memtui.store import status as memory_status
from memtui.store.index.index_state import IndexState, index_of
from memtui.store.scopes import Scope
from memtui.store.status import Row, Usage
from memtui.tui.model import autosave
from memtui.tui.services import Services
from memtui.views import query
from memtui.views.memories import scope_name

if TYPE_CHECKING:
    from memtui.rules.counts import Held

PROGRESS_SECONDS = 0.2  # how often progress is shown while other projects are read
Pair = tuple[Scope, Row]
Rows = dict[str, list[Row]]
HeldByPath = dict[str, "list[Held]"]


def _readable(scope: Scope) -> bool:
    return scope.exists and not scope.problem


class MemoryReader:
    def __init__(self, services: Services, screen: Any) -> None:
        self.services, self.screen = services, screen
        self.scopes: list[Scope] = []
        self.rows: Rows = {}  # by label of the scope
        self._pairs: dict[str, tuple[list[Row], list[Pair]]] = {}  # with the rows that they are of
        self.outcomes: dict[str, str] = {}  # of the last deliveries, by id
        self.autosaves: dict[str, float] = {}  # their times by path
        self.creations: dict[str, tuple[str, float | None]] = {}  # the memories that memtui made
        self.indexes: dict[str, IndexState] = {}  # of each MEMORY.md, by label
        self.held: HeldByPath = {}  # how the rules of memories were kept
        self.partly: set[str] = set()  # the labels of scopes with only the first page read
        self.loaded = False
        self.expected = ""  # the path of the memory that the cursor goes to, once it is read
        self._missing: set[str] = set()  # the paths of memories that were removed while others are read
        self._usage: Usage | None = None
        self._worker: Worker[None] | None = None
        self._again = self._later = False

    @property
    def unread(self) -> set[str]:
        return self.partly | {scope.label for scope in self.scopes if scope.label not in self.rows}

    @property
    def targets(self) -> list[Scope]:
        return [scope for scope in self.scopes if (scope.writable or scope.kind == "remote") and not scope.problem]

    def pairs(self, of: Iterable[Scope] | None = None) -> list[Pair]:
        """Return the memories of some scopes, None for all."""
        return [pair for scope in (self.scopes if of is None else of) for pair in self._pairs_of(scope)]

    def _pairs_of(self, scope: Scope) -> list[Pair]:
        rows = self.rows.get(scope.label, [])
        before, pairs = self._pairs.get(scope.label, ([], []))
        if before is not rows or (pairs and pairs[0][0] is not scope):
            pairs = [(scope, row) for row in rows]
            self._pairs[scope.label] = rows, pairs
        return pairs

    def name_of(self, scope: Scope) -> str:
        return scope_name(scope, self.services.data.facts.project)

    def choices(self) -> dict[str, list[str]]:
        kinds = (row.memory.type for rows in self.rows.values() for row in rows)
        return query.choices(self.scopes, kinds, self.services.data.facts.project, self.services.data.root)

    def first_page(self, lines: int) -> None:
        """Read the first `lines` memories of each scope of this project, before the first paint."""
        self.scopes = self.services.data.library()
        for scope in self.scopes:
            memories = islice(scopes.memories(scope), lines) if _readable(scope) else ()
            self.rows[scope.label] = [Row(each, each.path.removeprefix(scope.directory + "/")) for each in memories]
        self.partly = {label for label, rows in self.rows.items() if len(rows) >= lines}
        self._find_autosaves()

    def drop_missing(self, changed: Iterable[str]) -> None:
        """Take memories off the list whose files are gone by a change of ours, before all is read again."""
        if missing := {path for path in changed if not os.path.lexists(path)}:
            self._missing |= missing
            self.rows = self._without_missing(self.rows)
            self.screen.show_memories()

    def _without_missing(self, rows: Rows) -> Rows:
        missing = {path for path in self._missing if not os.path.lexists(path)}
        return {label: [row for row in own if row.memory.path not in missing] for label, own in rows.items()}

    def reload(self) -> None:
        """Read all scopes in a worker; what was read before stays until then."""
        self._again = self._worker is not None
        if self._worker is None:
            self._missing = set()
            self._worker = self._run(self._read, "scopes")

    def count_deliveries(self) -> None:
        """Count the deliveries appended to the log, after the reading that is running, if any."""
        self._later = self._worker is not None
        if self._usage is not None and self._worker is None:
            usage = self._usage
            self._worker = self._run(lambda: self._count(usage), "deliveries")

    def stop(self) -> bool:
        """Stop reading other projects; return False if none are being read. This project is always read to the end."""
        if self._worker is None or self.partly or self._worker.group != "scopes" or not self._worker.is_running:
            return False
        self._worker.cancel()
        return True

    def set_outcomes(self, outcomes: dict[str, str]) -> None:
        if outcomes != self.outcomes:
            self.outcomes = outcomes
            self.screen.show_outcomes()

    # after the workers

    def _take(self, scopes: list[Scope], rows: Rows, usage: Usage, *, whole: bool) -> None:
        """Keep what was read of all scopes (`whole`), or of those of this project."""
        self.scopes, self._usage, self.partly = scopes, usage, set()
        rows = self._without_missing(rows) if self._missing else rows
        self.rows = rows if whole else self.rows | rows
        self.loaded = self.loaded or whole
        self._find_autosaves()
        if whole:
            gc.freeze()  # else each garbage collection visits thousands of memories, and a key waits for it
        self.screen.show_memories()

    def _hold(self, held: HeldByPath) -> None:
        self.held = held
        for row in chain.from_iterable(self.rows.values()):
            row.held = held.get(row.memory.path, ())
        self.screen.show_held()

    def _recount(self, usage: Usage, paths: set[str] | None) -> None:
        """Count the deliveries of the memories with these paths again; None: of all."""
        if paths is None:
            self.reload()
            return
        counted = [memory_status.recount(s, self.rows.get(s.label, []), usage, paths) for s in self.scopes]
        if any(counted):
            self.screen.show_counts()

    def _end(self) -> None:
        self._worker = None
        if self._again:
            self.reload()
        elif self._later:
            self.count_deliveries()

    def _find_autosaves(self) -> None:
        self.autosaves = {each.path: each.time for each in autosave.of_memories(self.services.data.root) if each.path}

    # in workers

    def _run(self, work: Callable[[], None], group: str) -> Worker[None]:
        def run() -> None:
            try:
                work()
            finally:
                self.screen.call_later(self._end)

        worker: Worker[None] = self.screen.run_worker(run, group=group, thread=True)
        return worker

    def _post(self, show: Callable[[], object]) -> bool:
        goes_on = not get_current_worker().is_cancelled and self.screen.is_attached
        if goes_on:
            self.screen.call_later(show)
        return goes_on

    def _post_outcomes(self, records: list[Record]) -> None:
        outcomes = self.services.data.outcomes(records)
        self._post(lambda: self.set_outcomes(outcomes))

    def _count(self, usage: Usage) -> None:
        paths = usage.follow()
        records = [memory_delivery.record for path in paths or () for memory_delivery in usage.memories[path].newest]
        if self._post(lambda: self._recount(usage, paths)):
            self._post_outcomes(records)
            self._post_held()

    def _post_held(self) -> None:
        from memtui.rules import counts

        held_by_path = counts.held_by_path(self.services.data.root)
        self._post(lambda: self._hold(held_by_path))

    def _rows_of(self, scope: Scope, usage: Usage) -> list[Row]:
        data = self.services.data
        if scope.has_index and _readable(scope):
            self.indexes[scope.label] = IndexState(data.root, scope, index_of(scope))
        rows = memory_status.of_scope(data.root, scope, usage, data.known)
        for row in rows:
            row.held = self.held.get(row.memory.path, ())
        return rows

    def _read(self) -> None:
        from memtui.store.versions import writers

        data = self.services.data
        here, usage = data.library(), Usage(data.root)
        self.creations = writers.creations(data.root)
        own = {scope.label: self._rows_of(scope, usage) if _readable(scope) else [] for scope in here}
        others = [scope for scope in data.scopes(every=True) if scope.label not in own]
        if others and not self._post(lambda: self._take(here + others, own, usage, whole=False)):
            return
        rows, last_paint = dict(own), time.monotonic()
        for number, scope in enumerate(others):
            if time.monotonic() - last_paint > PROGRESS_SECONDS:
                last_paint = time.monotonic()
                words = f"reading {number} of {many(len(others), 'other project')}, escape stops"
                if not self._post(partial(self.screen.frame.tell, words)):
                    return
            rows[scope.label] = self._rows_of(scope, usage)
        if self._post(lambda: self._take(here + others, rows, usage, whole=True)):
            deliveries = (delivery for of_scope in rows.values() for row in of_scope for delivery in row.newest)
            records = {str(delivery.record.get("id")): delivery.record for delivery in deliveries}
            self._post_outcomes([*records.values()])
            self._post_held()
