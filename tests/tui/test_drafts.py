"""What is typed in a form is on the disk soon, and before memtui is left."""

import glob

import pytest

from memtui.core import fs, memory
from memtui.tui.app import MemtuiApp
from memtui.tui.screens.memory_conflict import Conflict
from memtui.tui.widgets.ask import Options
from memtui.tui.widgets.body import Body

from .conftest import NOW, settle

SIZE = (120, 40)
# The screen, and the row under the cursor that the key opens a form of.
FORMS = (
    ("guidance", "g", lambda row: True),
    ("inbox", "e", lambda row: row.item is not None and row.item.kind == "items"),
    ("inbox", "e", lambda row: row.item is not None and row.item.kind == "updates"),
    ("memories", "e", lambda row: row[1].memory.stem == "prefer-pnpm"),
)
NAMES = ("guidance", "item", "draft", "memory")


def kept(world):
    return "".join(fs.read_bytes(path).decode() for path in glob.glob(world.root + "/drafts/*.json"))


async def opened(pilot, key, fits):
    await settle(pilot)
    table = pilot.app.screen.query_one("#list")
    table.move_to(next(at for at, row in enumerate(table.rows) if fits(row)))
    await settle(pilot)
    await pilot.press(key)
    await settle(pilot)
    body = pilot.app.screen.query_one(Body)
    body.focus()
    return body


@pytest.mark.parametrize(("screen", "key", "fits"), FORMS, ids=NAMES)
async def test_who_types_without_a_pause_is_kept_as_well(world, screen, key, fits):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen=screen)
    async with app.run_test(size=SIZE) as pilot:
        body = await opened(pilot, key, fits)
        for _ in range(12):
            body.insert("~")
            await pilot.pause(0.1)
        assert "~~~~~" in kept(world)


@pytest.mark.parametrize(("screen", "key", "fits"), FORMS, ids=NAMES)
async def test_ctrl_q_in_a_form_keeps_what_was_typed_just_before(world, screen, key, fits):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen=screen)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot, key, fits)
        await pilot.press(*"hurried", "ctrl+q")
    assert "hurried" in kept(world)


async def test_what_changes_while_both_are_shown_is_shown_before_it_is_written_over(world, app):
    path = world.shop + "/.claude/memory/prefer-pnpm.md"
    async with app.run_test(size=SIZE) as pilot:
        body = await opened(pilot, "e", FORMS[3][2])
        body.insert("Mine. ")
        fs.write_atomic(path, fs.read_bytes(path) + b"Theirs.\n")
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert isinstance(app.screen, Conflict)
        newest = fs.read_bytes(path) + b"Theirs again.\n"
        fs.write_atomic(path, newest)
        app.screen.query_one(Options).move_to(1)  # mine
        await pilot.press("enter")
        await settle(pilot)
        assert fs.read_bytes(path) == newest
        assert isinstance(app.screen, Conflict)
        assert b"Theirs again." in app.screen.theirs.raw
        app.screen.query_one(Options).move_to(1)
        await pilot.press("enter")
        await settle(pilot)
        assert "Mine." in memory.read_memory(path).body
