"""The commands of the Memories screen that change no file: panes, scopes, order, links."""

from collections.abc import Callable
from dataclasses import dataclass

from memtui.tui.dialogs.ask import Choice
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.screens.memories.detail import MemoryDetail
from memtui.tui.screens.memories.reader import MemoryReader
from memtui.tui.screens.memories.rows import ORDERS, MemoryTable, Pair
from memtui.tui.screens.memories.tree import ScopeTree
from memtui.tui.services import Command, Services, first_of


@dataclass
class MemoryNavigation:
    """The commands. `relist` shows the list again; `steps`: links that were followed, as (from, to)."""

    services: Services
    screen: ListScreen[Pair]
    memories: MemoryTable
    places: ScopeTree
    reader: MemoryReader
    details: MemoryDetail
    go_to: Callable[[str], None]
    relist: Callable[[], None]

    def __post_init__(self) -> None:
        self.steps: list[tuple[str, str]] = []

    def table(self, why_none: Callable[[], str]) -> dict[str, Command]:
        return {
            "list.left": Command(self.left),
            "list.right": Command(self.right),
            "memories.sort": Command(self.sort),
            "memories.follow": Command(self.follow, first_of(why_none, self._why_no_link)),
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
            rows = [(p.key, f"{'  ' * p.depth}{p.label}  {p.counted}") for p in self.places.unfolded()]
            key = await self.services.ask(Choice("Choose a scope", rows, self.places.row_id))
            if key is not None:
                self.places.go_to(key)
        else:
            self.places.focus()

    def right(self) -> None:
        """Unfold the place in the tree, or focus the pane to the right."""
        if self.memories.has_focus:
            self.screen.open_detail()
        elif self.places.has_focus:
            self.enter_place()
        else:
            self.services.say("There is no pane to the right of the memory.")

    def fold(self, key: str, unfolded: bool) -> None:
        self.places.fold(key, unfolded)
        self.relist()

    def enter_place(self) -> None:
        """Unfold the place under the cursor, or focus its list."""
        place = self.places.row
        if place is not None and place.fold is False:
            self.fold(place.key, True)
        else:
            self.memories.focus()

    # order

    def sort(self) -> None:
        names = [*ORDERS]
        self.memories.order = names[(names.index(self.memories.order) + 1) % len(names)]
        self.memories.redraw()
        self.relist()

    # links

    def links(self) -> list[tuple[str, str]]:
        """Return (path, words) of the memories that this one links to, then of the others that link to it."""
        links = self.details.links(self.memories.row) if self.memories.row is not None else []
        return [*reversed(dict(reversed(links)).items())]

    def _why_no_link(self) -> str:
        return "" if self.links() else "This memory links to no other that is there, and none links to it."

    async def follow(self) -> None:
        """Go to a memory that this one links to, or that links to it; escape comes back."""
        here, links = self.memories.row_id, self.links()
        path = links[0][0] if len(links) == 1 else await self.services.ask(Choice("Follow", links))
        if path:
            self.steps.append((here, path))
            self._read(path)

    def step_back(self) -> bool:
        """Go back over the link followed last; if the cursor has left its end, forget all links and return False."""
        if self.steps and self.steps[-1][1] == self.memories.row_id:
            self._read(self.steps.pop()[0])
            return True
        self.steps.clear()
        return False

    def _read(self, path: str) -> None:
        self.go_to(path)
        self.screen.open_detail()
        self.screen.show_detail()
