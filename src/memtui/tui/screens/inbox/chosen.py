"""The entries that a command of the inbox works on: the marked ones, or else the one under the cursor."""

from collections.abc import Callable

from memtui import actions
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import many
from memtui.core.review.waiting import Waiting
from memtui.tui.screens.inbox.rows import InboxRow
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.services import Services


class Chosen:
    """The chosen entries of the inbox's list, and how they are changed."""

    def __init__(self, services: Services, screen: ListScreen[InboxRow]) -> None:
        self.services, self.screen = services, screen

    @property
    def under(self) -> Waiting | None:
        """The entry under the cursor, also when others are marked."""
        row = self.screen.table.row
        return row.item if row is not None else None

    def items(self, kind: str = "") -> list[Waiting]:
        """Return the chosen entries of a kind, or of all kinds."""
        found = [row.item for row in self.screen.table.chosen() if row.item is not None]
        return [each for each in found if not kind or each.kind == kind]

    def aside(self, kind: str = "") -> tuple[set[str], str]:
        """Return the keys of the marked entries of other kinds, which stay marked, and a sentence that says so."""
        left = self.screen.table.marks - {each.key for each in self.items(kind)}
        kinds = [row.kind for row in self.screen.found if row.key in left]
        drafts, items = kinds.count("updates"), kinds.count("items")
        words = [many(drafts, "draft")] * bool(drafts) + [many(items, "item")] * bool(items)
        return left, f" Left aside, and still marked: {' and '.join(words)}." if words else ""

    def unmark(self, left: set[str]) -> None:
        """Unmark all entries but those with the keys `left`."""
        self.screen.table.clear_marks()
        self.screen.table.marks = left
        self.screen.count()

    def act(self, change: Callable[[], object], words: str, kind: str = "") -> bool:
        """Make a change, and say so with `words`, or say what went wrong. The files are read again either way."""
        left, aside = self.aside(kind)
        try:
            change()
        except MemtuiError as error:
            self.services.fail(error)
            self.services.read()
            return False
        self.unmark(left)
        self.services.say(f"{words}{aside} {actions.takes_back()}")
        self.services.read()
        return True

    # why a command can't be run; empty if it can

    def hidden(self) -> str:
        """Check that the filter does not hide the marked entries."""
        table = self.screen.table
        return "The filter hides the marked ones: escape shows them." if table.marks and not table.chosen() else ""

    def no_draft(self) -> str:
        """Check that a draft is chosen."""
        if self.items("updates"):
            return ""
        ways = actions.keyed(" {inbox.done} ticks an item off.") if self.items("items") else ""
        return "There is no draft under the cursor." + ways

    def no_item(self) -> str:
        """Check that an unfinished item is chosen."""
        if self.items("items"):
            return ""
        ways = actions.keyed(" {inbox.approve} approves a draft, {inbox.reject} rejects it.")
        return "There is no unfinished item under the cursor." + (ways if self.items("updates") else "")

    def nothing(self) -> str:
        """Check that anything is chosen."""
        return "" if self.items() else "There is nothing under the cursor."
