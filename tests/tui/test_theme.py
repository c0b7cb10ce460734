"""The terminal's own colours, where nothing can be mixed; and what the foot says of what was opened."""

import pytest

from . import stage
from .conftest import settle

BLUE, BRIGHT_WHITE = 4, 15


def styles_of(app, y):
    return [segment.style for segment in stage.strips(app)[y] if segment.text.strip()]


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light"])
async def test_on_the_cursors_row_nothing_is_dim_or_coloured_in_the_terminals_own_colours(app, theme):
    app.theme = theme
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        table = app.screen.table
        found = styles_of(app, table.region.y + table.cursor_row)
        assert not any(style.dim for style in found)
        assert {(style.color.number, style.bgcolor.number) for style in found} == {(BRIGHT_WHITE, BLUE)}


async def test_a_list_out_of_focus_still_shows_its_cursor_in_the_terminals_own_colours(app):
    app.theme = "ansi-dark"
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        places = app.screen.places
        assert not places.has_focus
        first = styles_of(app, places.content_region.y + places.cursor_row)[1]
        assert not first.bgcolor.is_default


@pytest.mark.slow
async def test_a_dialog_has_an_edge_in_the_terminals_own_colours(app):
    app.theme = "ansi-dark"
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("m")
        await settle(pilot)
        shown = [strip.text.strip() for strip in stage.strips(app)]
        assert any(line.startswith("╭") and line.endswith("╮") for line in shown)


@pytest.mark.slow
@pytest.mark.every(step=3)
@pytest.mark.parametrize("screen", ["1", "2", "4"])
async def test_the_foot_says_that_escape_goes_back_from_what_was_opened_over_a_list(app, screen):
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press(screen)
        await settle(pilot)
        assert "escape back" not in stage.strips(app)[-1].text
        await pilot.press("enter")
        await settle(pilot)
        assert stage.strips(app)[-1].text.startswith(" escape back ")
        await pilot.press("escape")
        await settle(pilot)
        assert "escape back" not in stage.strips(app)[-1].text
