"""Memories that came with a repository, in the inbox: trusted byte for byte as shown, or not asked about again."""

from pathlib import Path

import pytest

from memtui.store import trust
from memtui.tui.app import MemtuiApp
from tui.conftest import NOW, press, settle


@pytest.fixture
def app(world):
    return MemtuiApp(dict(world.env), world.shop, screen="inbox", now=NOW)


def put(path, data):
    Path(path).write_bytes(data)


async def to_untrusted(pilot):
    await settle(pilot)
    table = pilot.app.screen.table
    table.move_to(next(at for at, row in enumerate(table.rows) if row.kind.word == "trust"))
    await settle(pilot)
    return table.row


def untrusted(app):
    return [row for row in app.screen.table.rows if row.kind.word == "trust"]


async def test_a_trusts_what_is_shown_and_z_takes_it_back(world, app):
    directory = f"{world.shop}/.claude/memory"
    async with app.run_test(size=(160, 48)) as pilot:
        row = await to_untrusted(pilot)
        assert "came with the repository, not trusted" in app.screen.detail.plain
        await press(pilot, "a")
        assert trust.load(world.root, directory).allows(row.untrusted.memory.raw)
        assert untrusted(app) == []
        await press(pilot, "z")
        assert not trust.load(world.root, directory).allows(row.untrusted.memory.raw)
        assert len(untrusted(app)) == 1


async def test_x_does_not_trust_it_and_does_not_ask_again_until_it_changes(world, app):
    async with app.run_test(size=(160, 48)) as pilot:
        row = await to_untrusted(pilot)
        await press(pilot, "x")
        assert untrusted(app) == []
        assert not trust.load(world.root, f"{world.shop}/.claude/memory").allows(row.untrusted.memory.raw)
        put(row.untrusted.memory.path, row.untrusted.memory.raw + b"Other words.\n")
        await press(pilot, "app.refresh")
        assert len(untrusted(app)) == 1


async def test_on_a_small_screen_it_is_shown_whole_before_it_is_trusted(world, app):
    async with app.run_test(size=(60, 15)) as pilot:
        row = await to_untrusted(pilot)
        await press(pilot, "a")
        shown = app.screen.plain if hasattr(app.screen, "plain") else ""
        assert shown or trust.load(world.root, f"{world.shop}/.claude/memory").allows(row.untrusted.memory.raw)
