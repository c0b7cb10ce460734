"""The split between list and detail: by keys, by the mouse, and remembered."""

import pytest
from textual.widget import Widget

from memtui.tui.app import MemtuiApp

from .conftest import NOW, settle


def cells(app):
    """Of the list and the detail, across or down."""
    sizes = app.screen.table.size, app.screen.detail.size
    return [size.height if app.screen.split.is_stacked else size.width for size in sizes]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["inbox", "activity", "setup", "memories", "consolidate", "recall"])
async def test_keys_move_the_split_and_the_next_start_finds_it_there(world, name):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen=name)
    async with app.run_test(size=(160, 40)) as pilot:
        await settle(pilot)
        at_rest = cells(app)
        await pilot.press("less_than_sign", "less_than_sign")
        await settle(pilot)
        moved = cells(app)
        assert moved[0] < at_rest[0]
        assert moved[1] > at_rest[1]
        await pilot.press("greater_than_sign")
        await settle(pilot)
        assert at_rest[0] > cells(app)[0] > moved[0]
        await pilot.press("less_than_sign")
    again = MemtuiApp(dict(world.env), world.shop, now=NOW, screen=name)
    async with again.run_test(size=(160, 40)) as pilot:
        await settle(pilot)
        assert cells(again) == moved
        await pilot.press("enter", *(["o"] if name in {"inbox", "memories", "recall"} else []))
        await settle(pilot)
        if again.screen.has_class("whole"):
            assert again.screen.detail.size.width > 140
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        assert again.screen.detail.size.width > 70


@pytest.mark.slow
async def test_the_edge_is_dragged_and_selects_no_text(world):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen="inbox")
    async with app.run_test(size=(160, 40)) as pilot:
        await settle(pilot)
        edge = app.screen.detail.region.x
        await pilot.mouse_down(offset=(edge, 10))
        await pilot.hover(offset=(100, 12))
        await settle(pilot)
        assert app.screen.detail.region.x == 100
        await pilot.mouse_up(offset=(112, 12))
        await settle(pilot)
        assert app.screen.detail.region.x == 112
        assert not app.screen.selections
        await pilot.hover(offset=(60, 12))
        await settle(pilot)
        assert app.screen.detail.region.x == 112
        assert app.screen.split.percent == 30


@pytest.mark.slow
async def test_the_edge_of_a_detail_below_the_list_is_dragged(world):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        region = app.screen.detail.region
        assert app.screen.split.is_stacked
        await pilot.mouse_down(offset=(60, region.y))
        await pilot.mouse_up(offset=(60, 12))
        await settle(pilot)
        assert app.screen.detail.size.height > region.height
        assert app.screen.split.percent == 70


async def test_a_small_screen_has_no_split_and_says_so(world):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("less_than_sign")
        await settle(pilot)
        assert any("nothing to move" in note.message for note in app._notifications)


@pytest.mark.slow
async def test_a_key_of_the_filter_lays_nothing_out_again(world, monkeypatch):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW)
    async with app.run_test(size=(160, 40)) as pilot:
        await settle(pilot)
        await pilot.press("less_than_sign", "slash", "e")
        await settle(pilot)
        laid_out, refresh = [], Widget.refresh

        def watched(widget, *regions, layout=False, **rest):
            laid_out.extend([widget] * layout)
            return refresh(widget, *regions, layout=layout, **rest)

        monkeypatch.setattr(Widget, "refresh", watched)
        await pilot.press("n", "backspace")
        await settle(pilot)
        assert not laid_out
