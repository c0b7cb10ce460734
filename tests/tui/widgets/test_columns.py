"""The list of memories shows what there is room for, and its columns follow what stands in them."""

import pytest

from memtui.tui.app import MemtuiApp
from tui import stage
from tui.conftest import NOW, settle

SIZES = [(80, 24), (100, 24), (120, 40), (160, 48)]


@pytest.mark.every(step=4)
@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_columns_are_those_there_is_room_for(app, size):
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        table = app.screen.table
        head = stage.strips(app)[table.region.y].text[table.region.x : table.region.right]
        assert " ".join(head.replace("▴", "").strip("│ ").split()) == "type name what it says used"
        row = next(
            line for line in (strip.text[table.region.x :] for strip in stage.strips(app)) if "conventional" in line
        )
        assert "conventional-commits" in row or size < (160, 48)
        assert "Commit messages" in row


async def test_at_160_columns_descriptions_are_whole(app):
    async with app.run_test(size=(160, 48)) as pilot:
        await settle(pilot)
        shown = "\n".join(strip.text for strip in stage.strips(app))
        assert shown.count("Commit messages say why, in the imperative") == 1


async def test_the_memory_is_drawn_below_the_list_until_there_is_room_beside_it(app):
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        table, detail = app.screen.table, app.screen.query_one("#detail")
        assert detail.region.y >= table.region.bottom
        assert detail.region.x == app.screen.middle.region.x
        await pilot.resize_terminal(200, 48)
        await settle(pilot)
        assert detail.region.x >= table.region.right
        assert detail.region.y == app.screen.middle.region.y


@pytest.mark.parametrize(
    ("name", "size", "words"),
    [
        ("inbox", (80, 24), "agent reviewer"),
        ("inbox", (160, 48), "agent migrator@project"),
        ("activity", (160, 48), "files src/checkout/**"),
    ],
)
async def test_whom_a_row_is_for_is_whole_where_there_is_room(world, name, size, words):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen=name)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        assert any(words in strip.text for strip in stage.strips(app))
