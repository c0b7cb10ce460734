"""Reading the memories of all scopes in a worker, and only what changed when files do."""

import gc
import time
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING

from textual import work
from textual.worker import get_current_worker

from memtui.core.base.phrasing import many
from memtui.core.memories import scopes
from memtui.core.memories import status as memory_status
from memtui.core.memories.scopes import Scope
from memtui.core.memories.status import Row
from memtui.tui.model import fuzzy
from memtui.tui.model.memory_autosave import Drafts
from memtui.tui.screens.memories import rows as memory_rows
from memtui.tui.screens.memories.pane import Pane

# So often the foot says how far the reading of other projects is.
TOLD_SECONDS = 0.2


def readable(scope: Scope) -> bool:
    """Whether there is something to read, and it may be read."""
    return scope.exists and not scope.problem


def _first(scope: Scope, lines: int) -> list[Row]:
    found = islice(scopes.memories(scope), lines)
    return [Row(each, each.path.removeprefix(scope.directory + "/")) for each in found]


class Surveyed(Pane):
    """The part of the screen that reads."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Scope] = []
        self.rows: dict[str, list[Row]] = {}
        self._wanted = ""
        self._partly: set[str] = set()
        self._loaded = self._reading = self._again = False
        self._counts: memory_status.Usage | None = None
        self._counting = self._later = False

    if TYPE_CHECKING:

        def plant(self) -> None: ...
        def sift(self) -> None: ...

    def first_page(self) -> None:
        """Read a page of memories, before anything is painted: they stand there with the first picture. What is to be
        said of them, beside them and of their index comes after."""
        here = self.main.data.scopes()
        lines = self.app.size.height
        first = {scope.label: _first(scope, lines) if readable(scope) else [] for scope in here}
        self._partly = {label for label, rows in first.items() if len(rows) >= lines}
        self.begun = bool(self._partly)
        self._show(here, first, False)

    @property
    def unread(self) -> set[str]:
        """The scopes of which only the first page is read, or nothing."""
        return self._partly | {scope.label for scope in self.found if scope.label not in self.rows}

    def reload(self) -> None:
        """Read all scopes in a worker; what was read stays on the screen meanwhile."""
        self._again = self._reading
        if self.is_mounted and not self._reading:
            self._reading = True
            self._survey()

    def follow(self, parts: frozenset[str] | None) -> None:
        """As told of every screen; of a log that grew only what was appended is read, for a receipt nothing."""
        if parts is None or parts & (self.reads - {"log"}):
            super().follow(parts)
        elif "log" in parts:
            self._count_deliveries()
        elif "receipts" in parts:
            self._show_outcomes(self.main.data.outcomes([]))

    def near(self) -> list[str]:
        """The memories on the screen."""
        return [row.memory.path for _, row in self.table.on_screen()] if self.query("#list") else []

    def _count_deliveries(self) -> None:
        """Count what was appended to the log; while something is read, after that."""
        self._later = self._reading or self._counting
        if self._counts is not None and not self._later:
            self._counting = True
            self._count(self._counts)

    @work(thread=True, group="deliveries")
    def _count(self, counts: memory_status.Usage) -> None:
        try:
            paths = counts.follow()
            told = [told.record for path in paths or () for told in counts.told.get(path, [])]
            outcomes = self.main.data.outcomes(told)
        finally:
            self._counting = False
        if self.is_attached:
            self.app.call_from_thread(self._show_deliveries, counts, paths, outcomes)

    def _show_deliveries(self, counts: memory_status.Usage, paths: set[str] | None, outcomes: dict[str, str]) -> None:
        if paths is None:
            self.reload()
            return
        changed = [memory_status.recount(scope, self.rows.get(scope.label, []), counts, paths) for scope in self.found]
        if any(changed) and self.query("#list") and (self.never or self.sort in memory_rows.BY_DELIVERIES):
            self.sift()
        self._show_outcomes(outcomes)
        if self._later:
            self._count_deliveries()

    @work(thread=True, group="survey")
    def _survey(self) -> None:
        try:
            self._read_all()
        finally:
            self._reading = False
        if (self._again or self._later) and self.is_attached:
            self.app.call_from_thread(self.reload if self._again else self._count_deliveries)

    def _read_all(self) -> None:
        worker = get_current_worker()
        data = self.main.data

        def show(call: Callable[..., None], *given: object) -> bool:
            if not worker.is_cancelled and self.is_attached:
                self.app.call_from_thread(call, *given)
            return not worker.is_cancelled and self.is_attached

        from memtui.core.memories import origin

        here = data.scopes()
        self.made = origin.made(data.root)
        counts = self._counts = memory_status.Usage(data.root)
        rows: dict[str, list[Row]] = {}
        for scope in here:
            rows[scope.label] = memory_status.survey(data.root, scope, counts, data.known) if readable(scope) else []
        others = [scope for scope in data.scopes(every=True) if scope.label not in rows]
        self.begun, self._partly = False, set()
        if not show(self._show, here + others, self.rows | rows, self._loaded):
            return
        told = time.monotonic()
        for number, scope in enumerate(others):
            if time.monotonic() - told > TOLD_SECONDS:
                told = time.monotonic()
                if not show(self.tell, f"reading {number} of {many(len(others), 'other project')}, escape stops"):
                    return
            rows[scope.label] = memory_status.survey(data.root, scope, counts, data.known)
        records = {str(t.record.get("id")): t.record for each in rows.values() for row in each for t in row.told}
        if show(self._show, here + others, rows, True):
            show(self._show_outcomes, data.outcomes(list(records.values())))
        fuzzy.load()

    def _show(self, found: list[Scope], rows: dict[str, list[Row]], whole: bool) -> None:
        if not self.query("#list"):
            return  # on the way out
        self.found, self.rows = found, rows
        self._loaded = self._loaded or whole
        if whole:
            gc.freeze()  # else each collection goes through thousands of memories, and a key waits for it
        self.forget()
        if self._loaded:
            self.table.marks &= {row.memory.path for each in rows.values() for row in each}
        self.drafts = {draft.path: draft.time for draft in Drafts(self.main.data.root).all() if draft.path}
        self.plant()
        if self._wanted:
            self.go_to(self._wanted)

    def _show_outcomes(self, outcomes: dict[str, str]) -> None:
        if not self.query("#list"):
            return  # on the way out
        self.outcomes = dict(outcomes)
        self.table.redraw()
        self.show_detail()
