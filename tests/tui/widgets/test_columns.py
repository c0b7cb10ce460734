"""The list of memories shows what there is room for, and its columns follow what stands in them."""

import pytest

from memtui.tui.app import MemtuiApp
from tui import stage
from tui.conftest import NOW, running, settle

SIZES = [(80, 24), (100, 24), (120, 40), (160, 48)]


@pytest.mark.slow
@pytest.mark.every(step=4)
@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_columns_are_those_there_is_room_for(app, size):
    async with running(app, size):
        table = app.screen.table
        head = stage.strips(app)[table.region.y].text[table.region.x : table.region.right]
        assert " ".join(head.replace("▴", "").strip("│ ").split()) == "type name what it says used"
        row = next(
            line for line in (strip.text[table.region.x :] for strip in stage.strips(app)) if "conventional" in line
        )
        assert "conventional-commits" in row or size < (160, 48)
        assert "Commit messages" in row


@pytest.mark.slow
@pytest.mark.every(step=4)
@pytest.mark.parametrize("name", ["memories", "inbox", "activity", "setup"])
async def test_the_detail_is_below_the_list_until_there_is_room_beside_it(world, name):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen=name)
    async with running(app, (120, 36)) as pilot:
        list_pane, detail = app.screen.middle, app.screen.detail
        assert detail.region.y == list_pane.region.bottom
        assert detail.region.width == list_pane.region.width
        assert detail.size.height >= 8
        await pilot.resize_terminal(160, 48)
        await settle(pilot)
        assert detail.region.x == list_pane.region.right
        assert detail.region.y == list_pane.region.y
        titles = {column.title for column in app.screen.table.columns} - {"for"}  # the detail says it too
        head = stage.strips(app)[app.screen.table.region.y].text
        assert all(title in head for title in titles) or not app.screen.table.header
