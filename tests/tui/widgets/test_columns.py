"""The list of memories shows what there is room for, and its columns follow what stands in them."""

from tui.conftest import press, running, settle
from tui.hands import lines


async def test_the_detail_is_below_the_list_until_there_is_room_beside_it(app):
    async with running(app, (120, 36)) as pilot:
        for place in "1234":
            await pilot.resize_terminal(120, 36)
            await press(pilot, place)
            list_pane, detail = app.screen.middle, app.screen.detail
            assert (detail.region.y, detail.region.width) == (list_pane.region.bottom, list_pane.region.width)
            assert detail.size.height >= 8
            await pilot.resize_terminal(200, 48)
            await settle(pilot)
            assert (detail.region.x, detail.region.y) == (list_pane.region.right, list_pane.region.y)
            titles = {column.title for column in app.screen.table.columns}
            head = lines(app)[app.screen.table.region.y]
            assert all(title in head for title in titles) or not app.screen.table.header
