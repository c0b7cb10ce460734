"""The terminal's own colours, where nothing can be mixed; and what the foot says of what was opened."""

import pytest

from . import stage
from .conftest import running

BLUE, BRIGHT_WHITE = 4, 15


def styles_of(app, y):
    return [segment.style for segment in stage.strips(app)[y] if segment.text.strip()]


@pytest.mark.every(step=1)
async def test_a_list_out_of_focus_shows_its_cursor_in_the_terminals_own_colours(app):
    app.theme = "ansi-dark"
    async with running(app, (120, 40)):
        places = app.screen.places
        assert not places.has_focus
        first = styles_of(app, places.content_region.y + places.cursor_row)[1]
        assert not first.bgcolor.is_default


async def test_a_dialog_has_an_edge_in_the_terminals_own_colours(app):
    app.theme = "ansi-dark"
    async with running(app, (120, 40), "m"):
        shown = [strip.text.strip() for strip in stage.strips(app)]
        assert any(line.startswith("╭") and line.endswith("╮") for line in shown)
