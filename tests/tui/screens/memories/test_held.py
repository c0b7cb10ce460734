"""How often the agent kept the rules of a memory: its column, its order, its detail, and the way to the break."""

import os

from memtui.rules import counts_file
from memtui.tui.app import MemtuiApp
from tui.conftest import NOW, press, running, until
from tui.hands import detail, names, stand_on

COMMAND = "npm install --registry https://mirror.shop.example"


def titles(app):
    return [column.title for column in app.screen.table.columns]


def held(app, name):
    row = next(pair for pair in app.screen.table.rows if pair[1].memory.name == name)
    return app.screen.table._cells(row)[5].plain


async def test_the_column_its_order_and_its_filter(app):
    async with running(app, (80, 24)) as pilot:
        assert (held(app, "prefer-pnpm"), held(app, "editor")) == ("31/32", "")
        await press(pilot, *"ssss")
        assert "held▴" in titles(app)
        assert names(app)[:3] == ["conventional-commits", "prefer-pnpm", "release-steps"]
        app.screen.show_query("is:unkept")
        assert names(app) == ["conventional-commits", "prefer-pnpm"]


async def test_without_counted_rules_there_is_no_column(app, world):
    os.unlink(f"{world.root}/{counts_file.FILE}")
    async with running(app, (120, 40)) as pilot:
        assert "held" not in titles(app)
        await press(pilot, *"ssss")
        assert app.screen.table.order == "flags"
        await stand_on(pilot, "prefer-pnpm")
        assert "never npm *, instead pnpm *" in detail(app)
        assert "kept" not in detail(app)


async def test_a_list_without_a_width_has_as_many_columns_as_cells(app):
    async with running(app, (20, 5)) as pilot:
        table = app.screen.table
        await until(pilot, lambda: table.has_rules and app.screen.reader.loaded)
        table.styles.width = 0
        await pilot.pause()
        assert table.scrollable_content_region.width < 1
        app.screen.reader._hold({})
        assert [len(table._cells(row)) for row in table.rows] == [len(table.columns)] * len(table.rows)


async def test_activity_lists_breaks_and_what_was_kept_after_a_delivery(world):
    app = MemtuiApp(dict(world.env), world.shop, screen="activity", now=NOW)
    async with running(app, (120, 40)) as pilot:
        app.screen.show_query("is:broken memory:prefer-pnpm")
        await until(pilot, lambda: len(app.screen.table.rows) == 2)
        session, broken = app.screen.table.rows
        assert "broke 1 rule" in session.cells(app.screen.listing)[2].plain
        assert "prefer-pnpm" in broken.describe(app.screen.listing).text.plain
        app.screen.show_query(f"session:{session.session} kind:index")
        await until(pilot, lambda: len(app.screen.table.rows) == 2)
        text = app.screen.table.rows[1].describe(app.screen.listing).text.plain
        assert "prefer-pnpm: never npm *, instead pnpm *, kept 7 of 8" in text
        assert f"✗ 4d ago: {COMMAND}" in text
