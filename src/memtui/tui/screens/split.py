"""The split of a screen between its list and its detail, moved by keys and with the mouse, and remembered."""

from typing import TYPE_CHECKING, Any

from memtui.tui.model.remembered import State

if TYPE_CHECKING:
    from textual.screen import Screen

    from memtui.tui.services import Services
    from memtui.tui.widgets.side_pane import SidePane

# The detail's part of the screen, in percent: the least, the most, what a key changes, and that below a list.
LEAST, MOST, STEP, BELOW = 20, 75, 5, 40
# The table of the remembered state: its keys are screens, with `STACKED` behind the name for a detail below the list.
TABLE, STACKED = "split", " stacked"


class Split:
    """The split of the screen with this name. `usual` is the width of its detail in percent where the person has chosen
    none."""

    def __init__(self, services: "Services", screen: "Screen[Any]", pane: "SidePane", name: str, usual: int) -> None:
        self.services, self.screen, self.pane, self.name, self.usual = services, screen, pane, name, usual
        found = State(services.data.root).get(TABLE)
        self._chosen = {key: part for key, part in found.items() if isinstance(part, int) and LEAST <= part <= MOST}
        self._arranged: tuple[str | None, str | None] = (None, None)

    @property
    def is_stacked(self) -> bool:
        """Whether the detail is below the list."""
        return self.screen.has_class("stacked")

    @property
    def is_there(self) -> bool:
        """Whether list and detail are both visible."""
        return not (self.screen.has_class("narrow") or self.screen.has_class("whole"))

    @property
    def _key(self) -> str:
        return self.name + STACKED * self.is_stacked

    @property
    def percent(self) -> int:
        """The detail's part of the screen."""
        return self._chosen.get(self._key, BELOW if self.is_stacked else self.usual)

    def why_not(self) -> str:
        """Return why there is no split to move; empty if there is one."""
        return "" if self.is_there else "The detail is not beside the list: there is nothing to move."

    def arrange(self) -> None:
        """Give list and detail the room that the person has chosen."""
        chosen = self._chosen.get(self._key) if self.is_there else None
        width = f"{chosen}%" if chosen is not None and not self.is_stacked else None
        rows = f"{100 - chosen}fr {chosen}fr" if chosen is not None and self.is_stacked else None
        if self._arranged == (width, rows):  # a style that is set lays the whole screen out again
            return
        self._arranged = width, rows
        self.pane.styles.width = width
        if rows is not None and self.pane.parent is not None:
            self.pane.parent.styles.grid_rows = rows

    def move(self, steps: int) -> None:
        """Move the split by steps to the left or up (-1), to the right or down (1)."""
        self._set(self.percent - steps * STEP)
        self._keep()

    def drag(self, x: int, y: int, *, dropped: bool) -> None:
        """Move the split to a place on the screen, in cells; remember it if it was `dropped` there."""
        size = self.screen.size
        self._set(100 - (100 * y // size.height if self.is_stacked else 100 * x // size.width))
        if dropped:
            self._keep()

    def _set(self, percent: int) -> None:
        self._chosen[self._key] = min(max(percent, LEAST), MOST)
        self.arrange()

    def _keep(self) -> None:
        root = self.services.data.root
        State(root, read_only=self.services.read_only).put(TABLE, {**State(root).get(TABLE), self._key: self.percent})
