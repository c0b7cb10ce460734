"""Two texts beside each other, each wrapped to its half."""

import itertools

from rich import get_console
from rich.text import Text

GAP = " │ "


def side_by_side(left: Text, right: Text, width: int) -> Text:
    """Put two texts side by side, in so many cells."""
    room = (width - len(GAP)) // 2
    sides = [list(each.wrap(get_console(), room, overflow="fold")) for each in (left, right)]
    text = Text()
    for one, other in itertools.zip_longest(*sides, fillvalue=Text()):
        text.append_text(one).append(" " * (room - one.cell_len) + GAP, style="dim").append_text(other)
        text.append("\n")
    return text
