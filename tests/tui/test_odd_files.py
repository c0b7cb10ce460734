"""Settings and inboxes as nobody should have them: the TUI starts, goes on, and says what is wrong."""

import shutil
from pathlib import Path

import pytest

from memtui.base import fs_hot, paths_hot
from memtui.client import locate_hot
from memtui.tui.app import MemtuiApp
from tables import rows
from tui.conftest import press, running


def settings(world, text):
    path = Path(world.root, "config.toml")
    path.write_text(text)
    path.chmod(0o600)


@pytest.mark.slow
@pytest.mark.every(step=3)
@pytest.mark.parametrize("text", rows(__file__, "settings of a wrong kind are passed over"))
async def test_settings_of_a_wrong_kind_are_passed_over(world, text):
    settings(world, text)
    app = MemtuiApp(dict(world.env), world.shop)
    async with running(app, (80, 24), "4") as pilot:
        findings = [row.words for row in app.screen.table.rows if row.kind == "finding"]
        assert any("must " in words or "is no table of a project" in words for words in findings)
        await pilot.press("q")
    assert app.return_code == 0


async def test_keys_are_what_the_settings_say(world):
    settings(world, '[keys]\napp.quit = "f9"\n')
    app = MemtuiApp(dict(world.env), world.shop)
    async with running(app, (80, 24)) as pilot:
        await pilot.press("q")
        assert app.is_running
        await pilot.press("f9")
    assert app.return_code == 0


async def test_an_inbox_too_long_to_read_is_named_in_activity_and_in_health(world):
    path = Path(paths_hot.inbox_dir(world.root, paths_hot.project_key(world.shop)), "guidance.md")
    fs_hot.append(str(path), b"error: no such file\n" * 150_000)
    app = MemtuiApp(dict(world.env), world.shop)
    async with running(app, (160, 48), "3") as pilot:
        assert "guidance.md is larger than 1 MB" in app.screen.listing.problem
        await press(pilot, "4")
        assert any("guidance.md is larger than 1 MB" in row.words for row in app.screen.table.rows)


async def test_an_inbox_that_can_not_be_read_is_named_and_ends_nothing(world):
    directory = Path(paths_hot.inbox_dir(world.root, paths_hot.project_key(world.shop)))
    app = MemtuiApp(dict(world.env), world.shop)
    async with running(app, (120, 40)) as pilot:
        for name in ("guidance.md", "pending-updates.md", "pending-items.md"):
            (directory / name).unlink()
            (directory / name).mkdir()
            await press(pilot, "app.refresh")
            await press(pilot, "3" if name == "guidance.md" else "2")
            said = app.screen.listing.problem if name == "guidance.md" else app.screen.summary().plain
            assert f"{name} is a directory" in said
            assert app.screen.table.rows
            await press(pilot, "4")
            assert any("is a directory" in row.words for row in app.screen.table.rows if row.kind == "finding")
            await press(pilot, "c")
            assert app.is_running
            await press(pilot, "escape")
            (directory / name).rmdir()
            (directory / name).touch()


@pytest.mark.slow
@pytest.mark.every(step=2)
@pytest.mark.parametrize("happens", ["file", "directory"])
async def test_memories_that_go_after_they_were_listed_are_simply_not_there(app, world, monkeypatch, happens):
    walk = locate_hot.walk

    def walked(directory, *more):
        found = walk(directory, *more)
        for name, _ in found:
            path = Path(directory, name)
            if name == "prefer-pnpm.md" and happens == "file":
                path.unlink(missing_ok=True)
            elif happens == "directory" and path.parent.is_dir():
                shutil.rmtree(path.parent)
        return found

    async with running(app, (120, 40)) as pilot:
        before = names(app)
        assert "prefer-pnpm" in before
        monkeypatch.setattr(locate_hot, "walk", walked)
        await press(pilot, "app.refresh")
        assert "prefer-pnpm" not in names(app)
        assert happens == "directory" or set(names(app)) == set(before) - {"prefer-pnpm"}
        for key in ("2", "3", "4", "v", "1", "p", "n", "escape", "u", "escape"):
            await press(pilot, key)
        assert app.screen.group == "memories"


def names(app):
    """The memories of the list."""
    return [row.memory.stem for _, row in app.screen.table.rows]
