"""How often the agent kept the rules of a memory: its column, its order, its detail, and the way to the break."""

from kept_rules import COMMAND, hold
from memtui.tui.app import MemtuiApp
from tui.conftest import NOW, press, running, until
from tui.hands import detail, names, stand_on


def cells(app, name):
    row = next(pair for pair in app.screen.table.rows if pair[1].memory.name == name)
    return [cell.plain for cell in app.screen.table._cells(row)]


async def test_the_column_and_its_order(app, world, monkeypatch):
    hold(monkeypatch, world)
    async with running(app, (120, 40)) as pilot:
        assert "held" in [column.title for column in app.screen.table.columns]
        assert cells(app, "prefer-pnpm")[5] == "31/32"
        assert cells(app, "release-steps")[5] == ""
        await press(pilot, "s")
        assert "held▴" in [column.title for column in app.screen.table.columns]
        assert names(app)[0] == "prefer-pnpm"
        app.screen.show_query("is:unkept")
        assert names(app) == ["prefer-pnpm"]


async def test_without_counted_rules_there_is_no_column(app, world, monkeypatch):
    hold(monkeypatch, world)
    monkeypatch.setattr("memtui.rules.counts.held_by_path", lambda _: {})
    async with running(app, (120, 40)) as pilot:
        assert "held" not in [column.title for column in app.screen.table.columns]
        await press(pilot, "s")
        assert app.screen.table.order == "age"


async def test_enter_on_the_detail_opens_the_break_in_activity(app, world, monkeypatch):
    hold(monkeypatch, world)
    async with running(app, (80, 24)) as pilot:
        await stand_on(pilot, "prefer-pnpm")
        assert "kept 31 of 32 since 9 days (90% interval 90–99%) · before it: 6 of 20" in detail(app)
        await press(pilot, "enter", "enter")
        await press(pilot, "enter")
        await until(pilot, lambda: getattr(app.screen, "group", "") == "activity" and COMMAND in detail(app))
        assert app.screen.typed == f"session:{world.sessions['monday']}"
        assert app.screen.table.row.broken.memory == "prefer-pnpm"


async def test_activity_lists_breaks_and_what_was_kept_after_a_delivery(world, monkeypatch):
    hold(monkeypatch, world, hours=96.0)
    app = MemtuiApp(dict(world.env), world.shop, screen="activity", now=NOW)
    async with running(app, (120, 40)) as pilot:
        app.screen.show_query("is:broken")
        await until(pilot, lambda: len(app.screen.table.rows) == 2)
        session, broken = app.screen.table.rows
        assert "broke 1 rule" in session.cells(app.screen.listing)[2].plain
        assert "prefer-pnpm" in broken.describe(app.screen.listing).text.plain
        app.screen.show_query(f"session:{session.session} kind:index")
        await until(pilot, lambda: len(app.screen.table.rows) == 2)
        text = app.screen.table.rows[1].describe(app.screen.listing).text.plain
        assert "prefer-pnpm: never npm *, instead pnpm *, kept 1 of 2" in text
        assert f"✗ 4d ago: {COMMAND}" in text
