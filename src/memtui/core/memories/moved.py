"""Where the memories are that were renamed or moved with memtui, by the journal, so that what was delivered under an
earlier name counts for the memory."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtui.core.base import clock
from memtui.core.deliveries.earlier import NOTHING_MOVED, EarlierPlaces, Span
from memtui.core.places import locate

if TYPE_CHECKING:
    from memtui.core.journal.ledger import Transaction

# By root: what the journal ended with, and the places then.
_known: dict[str, tuple[tuple[int, str], EarlierPlaces]] = {}


def load(root: str) -> EarlierPlaces:
    """Return the earlier places of memories. What was read before is returned again until something changes."""
    path = f"{root}/journal.jsonl"
    if not os.path.exists(path):
        return NOTHING_MOVED
    from memtui.core.journal import ledger as journal_ledger  # not needed for the first paint

    try:
        every = journal_ledger.shared(path).follow().all()
    except OSError:
        return NOTHING_MOVED
    last = next((each.id for each in reversed(every) if each.state not in {"intent", "back"}), "")
    key = (len(every), last)
    known = _known.get(root)
    if known is None or known[0] != key:
        walk = _Walk()
        for each in every:
            if each.state not in {"intent", "back"}:
                walk.take(each)
        known = _known[root] = (key, EarlierPlaces(walk.spans()))
    return known[1]


class _Walk:
    """The memories that a walk through the journal met. Each is a number: `at` the one that a path has, or had before
    it was deleted; `place` the path of each, `had` all paths with the times from which on they were whose; `of` the
    memories that a change made or removed, by its id and the path."""

    def __init__(self) -> None:
        self.at: dict[str, int] = {}
        self.place: dict[int, str] = {}
        self.had: dict[str, list[tuple[float, int | None]]] = {}
        self.of: dict[tuple[str, str], int] = {}

    def known(self, path: str) -> int:
        """Return the memory of a path; one that came there by itself, if none is known."""
        if path not in self.at:
            self._put(len(self.place), path, self.had[path][-1][0] if path in self.had else 0.0)
        return self.at[path]

    def _put(self, number: int, path: str, since: float) -> None:
        self.at[path], self.place[number] = number, path
        self.had.setdefault(path, []).append((since, number))

    def take(self, each: "Transaction") -> None:
        """Follow one change, undo or redo."""
        rows = [
            row
            for row in each.record["changes"]
            if "before" in row and locate.is_memory_name(row["path"].rpartition("/")[2])
        ]
        gone = [row["path"] for row in rows if row["before"] and not row["after"]]
        created = [row["path"] for row in rows if row["after"] and not row["before"]]
        if not gone and not created:
            return
        since, about = clock.parse(each.time) or 0.0, each.of or each.id
        moved = _pairs(each, gone, created)
        leaving = {path: self.known(path) for path in gone}
        for path, number in leaving.items():
            self.of[about, path] = number
            if path in moved.values():
                del self.at[path]
                self.had[path].append((since, None))
        for path in created:
            back = self.of.get((about, path)) if each.of else None
            if path in moved:
                number = leaving[moved[path]]
            elif back is not None:
                number = back
            elif path not in self.at or each.op in {"undo", "redo", "restore"}:
                number = self.known(path)
            else:
                number = len(self.place)
            self.of[about, path] = number
            if self.at.get(path) != number:
                self._put(number, path, since)

    def spans(self) -> dict[str, tuple[Span, ...]]:
        """Return the paths whose memories are not all there now."""
        moved_paths = {}
        for path, had in self.had.items():
            known = [Span(since, path if number is None else self._now(number)) for since, number in had]
            if any(each.now != path for each in known):
                moved_paths[path] = tuple(known)
        return moved_paths

    def _now(self, number: int) -> str:
        path = self.place[number]
        return path if self.at.get(path) == number else ""


def _pairs(each: "Transaction", gone: Sequence[str], made: Sequence[str]) -> dict[str, str]:
    """Map the paths that a change made to those that it moved there. A consolidation says which became what."""
    became = each.record.get("became")
    if isinstance(became, dict):
        return {str(became[path]): path for path in reversed(gone) if became.get(path) in made}
    return {made[0]: gone[0]} if len(gone) == len(made) == 1 else {}
