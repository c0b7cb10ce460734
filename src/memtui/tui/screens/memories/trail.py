"""Links: the command that leads from one memory to another, and the way back."""

from collections.abc import Callable
from dataclasses import dataclass

from memtui.present import safe_text
from memtui.tui.dialogs.ask import Choice
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.screens.memories.reading import MemoryReader
from memtui.tui.screens.memories.rows import Pair
from memtui.tui.screens.memories.tree import ScopeTree
from memtui.tui.services import Command, Services, first_of


@dataclass
class Step:
    """A step to the memory `at` (its path): `back` undoes it."""

    at: str
    back: Callable[[], object]


class Trail:
    """The steps from memory to memory, and the commands that add one. `go_to` puts the cursor on a memory."""

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

    def table(self, why_none: Callable[[], str]) -> dict[str, Command]:
        """Return command by action id; `why_none`: why no memory is chosen."""
        return {
            "memories.follow": Command(self.follow, first_of(why_none, self._why_no_link)),
        }

    def step_back(self) -> bool:
        """Undo the last step; if the cursor is not on its memory any more, forget all steps and return False."""
        if self.steps and self.steps[-1].at == self.screen.table.row_id:
            self.steps.pop().back()
            return True
        self.steps.clear()
        return False

    def _read(self, path: str) -> None:
        """Focus the text of a memory."""
        self.go_to(path)
        self.screen.open_detail()
        self.screen.show_detail()

    # links

    def links(self) -> list[tuple[str, str]]:
        """Return (path, words) of the memories that this one links to, then of those that link to it."""
        pair = self.screen.table.row
        if pair is None:
            return []
        scope, row = pair
        found: dict[str, str] = {}
        for other in self.reader.rows.get(scope.label, []):
            if other is row:
                continue
            if row.memory.links_to(other.memory):
                found.setdefault(other.memory.path, f"→ {safe_text.line(other.memory.name, 80)}")
            elif other.memory.links_to(row.memory):
                found.setdefault(other.memory.path, f"← {safe_text.line(other.memory.name, 80)}")
        return sorted(found.items(), key=lambda each: each[1].startswith("←"))

    def _why_no_link(self) -> str:
        return "" if self.links() else "This memory links to no other that is there, and none links to it."

    async def follow(self) -> None:
        """Go to a memory that this one links to, or that links to it; escape comes back."""
        here, links = self.screen.table.row_id, self.links()
        path = links[0][0] if len(links) == 1 else await self.services.ask(Choice("Follow", links))
        if path:
            self.steps.append(Step(path, lambda: self._read(here)))
            self._read(path)
