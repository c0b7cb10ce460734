"""What became of some deliveries, as numbers: only a settled delivery says whether deliveries arrive, so that those
that still wait, and those of which nothing can be known, are counted apart."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from memtui.core.deliveries import receipts


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
            sum(counts[each] for each in receipts.LOST),
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

    def data(self) -> dict[str, int]:
        """Return the numbers by name, with `settled`, for JSON."""
        return {"settled": self.settled, **self._asdict()}
