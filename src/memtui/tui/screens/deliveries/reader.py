"""Read the log for the screen, in its workers, and post what was found."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message
from textual.worker import get_current_worker

from memtui.core.client import titles, transcript
from memtui.core.deliveries.filter import Filter
from memtui.core.deliveries.reading import DeliveryRow, Reading
from memtui.core.deliveries.record import Delivery

if TYPE_CHECKING:
    from memtui.tui.model.data import Data

LOOKED_UP_AT_ONCE = 50


@dataclass
class Shown(Message):
    """A reading holds more rows than before."""

    reading: Reading


@dataclass
class Progress(Message):
    """A word on how far a long search is."""

    text: str


class Proved(Message):
    """Receipts or counts are known that were not before."""


class Rewritten(Message):
    """The log is another one: it must be read anew."""


@dataclass
class Titled(Message):
    """It is known what a session is about."""

    session: str
    title: str


class LogReader:
    """What the workers of the screen do; `post` takes their messages."""

    def __init__(self, data: "Data", post: Callable[[Message], object]) -> None:
        self.data, self.post = data, post

    def reading(self, wanted: Filter) -> Reading:
        """A reading from the end of the log."""
        return Reading(self.data.root, wanted, self.data.receipts)

    def read(self, reading: Reading, count: int, *, first: bool) -> None:
        """Read on until so many more are there, then look up their receipts, then count. `first`: those that are there
        have no receipt yet either."""
        worker = get_current_worker()

        def go(lines: int) -> bool:
            self.post(Progress(f"{lines:,} lines read"))
            return not worker.is_cancelled

        before = 0 if first else len(reading.rows)
        reading.more(count, go)
        if worker.is_cancelled:
            return
        self.post(Shown(reading))
        self._look_up(reading.rows[before:])
        if not self.data.statistics.ready:
            self._count(go)

    def follow(self, *readings: Reading | None) -> None:
        """Read what was appended."""
        for each in readings:
            fresh = each.fresh() if each else []
            if fresh is None:
                self.post(Rewritten())
                return
            if fresh and each:
                self.post(Shown(each))
                self._look_up(fresh)
        if self.data.statistics.ready:
            self._count(lambda _: True)

    def find_title(self, row: DeliveryRow) -> None:
        """Find out what a session is about."""
        path = transcript.path_of(row.record, self.data.config_dir)
        found = titles.first_words(path) if path else ""
        if found:
            self.post(Titled(row.session, found))

    def _count(self, go: Callable[[int], bool]) -> None:
        statistics = self.data.statistics
        if statistics.count(go):
            self._look_up(statistics.recent)
            self.post(Proved())

    def _look_up(self, rows: Sequence[DeliveryRow | Delivery]) -> None:
        """Receipts, some at a time, so that the newest are told first."""
        for start in range(0, len(rows), LOOKED_UP_AT_ONCE):
            if get_current_worker().is_cancelled:
                return
            if self.data.receipts.look(rows[start : start + LOOKED_UP_AT_ONCE]):
                self.post(Proved())
