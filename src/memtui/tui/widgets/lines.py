"""The number of lines of a widget that draws its lines itself, changed without a new layout where possible."""

from textual.geometry import Size
from textual.scroll_view import ScrollView


def resize(view: ScrollView, height: int) -> None:
    """Give a widget `height` lines. The screen is laid out again only where the scroll bar appears or disappears: that
    costs more than drawing all lines."""
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
