"""Read the delivery log for command line and TUI: the deliveries that match a filter, newest first, and new ones.

A log of any length opens at once, since it is read backwards a page at a time. A screen holds at most `KEPT` deliveries
as short rows; their texts stay in the log until they are shown."""

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from memtui.client.transcripts import transcript_hot
from memtui.deliver import log_hot, receipts_hot
from memtui.deliver.filter import Filter
from memtui.deliver.record import Delivery, Record

if TYPE_CHECKING:
    from memtui.deliver.log_hot import Place

PAGE = 200
KEPT = 20_000
# How many views of transcripts are kept.
VIEWS = 64
# How long after a delivery a missing transcript may still appear.
YOUNG_SECONDS = 300.0
# The fields of a record by which its receipt is found.
PROOF = (
    *("id", "time", "event", "session_id", "transcript", "transcript_size", "prompt_id", "client"),
    *("agent_id", "tool_use_id", "recovered", "outcome"),
)


class Proof:
    """What a receipt can be looked up by. `time`: since the epoch, 0.0 for none; `record`: the fields of PROOF."""

    __slots__ = ("id", "record", "time")

    def __init__(self, delivery: Delivery) -> None:
        self.id, self.time = delivery.id, delivery.time
        fields = {key: delivery.record[key] for key in PROOF if key in delivery.record}
        self.record: Record = fields | {"chars": delivery.chars}


class DeliveryRow(Proof):
    """A delivery, or a use of a memory, without its text. `root`: of its project, or a slug; `files`: of its items."""

    __slots__ = ("chars", "contents", "event", "files", "ms", "place", "root", "session")

    def __init__(self, delivery: Delivery) -> None:
        super().__init__(delivery)
        self.place = delivery.place
        self.event = delivery.event
        self.session = delivery.session
        self.root = sys.intern(delivery.root)
        self.contents = delivery.contents
        self.files = tuple(sys.intern(item.path) for item in delivery.items if item.path)
        self.chars = delivery.chars
        self.ms = delivery.ms

    @property
    def injected(self) -> bool:
        """Whether anything was put before the model."""
        return self.chars > 0


def read(row: DeliveryRow) -> Delivery | None:
    """Return the whole delivery of a row, from the log; None if it is gone."""
    record = log_hot.read(row.place) if row.place else None
    return None if record is None else Delivery(record, row.place)


class Receipts:
    """The outcomes of deliveries: each is looked up once, and again while it may still change. Thread-safe. `known`:
    outcomes by delivery id. `finder`: for a caller that looks up many in one run, in which no session moves."""

    def __init__(
        self, env: dict[str, str], now: Callable[[], float], finder: "transcript_hot.Finder | None" = None
    ) -> None:
        self.env = env
        self.now = now
        self.known: dict[str, str] = {}
        self._finder = finder
        self._open: dict[str, Delivery | Proof] = {}
        self._doubted: set[str] = set()
        self._views: dict[str, receipts_hot.TranscriptView] = {}
        self._lock = threading.Lock()

    def open(self, row: Delivery | Proof) -> bool:
        """Whether the outcome may still change."""
        outcome = self.known.get(row.id)
        if outcome is None or outcome == receipts_hot.WAITING or row.id in self._doubted:
            return True
        return outcome == receipts_hot.UNKNOWN and self.now() - row.time < YOUNG_SECONDS

    def look(self, rows: Iterable[Delivery | Proof]) -> bool:
        """Look up those that may still change; whether any outcome is another now."""
        with self._lock:
            to_look_up = [row for row in rows if self.open(row)]
            records = [row.record for row in to_look_up]
            outcomes = receipts_hot.outcomes(records, self.env, self.now(), self._views, self._finder)
            changed = any(self.known.get(name) != outcome for name, outcome in outcomes.items())
            self.known.update(outcomes)
            for row in to_look_up:
                self._doubted.discard(row.id)
                if self.open(row):
                    self._open[row.id] = row
                else:
                    self._open.pop(row.id, None)
            while len(self._views) > VIEWS:
                del self._views[next(iter(self._views))]
            return changed

    def look_again(self) -> bool:
        """Look up all rows seen before that may still change; whether any outcome is another now."""
        return bool(self._open) and self.look(list(self._open.values()))

    def forget(self) -> None:
        """Look up unknown outcomes once more when they are asked for next."""
        self._doubted = {name for name, outcome in self.known.items() if outcome == receipts_hot.UNKNOWN}

    def of(self, row: Delivery | Proof) -> str:
        """Return the outcome of one delivery, looked up if it may still change."""
        self.look([row])
        return self.known.get(row.id, receipts_hot.UNKNOWN)


class Reading:
    """The deliveries read so far that match a filter, newest first. `most`: bytes of the newest log, and `looked`:
    receipts, after which reading is `cut`; `skipped`: unreadable lines, without `follow` an unfinished one, too."""

    def __init__(
        self, root: str, criteria: Filter, proofs: Receipts, *, most: int = 0, looked: int = 0, follow: bool = True
    ) -> None:
        self.root = root
        self.wanted = criteria
        self.proofs = proofs
        self.rows: list[DeliveryRow] = []
        self.done = self.cut = False
        self.skipped = 0
        self._most, self._looked = most, looked
        self._bytes = self._proved = 0
        # The log is read between the two: `below` older lines end, behind `ends` newer lines begin.
        self._ends = log_hot.ends(root) if follow else log_hot.sizes(root)
        self._below = self._ends
        self._noted: dict[str, str] = {}
        self._lock = threading.Lock()

    @property
    def full(self) -> bool:
        """Whether as many rows are held as can be."""
        return len(self.rows) >= KEPT

    def _match(self, place: "Place", line: bytes) -> tuple[Delivery | None, bool]:
        """Return the delivery of a line if it matches, and whether reading backwards may end there."""
        record = log_hot.parse(line, self._noted)
        if record is None:
            self.skipped += 1
            return None, False
        delivery = Delivery(record, place)
        if not self.wanted.matches(delivery, self.proofs.of):
            return None, self.wanted.ended(delivery)
        if self.wanted.outcome:
            self._proved += 1
            if self.proofs.of(delivery) not in self.wanted.outcomes:
                return None, False
        return delivery, False

    def read(self, go: Callable[[int], bool] = lambda _: True) -> Iterator[Delivery]:
        """Yield the deliveries that match, from where reading stopped before, until `go(lines read)` returns False."""
        needle, fold = self.wanted.needle()
        most = 0 if needle else self._most  # lines without the needle are skipped in no time
        last: Place | None = None
        try:
            lines = log_hot.lines(self.root, self._below, needle, fold=fold, noted=self._noted)
            for number, (place, line) in enumerate(lines, 1):
                if (most and self._bytes >= most) or (self._looked and self._proved >= self._looked):
                    self.cut = True
                    return
                last = place
                self._bytes += len(line) + 1
                delivery, over = self._match(place, line)
                if over:
                    break
                if delivery is not None:
                    yield delivery
                if number % 500 == 0 and not go(number):
                    return
            self.done = True
        finally:
            if last is not None:
                self._below = log_hot.before(self._below, last)

    def more(self, count: int, go: Callable[[int], bool]) -> None:
        """Read on until `count` more rows match; `go` as for `read`."""
        with self._lock:
            records = islice(self.read(go), min(count, KEPT - len(self.rows)))
            self.rows = [*self.rows, *map(DeliveryRow, records)]

    def fresh(self) -> list[Delivery] | None:
        """Return the deliveries appended since, newest first, and put their rows on top. None: read a cut log anew."""
        with self._lock:
            got = log_hot.appended(self.root, self._ends)
            if got is None:
                return None
            lines, self._ends = got
            deliveries = [each for place, line in reversed(lines) if (each := self._match(place, line)[0]) is not None]
            if deliveries:
                self.rows = [*map(DeliveryRow, deliveries), *self.rows]
            return deliveries
