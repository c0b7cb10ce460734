"""Statistics of the delivery log's newest months by day and hook event, what came of recalling each memory, and how
many deliveries had which outcome. They are counted once, in a worker; after that only what is appended is added."""

import threading
import time
from array import array
from binascii import crc32
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from memtui.base import clock_hot
from memtui.deliver import log_hot, receipts_hot
from memtui.deliver.log_queries import DeliveryRow
from memtui.deliver.record import CHARS_A_TOKEN, CORRECTED, RECALL, USE, Delivery

READ = "read"


@dataclass(slots=True)
class RecallCounts:
    """What came of recalling a memory. `opened`: after how many of these deliveries the agent read its file, in the
    same session; `corrected`: how often a person corrected afterwards what it says, `corrected_last`: when last;
    `last`: when it was recalled last; both in seconds since the epoch, 0.0 for never."""

    recalled: int = 0
    opened: int = 0
    corrected: int = 0
    chars: int = 0
    last: float = 0.0
    corrected_last: float = 0.0

    @property
    def tokens(self) -> int:
        """About how many tokens its texts took."""
        return self.chars // CHARS_A_TOKEN

    def __bool__(self) -> bool:
        return bool(self.recalled or self.corrected)

    def add(self, other: "RecallCounts") -> None:
        """Add the counts of the same memory under another path, or of another memory."""
        self.recalled += other.recalled
        self.opened += other.opened
        self.corrected += other.corrected
        self.chars += other.chars
        self.last = max(self.last, other.last)
        self.corrected_last = max(self.corrected_last, other.corrected_last)


class RecallCounter:
    """The counts of memories by path, from items of the log: first those of older lines, newest first, then those that
    were appended. A read counts for the nearest time before it that its session got the memory. `wants`: whether what
    was logged of the memory at a path counts, by its time."""

    def __init__(self, wants: Callable[[str, float], bool] = lambda *_: True) -> None:
        self._wants = wants
        self.memories: dict[str, RecallCounts] = {}
        # Keys of session and path: read in the lines so far, and not yet recalled there; recalled, and not read since,
        # with the time of that in seconds; recalled at all.
        self._read: set[int] = set()
        self.unread: dict[int, float] = {}
        self._known: set[int] = set()

    def count(self, delivery: Delivery, *, newest: bool = False) -> None:
        """Count the items of a line of the log. `newest`: newer than all before, else older than all."""
        for item in delivery.items:
            if item.left_out or not item.path or item.kind not in {RECALL, USE, CORRECTED}:
                continue
            if self._wants(item.path, delivery.time):
                about = (item.path, delivery.session, item.kind, item.action, item.chars or 0)
                self.add(*about, delivery.time, newest=newest)

    def add(self, path: str, session: str, kind: str, action: str, chars: int, seconds: float, *, newest: bool) -> None:
        """Count an item about the memory at `path`; `newest` as for `count`."""
        key = _key(session, path)
        if kind == USE and action == READ:
            if not newest:
                self._read.add(key)
            elif key in self.unread:
                del self.unread[key]
                self._of(path).opened += 1
        elif kind == CORRECTED:
            counts = self._of(path)
            counts.corrected += 1
            counts.corrected_last = max(counts.corrected_last, seconds)
        elif kind == RECALL:
            counts = self._of(path)
            counts.recalled += 1
            counts.chars += chars
            counts.last = max(counts.last, seconds)
            if key in self._read and not newest:
                self._read.remove(key)
                counts.opened += 1
            elif newest or key not in self._known:
                self.unread[key] = seconds
            self._known.add(key)

    def _of(self, path: str) -> RecallCounts:
        return self.memories.setdefault(path, RecallCounts())

    def total(self) -> RecallCounts:
        recall_counts = RecallCounts()
        for counts in self.memories.values():
            recall_counts.add(counts)
        return recall_counts


def _key(session: str, path: str) -> int:
    return crc32(session.encode("utf-8", "surrogatepass")) << 32 | crc32(path.encode("utf-8", "surrogatepass"))


class ReceiptCounts(NamedTuple):
    """The numbers of deliveries by what became of them. `lost`: failed, timed out, dropped or broken off. A record
    without a text, which has nothing that could arrive, is not counted."""

    arrived: int = 0
    previewed: int = 0
    lost: int = 0
    waiting: int = 0
    unknown: int = 0

    @classmethod
    def of(cls, outcomes: Iterable[str] | Mapping[str, int]) -> "ReceiptCounts":
        """Count outcomes; a mapping has their numbers already."""
        counts = Counter(outcomes)
        arrived, previewed = (counts[receipt] for receipt in receipts_hot.GOT)
        lost = sum(counts[receipt] for receipt in receipts_hot.LOST)
        return cls(arrived, previewed, lost, counts[receipts_hot.WAITING], counts[receipts_hot.UNKNOWN])

    @property
    def settled(self) -> int:
        """How many are known to have arrived, as a whole or as a preview, or to be lost."""
        return self.arrived + self.previewed + self.lost

    @property
    def total(self) -> int:
        return self.settled + self.waiting + self.unknown


if TYPE_CHECKING:
    from memtui.deliver.log_hot import Place

DAYS = 90
# How many of the newest deliveries are kept as rows.
RECENT = 2000
# So many days in a row without a delivery are shown as one.
FOLDED = 3


@dataclass(slots=True)
class Day:
    deliveries: int = 0
    chars: int = 0


def percentile(times: Iterable[float], share: float) -> float:
    """Return the value that this share (0 to 1) of the times lies below; 0.0 if there are none."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def day_of(seconds: float) -> int:
    local = time.localtime(seconds)
    return int((seconds + (local.tm_gmtoff or 0)) // clock_hot.DAY)


class Statistics:
    """The statistics of the last DAYS days: `days` by number, `events` by event, what came of recalling memories
    (`recalls`) by their path, and `recent`, the newest deliveries, newest first."""

    def __init__(self, root: str, now: Callable[[], float]) -> None:
        self.root = root
        self.now = now
        self._ends: dict[str, int] = {}
        self._lock = threading.Lock()
        self._clear()

    def count(self, go: Callable[[int], bool]) -> bool:
        """Count everything first, later what was appended, until `go(lines read)` is False; whether anything is new."""
        with self._lock:
            if self.ready:
                got = log_hot.appended(self.root, self._ends)
                if got is not None:
                    lines, self._ends = got
                    for place, line in lines:
                        self._add(place, line, newest=True)
                    return bool(lines)
            self._clear()
            return self._all(go)

    def _clear(self) -> None:
        self.days: dict[int, Day] = {}
        self.events: dict[str, array[float]] = {}
        self.recalls = RecallCounter()
        self.recent: list[DeliveryRow] = []
        self.lines = 0
        self.ready = False
        self._noted: dict[str, str] = {}

    def _all(self, go: Callable[[int], bool]) -> bool:
        self._ends = log_hot.ends(self.root)
        oldest = self.now() - (DAYS + 1) * clock_hot.DAY  # a day more: clocks go back an hour, and hooks overlap
        for number, (place, line) in enumerate(log_hot.lines(self.root, self._ends, noted=self._noted), 1):
            seconds = self._add(place, line)
            if seconds and seconds < oldest:
                break
            if number % 500 == 0 and not go(number):
                return True
        self.ready = True
        return True

    def _add(self, place: "Place", line: bytes, *, newest: bool = False) -> float:
        """Count a record of the wanted days. Return its time, or 0.0. `newest`: newer than all others."""
        record = log_hot.parse(line, self._noted)
        delivery = Delivery(record, place) if record is not None else None
        if delivery is None or not delivery.time:
            return 0.0
        if day_of(delivery.time) <= day_of(self.now()) - DAYS:
            return delivery.time
        self.lines += 1
        day = self.days.setdefault(day_of(delivery.time), Day())
        if delivery.injected:
            day.deliveries += 1
            day.chars += delivery.chars
            if newest:
                self.recent = [DeliveryRow(delivery), *self.recent[: RECENT - 1]]
            elif len(self.recent) < RECENT:
                self.recent.append(DeliveryRow(delivery))
        if delivery.ms is not None:
            self.events.setdefault(delivery.event, array("f")).append(delivery.ms)
        self.recalls.count(delivery, newest=newest)
        return delivery.time

    def recalled(self, path: str) -> RecallCounts:
        return self.recalls.memories.get(path, RecallCounts())

    def days_back(self, count: int) -> list[tuple[int, Day]]:
        """Return the last days, oldest first, also those without a delivery."""
        today = day_of(self.now())
        return [(number, self.days.get(number, Day())) for number in range(today - count + 1, today + 1)]

    def days_folded(self, count: int) -> list[tuple[int, int, Day | None]]:
        """Return the last days, newest first, as (first, last, statistics); FOLDED empty ones in a row are one."""
        found: list[tuple[int, int, Day | None]] = []
        for empty, group in groupby(reversed(self.days_back(count)), lambda pair: not pair[1].deliveries):
            days = list(group)
            if empty and len(days) >= FOLDED:
                found.append((days[-1][0], days[0][0], None))
            else:
                found += [(number, number, day) for number, day in days]
        return found

    def outcomes(self, outcomes_by_id: dict[str, str], day: int | None = None) -> dict[str, int]:
        """Count the newest deliveries, or those of one day, by outcome. `outcomes_by_id`: outcomes by delivery."""
        rows = [row for row in self.recent if day is None or day_of(row.time) == day]
        return Counter(outcome for row in rows if (outcome := outcomes_by_id.get(row.id)))
