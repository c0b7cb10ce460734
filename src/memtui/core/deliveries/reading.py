"""The delivery log as the doors read it: the deliveries that match a filter, newest first, and those that come.

A log of any length opens at once: it is read backwards a page at a time. A screen holds a short row a delivery, its
text left in the log until it is looked at, and no more than `KEPT` of them.
"""

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from memtui.core.client import transcript
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries import receipts
from memtui.core.deliveries.filter import Filter
from memtui.core.deliveries.record import Contents, Delivery, Record

if TYPE_CHECKING:
    from memtui.core.deliveries.log import Place

PAGE = 200
KEPT = 20_000
VIEWS = 64
# A transcript that is not there yet may still come.
YOUNG_SECONDS = 300.0
# The fields of a record that its receipt is looked up by.
PROOF = ("id", "time", "event", "session_id", "transcript", "agent_id", "tool_use_id", "recovered")


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """A delivery, or a use of a memory, without its text. `files` are the paths of its items; `record` holds what its
    receipt is looked up by."""

    id: str
    place: "Place | None"
    time: float
    event: str
    session: str
    where: str
    contents: Contents
    files: tuple[str, ...]
    chars: int
    ms: float | None
    record: Record

    @classmethod
    def of(cls, found: Delivery) -> "DeliveryRow":
        """The row of a delivery."""
        return cls(
            found.id,
            found.place,
            found.time,
            found.event,
            found.session,
            found.where,
            found.contents,
            tuple(sys.intern(item.path) for item in found.items if item.path),
            found.chars,
            found.ms,
            {key: found.record[key] for key in PROOF if key in found.record} | {"chars": found.chars},
        )

    @property
    def injected(self) -> bool:
        """Whether anything was put before the model."""
        return self.chars > 0


def read(row: DeliveryRow) -> Delivery | None:
    """The whole delivery of a row, from the log; None where it is gone."""
    record = delivery_log.read(row.place) if row.place else None
    return None if record is None else Delivery.of(record, row.place)


class Receipts:
    """What became of deliveries: looked up once, again while it may still change. Thread-safe.

    `finder`: of who asks for many in one run, in which no session moves."""

    def __init__(
        self, env: dict[str, str], now: Callable[[], float], finder: "transcript.Finder | None" = None
    ) -> None:
        self.env = env
        self.now = now
        self.known: dict[str, str] = {}
        self._finder = finder
        self._open: dict[str, DeliveryRow | Delivery] = {}
        self._doubted: set[str] = set()
        self._views: dict[str, receipts.TranscriptView] = {}
        self._lock = threading.Lock()

    def open(self, row: DeliveryRow | Delivery) -> bool:
        """Whether an outcome is not known for good."""
        found = self.known.get(row.id)
        if found is None or found == receipts.WAITING or row.id in self._doubted:
            return True
        return found == receipts.UNKNOWN and self.now() - row.time < YOUNG_SECONDS

    def look(self, rows: Iterable[DeliveryRow | Delivery]) -> bool:
        """Look up those that are open; whether anything is told differently now."""
        with self._lock:
            asked = [row for row in rows if self.open(row)]
            records = [row.record for row in asked]
            found = receipts.outcomes(records, self.env, self.now(), self._views, self._finder)
            changed = any(self.known.get(name) != outcome for name, outcome in found.items())
            self.known.update(found)
            for row in asked:
                self._doubted.discard(row.id)
                if self.open(row):
                    self._open[row.id] = row
                else:
                    self._open.pop(row.id, None)
            while len(self._views) > VIEWS:
                del self._views[next(iter(self._views))]
            return changed

    def look_again(self) -> bool:
        """Look up all that were asked for and are open; whether anything is told differently now."""
        return bool(self._open) and self.look(list(self._open.values()))

    def forget(self) -> None:
        """Doubt what could not be told: it is looked up once more, when it is asked for."""
        self._doubted = {name for name, outcome in self.known.items() if outcome == receipts.UNKNOWN}

    def of(self, row: DeliveryRow | Delivery) -> str:
        """The outcome of one, looked up if it is open."""
        self.look([row])
        return self.known.get(row.id, receipts.UNKNOWN)


class Reading:
    """The deliveries that match a filter, newest first, as far as they have been read. Used by one thread at a time.

    With `most` only so many bytes of the newest log are looked at, and with `looked` only so many deliveries whose
    receipt the filter needs; `cut` says that there was more. `skipped` counts the lines that could not be read, without
    `follow` also one that is not finished.
    """

    def __init__(
        self, root: str, wanted: Filter, proofs: Receipts, *, most: int = 0, looked: int = 0, follow: bool = True
    ) -> None:
        self.root = root
        self.wanted = wanted
        self.proofs = proofs
        self.rows: list[DeliveryRow] = []
        self.done = self.cut = False
        self.skipped = 0
        self._most, self._looked = most, looked
        self._bytes = self._proved = 0
        # What was read lies between the two: below it is what is older, behind it what is newer.
        self._ends = delivery_log.ends(root) if follow else delivery_log.sizes(root)
        self._below = self._ends
        self._lock = threading.Lock()

    @property
    def full(self) -> bool:
        """Whether no more rows are held than these."""
        return len(self.rows) >= KEPT

    def _match(self, place: "Place", line: bytes) -> tuple[Delivery | None, bool]:
        """The delivery of a line if it is wanted, and whether reading backwards may end there."""
        record = delivery_log.parse(line)
        if record is None:
            self.skipped += 1
            return None, False
        found = Delivery.of(record, place)
        if not self.wanted.matches(found):
            return None, self.wanted.ended(found)
        if self.wanted.outcome:
            self._proved += 1
            if self.proofs.of(found) != self.wanted.outcome:
                return None, False
        return found, False

    def read(self, go: Callable[[int], bool] = lambda _: True) -> Iterator[Delivery]:
        """The deliveries that match, from where reading stopped before. `go(lines read)` is asked now and then whether
        to go on."""
        needle, fold = self.wanted.needle()
        most = 0 if needle else self._most  # lines without the needle are passed over in no time
        last: Place | None = None
        try:
            for number, (place, line) in enumerate(delivery_log.lines(self.root, self._below, needle, fold=fold), 1):
                if (most and self._bytes >= most) or (self._looked and self._proved >= self._looked):
                    self.cut = True
                    return
                last = place
                self._bytes += len(line) + 1
                found, over = self._match(place, line)
                if over:
                    break
                if found is not None:
                    yield found
                if number % 500 == 0 and not go(number):
                    return
            self.done = True
        finally:
            if last is not None:
                self._below = delivery_log.before(self._below, last)

    def more(self, count: int, go: Callable[[int], bool]) -> None:
        """Read on until `count` more rows match; `go` as of `read`."""
        with self._lock:
            found = islice(self.read(go), min(count, KEPT - len(self.rows)))
            self.rows = [*self.rows, *map(DeliveryRow.of, found)]

    def fresh(self) -> list[Delivery] | None:
        """The deliveries that were appended since, newest first, their rows put on top; None if the log was cut and
        must be read anew."""
        with self._lock:
            got = delivery_log.appended(self.root, self._ends)
            if got is None:
                return None
            lines, self._ends = got
            found = [each for place, line in reversed(lines) if (each := self._match(place, line)[0]) is not None]
            if found:
                self.rows = [*map(DeliveryRow.of, found), *self.rows]
            return found
