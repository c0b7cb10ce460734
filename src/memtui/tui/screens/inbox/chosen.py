"""The rows that a command of the inbox works on: the marked ones of one kind, or else the one under the cursor."""

from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from memtui import actions
from memtui.core.base.phrasing import many
from memtui.core.review.waiting import Waiting
from memtui.tui.screens.inbox.row import InboxRow
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.services import Services

# The part of the files that a decision about an entry touches. What else depends on it is read when the keys rest.
ENTRIES = frozenset({"inbox"})
MEMORIES = frozenset({"memories"})  # what a change that is made or rejected touches
Kind = TypeVar("Kind", bound=InboxRow)


class Chosen:
    """The chosen rows of the inbox's list, and how they are changed."""

    def __init__(self, services: Services, screen: ListScreen[InboxRow]) -> None:
        self.services, self.screen = services, screen

    @property
    def leader(self) -> InboxRow | None:
        """The row whose kind decides what a command does: the one under the cursor if it is chosen, else the first
        that is. On a fold that is acted on as a whole, one of its rows."""
        every = self._every()
        under = self.screen.table.row
        return under if under in every else every[0] if every else None

    def _every(self) -> list[InboxRow]:
        found = self.screen.table.chosen()
        return [each for row in found for each in (row.folds if row.acts_as_one else (row,) * (not row.folds))]

    def rows(self, kind: type[Kind]) -> list[Kind]:
        """Return the chosen rows of a kind, each once."""
        return list({row.key: row for row in self._every() if isinstance(row, kind)}.values())

    def same_kind(self) -> list[InboxRow]:
        """Return the chosen rows of the leader's kind."""
        leader = self.leader
        return [row for row in self._every() if leader is not None and row.kind.family == leader.kind.family]

    def items(self) -> list[Waiting]:
        """Return the entries of the chosen rows that are of the leader's kind."""
        return [row.item for row in self.same_kind() if row.item]

    @property
    def under_cursor(self) -> Waiting | None:
        """The entry under the cursor, also when others are marked."""
        row = self.screen.table.row
        return row.item if row is not None else None

    def is_seen(self) -> bool:
        """Return whether all that is chosen is on the screen: one row, which the cursor is on and which is shown to its
        end."""
        chosen = self.screen.table.chosen()
        return len(chosen) == 1 and chosen[0] is self.screen.table.row and self.screen.detail_seen

    def still_marked(self) -> tuple[set[str], str]:
        """Return the keys of the marked rows of other kinds, which stay marked, and a sentence that says so, after a
        blank; empty if there are none."""
        leader = self.leader
        family = leader.kind.family if leader is not None else ""
        others = [row for row in self.screen.found if row.key in self.screen.table.marks and row.kind.family != family]
        kinds = Counter((row.kind.singular, row.kind.plural) for row in others)
        words = " and ".join(many(count, *kind) for kind, count in kinds.items())
        note = f" {words} {'stays' if len(others) == 1 else 'stay'} marked." if others else ""
        return {row.key for row in others}, note

    def unmark(self, others: set[str]) -> None:
        """Unmark all rows but those with the keys `others`."""
        self.screen.table.clear_marks()
        self.screen.table.marks = others
        self.screen.count()

    def act(self, change: Callable[[], object], words: str, parts: frozenset[str] | None = None) -> None:
        """Make a change, unmark its rows and say so with `words`. Raises what `change` raises. The `parts` of the files
        are read again either way, None for all."""
        others, note = self.still_marked()
        try:
            change()
            self.unmark(others)
            self.services.say(f"{words}{note} {actions.takes_back()}")
        finally:
            self.services.read(parts)

    # why a command can't be run

    def nothing(self) -> str:
        """Say that nothing is chosen, if nothing is: the filter hides what is marked, or the row is a fold."""
        if self._every():
            return ""
        table = self.screen.table
        if table.marks and not table.chosen():
            return "The filter hides the marked ones: escape shows them."
        row = table.row
        if row is None or not row.folds:
            return "There is nothing under the cursor."
        first = row.folds[0]
        if any(each.key == first.key for each in table.rows):
            return f"This row is a fold, its {first.kind.plural} are below it: move the cursor to one."
        it = "it" if len(row.folds) == 1 else "them"
        return f"This row folds {many(len(row.folds), first.kind.singular, first.kind.plural)}: enter shows {it}."
