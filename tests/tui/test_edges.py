"""The keys of a list or text: g and G, half pages."""

from .conftest import press, running


async def test_half_a_page_and_the_ends_of_a_list_and_of_a_text(app):
    async with running(app, (80, 12)) as pilot:
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
        await press(pilot, "enter")
        detail = app.screen.detail
        await press(pilot, "ctrl+d")
        assert detail.scroll_y == min(detail.size.height // 2, detail.max_scroll_y) > 0
        await press(pilot, "G")
        assert detail.scroll_y == detail.max_scroll_y > 0
        await press(pilot, "g")
        assert detail.scroll_y == 0
        assert app.screen.detail_covers_list
