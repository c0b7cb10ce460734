"""The commands of the Memories screen that change no file: panes, scopes, order, marks."""

from collections.abc import Callable

from memtui.core.base.phrasing import many
from memtui.tui.dialogs.ask import Choice
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.screens.memories.rows import ORDERS, Pair, View
from memtui.tui.screens.memories.table import MemoryTable
from memtui.tui.screens.memories.tree import ScopeTree
from memtui.tui.services import Command, Services


class MemoryNavigation:
    """The commands, on the list, the tree and the order. `relist` shows the list again and remembers its state."""

    def __init__(
        self,
        services: Services,
        screen: ListScreen[Pair],
        table: MemoryTable,
        places: ScopeTree,
        view: View,
        relist: Callable[[], None],
    ) -> None:
        self.services, self.screen, self.list, self.places = services, screen, table, places
        self.view, self.relist = view, relist

    def table(self) -> dict[str, Command]:
        """Return command by action id."""
        some = self.list.why_none
        return {
            "list.open": Command(self.screen.open_whole, some),
            "memories.left": Command(self.left),
            "memories.right": Command(self.right),
            "memories.sort": Command(self.sort),
            "list.mark": Command(self.screen.mark, some),
            "list.mark_all": Command(self.mark_all, self._why_no_mark),
            "list.range": Command(self.screen.mark_range, self._why_no_mark),
        }

    # panes

    async def left(self) -> None:
        """Fold the place in the tree, or focus the pane to the left; without room for the tree, ask for a scope."""
        place = self.places.row
        if self.screen.detail.has_focus:
            self.screen.leave_detail()
        elif self.places.has_focus and place is not None:
            if place.fold:
                self.fold(place.key, False)
            elif place.depth:
                self.places.to_parent()
            else:
                self.services.say("There is no pane to the left of the scopes, and nothing to fold.")
        elif self.screen.has_class("narrow"):
            await self._choose_scope()
        else:
            self.places.focus()

    def right(self) -> None:
        """Unfold the place in the tree, or focus the pane to the right."""
        if self.list.has_focus:
            self.screen.open_detail()
        elif self.places.has_focus:
            self.enter_place()
        else:
            self.services.say("There is no pane to the right of the memory.")

    # scopes

    def fold(self, key: str, unfolded: bool) -> None:
        """Fold or unfold a place of the tree."""
        self.places.fold(key, unfolded)
        self.relist()

    def enter_place(self) -> None:
        """Unfold the place under the cursor, or focus its list."""
        place = self.places.row
        if place is not None and place.fold is False:
            self.fold(place.key, True)
        else:
            self.list.focus()

    async def _choose_scope(self) -> None:
        rows = [(p.key, f"{'  ' * p.depth}{p.label}  {p.counted}") for p in self.places.unfolded()]
        key = await self.services.ask(Choice("Scope", rows, self.places.row_id))
        if key is not None:
            self.places.go_to(key)

    # order

    def sort(self) -> None:
        """Take the next order."""
        names = list(ORDERS)
        at = names.index(self.view.sort) if self.view.sort in names else -1
        self.order(names[(at + 1) % len(names)], False)

    def order(self, sort: str, reverse: bool) -> None:
        """Sort the list."""
        self.view.sort, self.view.reverse = sort, reverse
        self.list.redraw()
        self.relist()

    # marks

    def _why_no_mark(self) -> str:
        return "" if self.list.rows else "There is nothing here to mark."

    def mark_all(self) -> None:
        """Mark all listed memories; unmark everything if they all are marked."""
        self.screen.mark_all()
        if self.list.marks:
            self.services.say(f"{many(len(self.list.rows), 'memory', 'memories')} marked; escape unmarks.")
