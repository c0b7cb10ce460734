"""What the workers of the deliveries screen do: read the delivery log, and post what was found as messages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message
from textual.worker import get_current_worker

from memtui.core.client import titles, transcript
from memtui.core.deliveries.earlier import NOTHING_MOVED
from memtui.core.deliveries.filter import Filter
from memtui.core.deliveries.reading import DeliveryRow, Reading
from memtui.core.deliveries.record import Delivery
from memtui.core.memories import moved

if TYPE_CHECKING:
    from memtui.tui.model.data import Data

# Deliveries whose receipts are looked up between two messages.
LOOKED_UP_AT_ONCE = 50


@dataclass
class RowsRead(Message):
    """A reading has more rows than before."""

    reading: Reading


@dataclass
class SearchProgress(Message):
    """How far a long search is, in words."""

    text: str


class ReceiptsRead(Message):
    """More receipts or statistics are known than before."""


class LogReplaced(Message):
    """The log was replaced, and must be read again from its end."""


@dataclass
class TitleFound(Message):
    """The title of a session was found: what it is about."""

    session: str
    title: str


class LogReader:
    """The work of the screen's workers. `post` takes their messages."""

    def __init__(self, data: "Data", post: Callable[[Message], object]) -> None:
        self.data, self.post = data, post

    def reading(self, wanted: Filter) -> Reading:
        """Begin a reading at the end of the log."""
        earlier = moved.load(self.data.root) if wanted.memory else NOTHING_MOVED
        return Reading(self.data.root, wanted, self.data.receipts, earlier=earlier)

    def read(self, reading: Reading, count: int, *, first: bool, oldest_first: bool = False) -> None:
        """Read `count` more rows, then look up their receipts, those of the oldest first if so wanted, then count.
        `first`: also look up the receipts of the rows that are there already."""
        worker = get_current_worker()

        def go_on(lines: int) -> bool:
            self.post(SearchProgress(f"{lines:,} lines read"))
            return not worker.is_cancelled

        before = 0 if first else len(reading.rows)
        reading.more(count, go_on)
        if worker.is_cancelled:
            return
        self.post(RowsRead(reading))
        self._look_up(reading.rows[before:][:: -1 if oldest_first else 1])
        if not self.data.statistics.ready:
            self._count(go_on)

    def follow(self, reading: Reading) -> None:
        """Read what was appended to the log."""
        fresh = reading.fresh()
        if fresh is None:
            self.post(LogReplaced())
            return
        if fresh:
            self.post(RowsRead(reading))
            self._look_up(fresh)
        if self.data.statistics.ready:
            self._count(lambda _: True)

    def find_title(self, row: DeliveryRow) -> None:
        """Find the title of the session of a delivery."""
        found = titles.about(transcript.path_of(row.record, self.data.config_dir)).title
        if found:
            self.post(TitleFound(row.session, found))

    def _count(self, go_on: Callable[[int], bool]) -> None:
        statistics = self.data.statistics
        if statistics.count(go_on):
            self._look_up(statistics.recent)
            self.post(ReceiptsRead())

    def _look_up(self, rows: Sequence[DeliveryRow | Delivery]) -> None:
        """Look up receipts, a few at a time, so that those of the newest are shown first."""
        for start in range(0, len(rows), LOOKED_UP_AT_ONCE):
            if get_current_worker().is_cancelled:
                return
            if self.data.receipts.look(rows[start : start + LOOKED_UP_AT_ONCE]):
                self.post(ReceiptsRead())
