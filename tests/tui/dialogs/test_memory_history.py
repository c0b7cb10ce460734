"""H in Memories: the versions of a memory, what each changed, and the way back."""

import os
from pathlib import Path

import pytest

from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.dialog import Preview
from memtui.workspace import Workspace
from tui.conftest import NOW, press, settle


@pytest.fixture
def path(world):
    """A memory with two versions."""
    found = Path(world.shop) / ".claude" / "memory" / "prefer-pnpm.md"
    Workspace(dict(world.env), world.shop, by="cli", now=NOW).take_in()
    found.write_text(found.read_text() + "Somebody's words.\n")
    os.utime(found, (NOW - 100, NOW - 100))
    return found


async def open_history(app, pilot, path):
    await settle(pilot)
    app.go_to_memory(str(path))
    await settle(pilot)
    await press(pilot, "H")


async def test_versions_are_listed_compared_and_restored(app, path):
    async with app.run_test(size=(80, 24)) as pilot:
        await open_history(app, pilot, path)
        dialog = app.screen
        assert isinstance(dialog, Choice)
        assert dialog.values == ["2", "1"]
        assert "not seen yet" in dialog.rows[0][1]
        assert "+ Somebody's words." in dialog.about("2").plain
        await press(pilot, "down", "enter")
        assert isinstance(app.screen, Preview)
        assert "- Somebody's words." in app.screen.plain
        await press(pilot, "enter")
        if isinstance(app.screen, Preview):
            await press(pilot, "enter")
        assert "Somebody's words." not in path.read_text()
        await press(pilot, "z")
        assert "Somebody's words." in path.read_text()


async def test_versions_say_what_memtui_did_and_keep_the_name_before_a_rename(world, path):
    store = Workspace(dict(world.env), world.shop, by="cli", now=NOW).store()
    store.rename(store.find("prefer-pnpm"), "pp", seen=True)
    new = path.with_name("pp.md")
    app = MemtuiApp(dict(world.env), world.shop, now=NOW)
    async with app.run_test(size=(120, 40)) as pilot:
        await open_history(app, pilot, new)
        assert isinstance(app.screen, Choice)
        said = [row for _, row in app.screen.rows]
        assert said[0].startswith("  3   now  you, with memtui: renamed")
        assert said[-1].endswith("found on the first run, called prefer-pnpm")
        await press(pilot, "end", "enter")
        assert isinstance(app.screen, Preview)
        assert "+ name" not in app.screen.plain
        await press(pilot, "enter")
        if isinstance(app.screen, Preview):
            await press(pilot, "enter")
        assert "name: pp\n" in new.read_text()
        assert "Somebody's words." not in new.read_text()
        assert not path.exists()
