"""Reading the memories of all scopes in workers, and only what changed when files do."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from textual.message import Message
from textual.screen import Screen
from textual.worker import Worker, get_current_worker

from memtui.core.base.phrasing import many
from memtui.core.memories import scopes
from memtui.core.memories import status as memory_status
from memtui.core.memories.scopes import Scope
from memtui.core.memories.status import Row, Usage
from memtui.tui.model import autosave, fuzzy
from memtui.tui.screens.memories.rows import Pair
from memtui.tui.services import HowFar, Services

# So often the foot says how far the reading of other projects is.
TOLD_SECONDS = 0.2
Rows = dict[str, list[Row]]


@dataclass
class Read(Message):
    """Memories by scope were read: of all scopes (`whole`), or of those here. `usage`: how often each was delivered;
    `made`: which of them memtui made."""

    found: list[Scope]
    rows: Rows
    usage: Usage
    made: dict[str, tuple[str, float | None]]
    whole: bool


@dataclass
class Counted(Message):
    """The log has grown by deliveries of the memories with these paths; None: all are to be counted anew."""

    paths: set[str] | None


@dataclass
class Arrived(Message):
    """What became of the last deliveries, outcome by id."""

    outcomes: dict[str, str]


class Ended(Message):
    """A worker has ended, however that was."""


def _readable(scope: Scope) -> bool:
    return scope.exists and not scope.problem


def _first(scope: Scope, lines: int) -> list[Row]:
    found = islice(scopes.memories(scope), lines)
    return [Row(each, each.path.removeprefix(scope.directory + "/")) for each in found]


class MemoryReader:
    """What was read: the scopes that were `found`, their memories by label, the last deliveries' outcomes, the paths of
    memories that the person has begun to change (with the time), and what memtui made.

    `partly` are the scopes of which there is but the first page, `loaded` whether all were read. The screen gets the
    messages of the workers, and hands them back to `take`.
    """

    def __init__(self, services: Services, screen: Screen[None]) -> None:
        self.services, self.screen = services, screen
        self.found: list[Scope] = []
        self.rows: Rows = {}
        self.outcomes: dict[str, str] = {}
        self.drafts: dict[str, float] = {}
        self.made: dict[str, tuple[str, float | None]] = {}
        self.partly: set[str] = set()
        self.loaded = False
        self.expected = ""  # the path of the memory to stand on, once it is read
        self._usage: Usage | None = None
        self._worker: Worker[None] | None = None
        self._again = self._later = False

    @property
    def unread(self) -> set[str]:
        """The scopes of which only the first page is read, or nothing."""
        return self.partly | {scope.label for scope in self.found if scope.label not in self.rows}

    def pairs(self, of: Iterable[Scope] | None = None) -> list[Pair]:
        """The memories of some scopes, or all."""
        return [(s, row) for s in (self.found if of is None else of) for row in self.rows.get(s.label, [])]

    def targets(self) -> list[Scope]:
        """The scopes that take memories."""
        return [scope for scope in self.found if scope.writable and not scope.problem]

    def first_page(self, lines: int) -> None:
        """Read so many memories of each scope here, before anything is painted. What is to be said of them comes
        after."""
        self.found = self.services.data.scopes()
        self.rows = {scope.label: _first(scope, lines) if _readable(scope) else [] for scope in self.found}
        self.partly = {label for label, rows in self.rows.items() if len(rows) >= lines}
        self._find_drafts()

    def reload(self) -> None:
        """Read all scopes; what was read stays meanwhile."""
        self._again = self._worker is not None
        if self._worker is None:
            self._worker = self.screen.run_worker(self._read_scopes, group="scopes", thread=True)

    def count_deliveries(self) -> None:
        """Count what was appended to the log; while something is read, after that."""
        self._later = self._worker is not None
        if self._usage is not None and self._worker is None:
            self._worker = self.screen.run_worker(self._count, group="deliveries", thread=True)

    def stop(self) -> bool:
        """Stop the reading of other projects; False if nothing is read. Without the memories that belong here there is
        no list."""
        if self._worker is None or self.partly or self._worker.group != "scopes" or not self._worker.is_running:
            return False
        self._worker.cancel()
        return True

    # what the workers found

    def take(self, message: Read) -> None:
        """Hold what was read."""
        self.found, self._usage, self.made = message.found, message.usage, message.made
        self.rows = message.rows if message.whole else self.rows | message.rows
        self.partly = set()
        self.loaded = self.loaded or message.whole
        self._find_drafts()

    def recount(self, paths: set[str]) -> bool:
        """Tell the memories with these paths how often they were delivered; whether any of them is here."""
        usage = self._usage
        if usage is None:
            return False
        counted = [memory_status.recount(s, self.rows.get(s.label, []), usage, paths) for s in self.found]
        return any(counted)

    def ended(self) -> None:
        """Go on with what had to wait."""
        self._worker = None
        if self._again:
            self.reload()
        elif self._later:
            self.count_deliveries()

    def _find_drafts(self) -> None:
        self.drafts = {each.path: each.time for each in autosave.of_memories(self.services.data.root) if each.path}

    # in workers

    def _tell(self, message: Message) -> bool:
        wanted = not get_current_worker().is_cancelled and self.screen.is_attached
        if wanted:
            self.screen.post_message(message)
        return wanted

    def _count(self) -> None:
        assert self._usage is not None
        try:
            paths = self._usage.follow()
            counted = [self._usage.memories[path] for path in paths or ()]
            records = [each.record for counts in counted for each in counts.newest]
            if self._tell(Counted(paths)):
                self._tell(Arrived(self.services.data.outcomes(records)))
        finally:
            self.screen.post_message(Ended())

    def _read_scopes(self) -> None:
        try:
            self._read_all()
        finally:
            self.screen.post_message(Ended())

    def _read_all(self) -> None:
        from memtui.core.memories import origin

        data = self.services.data
        here = data.scopes()
        made = origin.made(data.root)
        usage = Usage(data.root)
        rows: Rows = {}
        for scope in here:
            rows[scope.label] = memory_status.of_scope(data.root, scope, usage, data.known) if _readable(scope) else []
        others = [scope for scope in data.scopes(every=True) if scope.label not in rows]
        if not self._tell(Read(here + others, dict(rows), usage, made, False)):
            return
        told = time.monotonic()
        for number, scope in enumerate(others):
            if time.monotonic() - told > TOLD_SECONDS:
                told = time.monotonic()
                words = f"reading {number} of {many(len(others), 'other project')}, escape stops"
                if not self._tell(HowFar(words)):
                    return
            rows[scope.label] = memory_status.of_scope(data.root, scope, usage, data.known)
        records = {str(t.record.get("id")): t.record for each in rows.values() for row in each for t in row.newest}
        if self._tell(Read(here + others, rows, usage, made, True)):
            self._tell(Arrived(data.outcomes(list(records.values()))))
        fuzzy.load()
