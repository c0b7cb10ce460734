"""The rows that an undo brings back, which the cursor goes to."""

import math
import time
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Row = TypeVar("Row")
# How long after the key of undo a row counts as brought back by it.
UNDO_SECONDS = 10.0


class ReturnedRows(Generic[Row]):
    """The rows of a list by their `key`: those that are there, those that were, and those that came back last."""

    def __init__(self, key: Callable[[Row], str]) -> None:
        self.key = key
        self._here, self._gone, self._returned = set[str](), set[str](), set[str]()
        self._noted: Sequence[Row] = ()
        self._returned_at = self._undone_at = -math.inf  # the latter: the undo whose row was found

    def note(self, rows: Sequence[Row], without_hidden: Callable[[], Sequence[Row]]) -> None:
        """Note which rows there are now, if these are others than before."""
        if rows is self._noted:
            return
        self._noted, keys = rows, set(map(self.key, without_hidden()))
        if returned := keys & self._gone:
            self._returned, self._returned_at = returned, time.monotonic()
        self._gone = (self._gone | self._here) - keys
        self._here = keys

    def find(self, rows: Sequence[Row], undone_at: float) -> int | None:
        """Return the number of the first row that came back since an undo, once; None if there is none."""
        is_new = self._undone_at < undone_at <= self._returned_at
        if not is_new or time.monotonic() - undone_at > UNDO_SECONDS:
            return None
        place = next((at for at, row in enumerate(rows) if self.key(row) in self._returned), None)
        if place is not None:
            self._undone_at = undone_at
        return place
