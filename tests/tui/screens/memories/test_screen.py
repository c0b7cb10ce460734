"""The memories: what is shown of them, where the cursor goes, what is remembered."""

import glob
import json
import os

from memtui.base import paths_hot
from memtui.tui.app import MemtuiApp
from tui.conftest import NOW, press, running, settle, until
from tui.hands import exists, names, read, stand_on, write


async def test_the_order_goes_by_key_and_is_remembered(app, world):
    async with running(app, (120, 40)) as pilot:
        await pilot.press("s")
        assert names(app)[:2] == ["flaky-upload-test", "skip-code-review"]
        assert any(column.title == "age▴" for column in app.screen.table.columns)
        await pilot.press("slash", *"type:feedback", "enter")
    assert json.loads(read(world.root + "/run/tui.json"))["memories"] == {"sort": "age"}
    again = MemtuiApp(dict(world.env), world.shop, now=NOW)
    async with running(again, (120, 40)):
        assert again.screen.table.order == "age"
        assert again.screen.typed == again.screen.filter_line.value == ""  # the filter was for what was sought then


async def test_an_empty_scope_says_what_fills_it(app, world):
    for path in glob.glob(f"{world.config}/projects/{paths_hot.slug(world.shop)}/memory/*.md"):
        os.unlink(path)
    async with running(app, (120, 40)) as pilot:
        app.screen.places.go_to("auto")
        await settle(pilot)
        assert not app.screen.table.rows
        assert app.screen.table.empty.startswith("No memories in auto shop.\nClaude Code writes its own memories here")


async def test_a_change_while_reading_is_of_the_memory_read_not_of_the_marked(app, world):
    async with running(app, (80, 24)) as pilot:
        await pilot.press("A")
        marked = len(app.screen.table.marks)
        assert marked > 2
        await stand_on(pilot, "prefer-pnpm")
        await press(pilot, "enter", "x")
        assert not exists(world.shop + "/.claude/memory/prefer-pnpm.md")
        await pilot.press("escape")
        assert len(app.screen.table.marks) == marked - 1


async def test_a_change_from_outside_shows_by_itself_and_keeps_the_cursor(app, world):
    async with running(app, (120, 40)) as pilot:
        await stand_on(pilot, "release-steps")
        new = "---\nname: a-first-one\ndescription: new\ntype: tool\n---\nx\n"
        write(world.shop + "/.claude/memory/a-first-one.md", new)
        await until(pilot, lambda: "a-first-one" in names(app))
        assert app.screen.table.row[1].memory.stem == "release-steps"
