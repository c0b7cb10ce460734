"""The entries that a command of the inbox works on: the marked ones, or else the one under the cursor."""

from collections.abc import Callable

from memtui import actions
from memtui.core.base.phrasing import many
from memtui.core.review.changed import Changed
from memtui.core.review.waiting import Waiting
from memtui.tui.screens.inbox.rows import InboxRow
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.services import Services

# What can be done with a memory that somebody else wrote.
DECIDE = " {inbox.approve} keeps it, {inbox.reject} takes it back."


class Chosen:
    """The chosen entries of the inbox's list, and how they are changed."""

    def __init__(self, services: Services, screen: ListScreen[InboxRow]) -> None:
        self.services, self.screen = services, screen

    @property
    def under_cursor(self) -> Waiting | None:
        """The entry under the cursor, also when others are marked."""
        row = self.screen.table.row
        return row.item if row is not None else None

    def items(self, kind: str = "") -> list[Waiting]:
        """Return the chosen entries of a kind, or of all kinds."""
        found = [row.item for row in self.screen.table.chosen() if row.item is not None]
        return [each for each in found if not kind or each.kind == kind]

    def changed(self) -> list[Changed]:
        """Return the chosen memories that somebody else wrote; on their fold all that are in it."""
        found = [each for row in self.screen.table.chosen() for each in (row, *row.folds)]
        return list({each.changed.key: each.changed for each in found if each.changed is not None}.values())

    @property
    def means_changed(self) -> bool:
        """Whether a command is about memories that somebody else wrote: those under the cursor, or the only ones
        marked."""
        row = self.screen.table.row
        on_one = row is not None and (row.changed is not None or any(each.changed for each in row.folds))
        return bool(self.changed()) and (on_one or not self.items())

    def still_marked(self, kind: str = "") -> tuple[set[str], str]:
        """Return the keys of the marked entries of other kinds, which stay marked, and a sentence that says so, after a
        blank; empty if there are none."""
        others = self.screen.table.marks - {each.key for each in self.items(kind)}
        kinds = [row.kind for row in self.screen.found if row.key in others]
        drafts, items = kinds.count("updates"), kinds.count("items")
        words = [many(drafts, "draft")] * bool(drafts) + [many(items, "item")] * bool(items)
        return others, f" {' and '.join(words)} {'stays' if drafts + items == 1 else 'stay'} marked." if words else ""

    def unmark(self, others: set[str]) -> None:
        """Unmark all entries but those with the keys `others`."""
        self.screen.table.clear_marks()
        self.screen.table.marks = others
        self.screen.count()

    def act(self, change: Callable[[], object], words: str, kind: str = "") -> None:
        """Make a change, unmark its entries and say so with `words`. Raises what `change` raises. The files are read
        again either way."""
        others, note = self.still_marked(kind)
        try:
            change()
            self.unmark(others)
            self.services.say(f"{words}{note} {actions.takes_back()}")
        finally:
            self.services.read()

    # why a command can't be run

    def hidden(self) -> str:
        """Say that the filter hides the marked entries, if it does."""
        table = self.screen.table
        return "The filter hides the marked ones: escape shows them." if table.marks and not table.chosen() else ""

    def _where(self) -> str:
        marked = self.screen.table.marks and not self.screen.detail_covers_list  # what is read is meant alone
        return "among the marked ones" if marked else "under the cursor"

    def _fold(self) -> str:
        """Say what can be done on a fold, if the cursor is on one and nothing is marked."""
        table = self.screen.table
        row = table.row
        if row is None or not row.folds or table.marks:
            return ""
        one, several = ("memory", "memories") if row.folds[0].changed is not None else ("draft", "drafts")
        if any(each.key == row.folds[0].key for each in table.rows):
            return f"This row is a fold, its {several} are below it: move the cursor to one."
        shown = "it" if len(row.folds) == 1 else "them"
        return f"This row folds {many(len(row.folds), one, several)}: enter shows {shown}."

    def no_draft(self) -> str:
        """Say that no draft is chosen, if none is."""
        if self.items("updates"):
            return ""
        if self.changed():
            return "That is not for a memory that is written already." + actions.keyed(DECIDE)
        if fold := self._fold():
            return fold
        ways = actions.keyed(" {inbox.done} marks an item done.") if self.items("items") else ""
        return f"There is no draft {self._where()}." + ways

    def no_item(self) -> str:
        """Say that no todo is chosen, if none is."""
        if self.items("items"):
            return ""
        if self.changed():
            return "That is not for a memory." + actions.keyed(DECIDE)
        if fold := self._fold():
            return fold
        ways = actions.keyed(" {inbox.approve} approves a draft, {inbox.reject} rejects it.")
        return f"There is no todo {self._where()}." + (ways if self.items("updates") else "")

    def nothing(self) -> str:
        """Say that nothing is chosen, if nothing is."""
        return "" if self.items() or self.changed() else self._fold() or "There is nothing under the cursor."
