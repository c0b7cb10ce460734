"""The memory that an undo brings back: the cursor goes to it."""

from collections.abc import Sequence

from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.screens.memories.reading import MemoryReader
from memtui.tui.screens.memories.rows import Pair
from memtui.tui.services import Command, Services

# How long after the key a memory counts as brought back by it; later ones are somebody else's.
SECONDS = 3.0


class Returned:
    """The undo of the Memories screen."""

    def __init__(self, services: Services, screen: ListScreen[Pair], reader: MemoryReader) -> None:
        self.services, self.screen, self.reader = services, screen, reader
        self._before: set[str] | None = None  # the paths that were there before the undo

    def table(self) -> dict[str, Command]:
        """Return command by action id."""
        return {"app.undo": Command(self.undo)}

    def undo(self) -> None:
        """Undo the last change, and put the cursor on the memory that comes back."""
        if self.reader.loaded and not self.reader.unread:
            self._before = self._paths()
            self.screen.set_timer(SECONDS, self._forget)
        self.services.turn("undo")

    def look(self) -> None:
        """Let the cursor go to what has come back, if it is in the list that is shown next."""
        new = self._paths() - self._before if self._before is not None else set()
        if new:
            self._forget()
            self.screen.wanted = lambda pairs: _first(pairs, new)

    def _forget(self) -> None:
        self._before = None

    def _paths(self) -> set[str]:
        return {row.memory.path for _, row in self.reader.pairs()}


def _first(pairs: Sequence[Pair], paths: set[str]) -> int | None:
    return next((at for at, pair in enumerate(pairs) if pair[1].memory.path in paths), None)
