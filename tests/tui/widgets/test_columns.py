"""The list of memories shows what there is room for, and its columns follow what stands in them."""

import pytest

from memtui.tui.app import MemtuiApp
from memtui.tui.screens.memories import rows
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


async def test_at_160_columns_the_memories_say_no_less_than_at_120(app):
    sentences = []
    async with app.run_test(size=(120, 36)) as pilot:
        for size in ((120, 36), (160, 48), (200, 48)):
            await pilot.resize_terminal(*size)
            await settle(pilot)
            sentences.append(max(cells for _, _, cells in app.screen.table._columns_shown()))
    assert min(sentences) == sentences[0]


async def test_beside_the_detail_a_row_says_whom_it_is_for_unless_its_sentence_needs_the_room(world):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen="inbox")
    async with app.run_test(size=(160, 48)) as pilot:
        await settle(pilot)
        shown = [strip.text.split("││")[0].strip("│ ") for strip in stage.strips(app)]
        short = next(line for line in shown if "Metric units" in line)
        long = next(line for line in shown if line.startswith("fix      project shop"))
        assert "  global  " in short
        assert "old-wiki.md (1 more problem)" in long
        assert not any("…" in line for line in shown if line.startswith("fix "))


async def test_the_names_of_the_scopes_are_whole_beside_the_list(app):
    async with app.run_test(size=(160, 48)) as pilot:
        await settle(pilot)
        beside = [strip.text[:28] for strip in stage.strips(app)[2:-2]]
        assert any(" other projects " in line for line in beside)


async def test_the_column_of_scopes_names_them_as_elsewhere(app):
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await pilot.press("p")
        await settle(pilot)
        shown = "\n".join(strip.text for strip in stage.strips(app))
        scopes = {app.screen._draw(pair)[-1].plain for pair in app.screen.table.rows}
        assert {"auto shop", "project shop", "agent reviewer", "auto blog", "global"} <= scopes
        assert "agent reviewer " in shown
        assert "agent migrator@project" in shown


def test_a_long_name_has_at_most_a_third_of_the_list():
    shown = rows.fitted(rows.columns("name"), 66, longest_name=44)
    assert next(column.width for column in shown if column.title.startswith("name")) == 22


@pytest.mark.parametrize(
    ("name", "size", "words"),
    [
        ("inbox", (80, 24), " agent migrator@project "),
        ("inbox", (120, 36), "agent migrator@project"),
        ("activity", (80, 24), "agent night-shift"),
        ("activity", (120, 36), "files src/checkout/**"),
    ],
)
async def test_whom_a_row_is_for_is_whole_where_there_is_room(world, name, size, words):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen=name)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        assert any(words in strip.text for strip in stage.strips(app))


@pytest.mark.every(step=4)
@pytest.mark.parametrize("name", ["memories", "inbox", "activity", "setup"])
async def test_the_detail_is_below_the_list_until_one_beside_it_has_room_for_sentences(world, name):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen=name)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
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


async def test_the_detail_below_the_list_stays_where_it_is_while_one_row_comes_off(world):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen="inbox")
    async with app.run_test(size=(120, 60)) as pilot:
        await settle(pilot)
        before, rows = app.screen.detail.region, len(app.screen.table.rows)
        await pilot.press("x", "w", "escape", "slash", *"pnpm")
        await settle(pilot)
        assert len(app.screen.table.rows) < rows - 1
        assert app.screen.detail.region == before
