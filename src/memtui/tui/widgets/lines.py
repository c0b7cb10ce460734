"""How many lines a widget has that draws them itself: their number may change without anything being laid out anew."""

from textual.geometry import Size
from textual.scroll_view import ScrollView


def resize(view: ScrollView, height: int) -> None:
    """Let a widget have so many lines. Only where the scroll bar comes or goes the screen is laid out anew, which costs
    more than all lines."""
    size = Size(view.size.width, height)
    bar = view.show_vertical_scrollbar
    if size.width != view.virtual_size.width or bar != (height > view.size.height):
        view.virtual_size = size
        return
    view.set_reactive(ScrollView.virtual_size, size)
    if bar:
        view.vertical_scrollbar.window_virtual_size = height
    if view.scroll_y > view.max_scroll_y:
        view.scroll_to(y=view.max_scroll_y, animate=False, force=True)
