"""A scrolled widget that draws its own lines: their number may change without anything being laid out anew."""

from textual.geometry import Size
from textual.scroll_view import ScrollView


class Lines(ScrollView):
    """`sized` tells how many lines there are."""

    DEFAULT_CSS = "Lines { scrollbar-size-vertical: 1; overflow-x: hidden; }"

    def sized(self, height: int) -> None:
        """There are so many lines. Only where the scroll bar comes or goes the screen is laid out
        anew, which costs more than all lines."""
        size = Size(self.size.width, height)
        bar = self.show_vertical_scrollbar
        if size.width != self.virtual_size.width or bar != (height > self.size.height):
            self.virtual_size = size
            return
        self.set_reactive(ScrollView.virtual_size, size)
        if bar:
            self.vertical_scrollbar.window_virtual_size = height
        if self.scroll_y > self.max_scroll_y:
            self.scroll_to(y=self.max_scroll_y, animate=False, force=True)
