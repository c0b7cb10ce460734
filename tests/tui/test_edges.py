"""The keys of a list or text: g and G, half pages."""

import pytest

from .conftest import settle


@pytest.mark.slow
async def test_half_a_page_and_the_ends_of_a_list_and_of_a_text(app):
    async with app.run_test(size=(80, 12)) as pilot:
        await settle(pilot)
        table = app.screen.table
        half = (table.size.height - 1) // 2
        await pilot.press("ctrl+d")
        assert table.cursor == min(half, len(table.rows) - 1) > 0
        await pilot.press("ctrl+u")
        assert table.cursor == 0
        await pilot.press("G")
        assert table.cursor == len(table.rows) - 1 > 0
        await pilot.press("g")
        assert table.cursor == 0
        app.action_run("list.open")
        await settle(pilot)
        detail = app.screen.detail
        await pilot.press("ctrl+d")
        await settle(pilot)
        assert detail.scroll_y == min(detail.size.height // 2, detail.max_scroll_y) > 0
        await pilot.press("G")
        await settle(pilot)
        assert detail.scroll_y == detail.max_scroll_y > 0
        await pilot.press("g")
        await settle(pilot)
        assert detail.scroll_y == 0
        assert app.screen.detail_covers_list


@pytest.mark.slow
async def test_g_scrolls_a_dialog(app):
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("question_mark", "G")
        await settle(pilot)
        pane = app.focused
        assert pane.scroll_y > 0
        await pilot.press("g")
        await settle(pilot)
        assert pane.scroll_y == 0
