"""The detail beside or below a list, whose edge can be dragged with the mouse."""

from dataclasses import dataclass

from textual import events
from textual.message import Message

from memtui.tui.widgets.detail import Detail


class SidePane(Detail):
    """A detail that posts where its left or upper edge, where it has one, is dragged to."""

    @dataclass
    class Dragged(Message):
        """The edge is dragged to this place on the screen, in cells; `dropped`: the button was released."""

        x: int
        y: int
        dropped: bool

    _held = False

    def _is_on_edge(self, event: events.MouseDown) -> bool:
        spacing = self.styles.border.spacing
        return (event.x == 0 and spacing.left > 0) or (event.y == 0 and spacing.top > 0)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take hold of the edge."""
        if self._is_on_edge(event):
            self._held = True
            self.capture_mouse()
            event.stop()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Post where the edge is dragged to."""
        if self._held:
            self.screen.clear_selection()  # Textual would select text meanwhile
            self.post_message(self.Dragged(event.screen_x, event.screen_y, dropped=False))

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Let the edge go."""
        if self._held:
            self._held = False
            self.release_mouse()
            self.post_message(self.Dragged(event.screen_x, event.screen_y, dropped=True))
