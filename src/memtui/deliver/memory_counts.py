"""What came of recalling memories, by memory: how often each was recalled, opened by the agent afterwards, and
corrected again, and the tokens that this took. Counted from the delivery log, backwards, and forwards from there."""

from binascii import crc32
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from memtui.deliver import receipts
from memtui.deliver.earlier_paths import NOTHING_MOVED, EarlierPlaces
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
        """Whether there is anything to tell."""
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
    were appended. A read counts for the nearest time before it that its session got the memory."""

    def __init__(self) -> None:
        self.memories: dict[str, RecallCounts] = {}
        # Keys of session and path: read in the lines so far, and not yet recalled there; recalled, and not read since,
        # with the time of that in seconds; recalled at all.
        self._read: set[int] = set()
        self.unread: dict[int, float] = {}
        self._known: set[int] = set()

    def count(self, delivery: Delivery, earlier: EarlierPlaces = NOTHING_MOVED, *, newest: bool = False) -> None:
        """Count the items of a line of the log. `newest`: newer than all before, else older than all."""
        for item in delivery.items:
            if item.left_out or not item.path or item.kind not in {RECALL, USE, CORRECTED}:
                continue
            path = earlier.now(item.path, delivery.time)
            if path:
                self.add(path, delivery.session, item.kind, item.action, item.chars or 0, delivery.time, newest=newest)

    def add(
        self, path: str, session: str, kind: str, action: str, chars: int, seconds: float, *, newest: bool = False
    ) -> None:
        """Count an item about the memory at `path`; `newest` as for `count`."""
        if kind == USE:
            if action == READ:
                self._add_read(path, _key(session, path), newest=newest)
        elif kind == CORRECTED:
            counts = self._of(path)
            counts.corrected += 1
            counts.corrected_last = max(counts.corrected_last, seconds)
        elif kind == RECALL:
            counts, key = self._of(path), _key(session, path)
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

    def _add_read(self, path: str, key: int, *, newest: bool) -> None:
        if not newest:
            self._read.add(key)
        elif key in self.unread:
            del self.unread[key]
            self._of(path).opened += 1

    def total(self) -> RecallCounts:
        """Return the sum over all memories."""
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
        return cls(
            counts[receipts.ARRIVED],
            counts[receipts.PREVIEWED],
            sum(counts[receipt] for receipt in receipts.LOST),
            counts[receipts.WAITING],
            counts[receipts.UNKNOWN],
        )

    @property
    def settled(self) -> int:
        """How many are known to have arrived, as a whole or as a preview, or to be lost."""
        return self.arrived + self.previewed + self.lost

    @property
    def total(self) -> int:
        """How many there are."""
        return self.settled + self.waiting + self.unknown
