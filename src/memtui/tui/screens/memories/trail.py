"""Reading one memory after another: searching the texts, following links, and the way back."""

from collections.abc import Callable
from dataclasses import dataclass

from memtui.present import safe_text
from memtui.tui.dialogs.ask import Choice
from memtui.tui.model import fuzzy
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.screens.memories.reading import MemoryReader
from memtui.tui.screens.memories.rows import Pair
from memtui.tui.screens.memories.tree import ScopeTree
from memtui.tui.services import Command, Services, first_of


@dataclass
class Step:
    """How the person came to the memory `at`; `query` are the words that were sought there."""

    at: str
    back: Callable[[], object]
    query: str = ""


class Trail:
    """The way from memory to memory, on the screen and what was read. `go_to` puts the cursor on a memory."""

    def __init__(
        self,
        services: Services,
        screen: ListScreen[Pair],
        places: ScopeTree,
        reader: MemoryReader,
        go_to: Callable[[str], None],
    ) -> None:
        self.services, self.screen, self.places, self.reader, self.go_to = services, screen, places, reader, go_to
        self.steps: list[Step] = []

    def table(self, some: Callable[[], str]) -> dict[str, Command]:
        """Action id to command; `some`: why nothing can be done where nothing is chosen."""
        return {
            "memories.search": Command(self.search),
            "memories.follow": Command(self.follow, first_of(some, self._why_no_link)),
        }

    @property
    def sought(self) -> str:
        """The words that were sought, on the memory that they led to."""
        return self.steps[-1].query if self.steps and self.steps[-1].at == self.screen.table.row_id else ""

    def step_back(self) -> bool:
        """Go back to where the person came from; False if the cursor is elsewhere by now."""
        if self.steps and self.steps[-1].at == self.screen.table.row_id:
            self.steps.pop().back()
            return True
        self.steps.clear()
        return False

    def _read(self, path: str) -> None:
        """Show a memory with the keys on its text, at the first of the words that were sought."""
        self.go_to(path)
        self.screen.deepen()
        self.screen.show_detail()
        if self.sought:
            detail = self.screen.detail
            detail.reveal(min((start for start, _ in fuzzy.spans(detail.plain, self.sought)), default=0))

    # search

    async def search(self) -> None:
        """Search the texts."""
        place, path = self.places.row_id, self.screen.table.row_id

        def left() -> None:
            self.screen.leave_detail()
            self.places.go_to(place)
            if path:
                self.go_to(path)
            self.screen.table.focus()

        await self._search("", "", left)

    async def _search(self, query: str, at: str, left: Callable[[], None]) -> None:
        from memtui.tui.screens.memories.search import Search

        dialog = Search(self.reader.rows, query, at)
        path = await self.services.ask(dialog)
        if path:
            words = dialog.query_text

            def back() -> None:
                self.services.start(self.screen, self._search(words, path, left), "memories.search")

            self.steps.append(Step(path, back, words))
            self._read(path)
        elif query:  # from the hits back to where the search began
            left()

    # links

    def links(self) -> list[tuple[str, str]]:
        """(path, words) of the memories that the one under the cursor links to, and of those that link to it."""
        pair = self.screen.table.row
        if pair is None:
            return []
        scope, row = pair
        here = {row.memory.stem, row.memory.name}
        found: dict[str, str] = {}
        for other in self.reader.rows.get(scope.label, []):
            if other is row:
                continue
            if {other.memory.stem, other.memory.name} & set(row.memory.links):
                found.setdefault(other.memory.path, f"→ {safe_text.line(other.memory.name, 80)}")
            elif here & set(other.memory.links):
                found.setdefault(other.memory.path, f"← {safe_text.line(other.memory.name, 80)}")
        return sorted(found.items(), key=lambda each: each[1].startswith("←"))

    def _why_no_link(self) -> str:
        return "" if self.links() else "This memory links to no other that is there, and none links to it."

    async def follow(self) -> None:
        """To a memory that this one links to, or that links to it; escape comes back."""
        here, links = self.screen.table.row_id, self.links()
        path = links[0][0] if len(links) == 1 else await self.services.ask(Choice("Follow", links))
        if path:
            self.steps.append(Step(path, lambda: self._read(here)))
            self._read(path)
