"""Reading one memory after another: searching the texts, following links, and the way back."""

from collections.abc import Callable
from dataclasses import dataclass

from memtui import actions
from memtui.actions import Action
from memtui.present import safe_text
from memtui.tui.dialogs.ask import Choice
from memtui.tui.screens.memories.commands import Changes
from memtui.tui.widgets.detail import Detail

# The foot's order.
IN_LIST = ("edit", "new", "trash", "filter", "mark", "retype", "move", "sort", "attention")
WHILE_READ = ("edit", "next", "previous", "follow", "trash", "retype", "move")


@dataclass
class Step:
    """How the person came to the memory `at`; `query` are the words that were sought there."""

    at: str
    back: Callable[[], None]
    query: str = ""


class Reading(Changes):
    """The part of the screen that leads from memory to memory."""

    def __init__(self) -> None:
        super().__init__()
        self.trail: list[Step] = []

    def why_not(self, action_id: str) -> str:
        """What needs links."""
        reason = super().why_not(action_id)
        if not reason and action_id == "memories.follow" and not self.links():
            return "This memory links to no other that is there, and none links to it."
        return reason

    def footer_actions(self) -> list[Action]:
        """What can be done with the memory under the cursor, in the list or while it is read."""
        reading = self.query_one("#detail", Detail).has_focus
        order = list(WHILE_READ if reading else IN_LIST)
        pair = self.table.row
        if pair is not None and "U" in pair[1].letters:
            order.insert(1, "trust")
        if reading and not self.links():
            order.remove("follow")
        return [actions.get(f"memories.{verb}") for verb in order]

    @property
    def sought(self) -> str:
        """The words that were sought, on the memory that they led to."""
        return self.trail[-1].query if self.trail and self.trail[-1].at == self.table.row_id else ""

    def step_back(self) -> bool:
        """Go back to where the person came from; False if the cursor is elsewhere by now."""
        if self.trail and self.trail[-1].at == self.table.row_id:
            self.trail.pop().back()
            return True
        self.trail.clear()
        return False

    def read_it(self, path: str) -> None:
        """Show a memory with the keys on its text."""
        self.go_to(path)
        self.open_detail()

    def do_memories_next(self) -> None:
        """The next memory, also while one is read."""
        self.table.action_move(1)

    def do_memories_previous(self) -> None:
        """The memory before."""
        self.table.action_move(-1)

    # search

    def do_memories_search(self) -> None:
        """Search the texts."""
        place, path = self.places.row_id, self.table.row_id

        def left() -> None:
            self.remove_class("deep", "whole")
            self.show_lines()
            self.go_to_place(place)
            self.sift()
            if path:
                self.go_to(path)
            self.table.focus()

        self._search("", "", left)

    def _search(self, query: str, at: str, left: Callable[[], None]) -> None:
        from memtui.tui.screens.memories.search import Search

        screen = Search(self.rows, query, at)

        def then(path: str | None) -> None:
            if path:
                words = screen.query_text
                self.trail.append(Step(path, lambda: self._search(words, path, left), words))
                self.read_it(path)
            elif query:  # from the hits back to where the search began
                left()

        self.app.push_screen(screen, then)

    # links

    def links(self) -> list[tuple[str, str]]:
        """(path, words) of the memories that the one under the cursor links to, and of those that link to it."""
        pair = self.table.row
        if pair is None:
            return []
        scope, row = pair
        here = {row.memory.stem, row.memory.name}
        found: dict[str, str] = {}
        for other in self.rows.get(scope.label, []):
            if other is row:
                continue
            if {other.memory.stem, other.memory.name} & set(row.memory.links):
                found.setdefault(other.memory.path, f"→ {safe_text.line(other.memory.name, 80)}")
            elif here & set(other.memory.links):
                found.setdefault(other.memory.path, f"← {safe_text.line(other.memory.name, 80)}")
        return sorted(found.items(), key=lambda each: each[1].startswith("←"))

    def do_memories_follow(self) -> None:
        """To a memory that this one links to, or that links to it; escape comes back."""
        here, links = self.table.row_id, self.links()

        def then(path: str | None) -> None:
            if path:
                self.trail.append(Step(path, lambda: self.read_it(here)))
                self.read_it(path)

        if len(links) == 1:
            then(links[0][0])
        else:
            self.app.push_screen(Choice("Follow", links), then)
