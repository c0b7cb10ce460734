"""What is done to memories: every flow on real files, one and many at once, there and back."""

import contextlib
import os
import stat

import pytest

from memtui.base import paths_hot
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.ask import Choice
from tui.conftest import NOW, burst, press, running, settle
from tui.hands import choose, everywhere, exists, project, read, stand_on, write


async def test_instructions_and_read_only_are_left_alone_and_say_why(world):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW)
    async with running(app, (120, 40)) as pilot:
        app.screen.places.go_to("instructions")
        await pilot.pause()
        for key in ("x", "e", "t", "P", "m"):
            await press(pilot, key)
            assert app.screen.group == "memories"
        assert exists(world.shop + "/CLAUDE.md")
    quiet = MemtuiApp(dict(world.env), world.shop, now=NOW, read_only=True)
    async with running(quiet, (120, 40)) as pilot:
        left = read(world.root + "/run/tui.json")
        quiet.screen.places.go_to("all")
        await pilot.pause()
        await stand_on(pilot, "prefer-pnpm")
        await press(pilot, "x", "e", "n", "s")
        assert quiet.screen.group == "memories"
        assert exists(project(world, "prefer-pnpm.md"))
    assert read(world.root + "/run/tui.json") == left


def _editor(tmp_path, text):
    script = tmp_path / "editor.sh"
    script.write_text("#!/bin/sh\n" + text)
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return str(script)


async def test_the_persons_editor_changes_the_file_and_an_error_changes_nothing(world, tmp_path, monkeypatch):
    monkeypatch.setattr(MemtuiApp, "suspend", lambda self: contextlib.nullcontext())
    env = {**world.env, "PATH": os.environ["PATH"], "VISUAL": _editor(tmp_path, 'sed -i s/Helix/Kakoune/ "$1"\n')}
    app = MemtuiApp(env, world.shop, now=NOW)
    async with running(app, (120, 40)) as pilot:
        await stand_on(pilot, "editor")
        await press(pilot, "E")
        assert read(everywhere(world, "editor.md")).startswith("I use Kakoune")
        await press(pilot, "z")
        assert read(everywhere(world, "editor.md")).startswith("I use Helix")
        app.data.env["VISUAL"] = _editor(tmp_path, 'test -s "$1" && : > "$1" || echo I use Vim > "$1"\n')
        await press(pilot, "E", "down", "down", "enter")
        assert read(everywhere(world, "editor.md")).startswith("I use Helix")
        await press(pilot, "E", "enter")
        assert read(everywhere(world, "editor.md")) == "I use Vim\n"
        await press(pilot, "z")
        app.data.env["VISUAL"] = _editor(tmp_path, 'echo lost > "$1"\nexit 1\n')
        await press(pilot, "E")
        assert read(everywhere(world, "editor.md")).startswith("I use Helix")


@pytest.mark.every(step=1)
async def test_a_file_that_changed_while_the_editor_was_open_is_not_overwritten(world, tmp_path, monkeypatch):
    monkeypatch.setattr(MemtuiApp, "suspend", lambda self: contextlib.nullcontext())
    path = paths_hot.config_dir(world.env) + "/memory/editor.md"
    script = f'echo theirs > {path}\necho mine > "$1"\n'
    env = {**world.env, "PATH": os.environ["PATH"], "VISUAL": _editor(tmp_path, script)}
    app = MemtuiApp(env, world.shop, now=NOW)
    async with running(app, (120, 40)) as pilot:
        await stand_on(pilot, "editor")
        await press(pilot, "E")
        assert "e goes on with it" in app.last_note
        assert read(path) == "theirs\n"
        await stand_on(pilot, "editor")
        await press(pilot, "e")  # mine is there as a draft
        assert app.screen.typed().values["raw"] == "mine\n"
        await press(pilot, "ctrl+s", "down", "enter")
        assert read(path) == "mine\n"


@pytest.fixture
def team(world):
    """A memory that a team shares in the shop."""
    path = f"{world.config}/projects/{paths_hot.slug(world.shop)}/memory/team/roll-out.md"
    os.makedirs(os.path.dirname(path))
    write(path, "---\nname: roll-out\ndescription: How we roll out\n---\nSlowly.\n")
    return path


async def test_what_a_team_shares_changes_after_it_was_said_that_others_get_it(app, team):
    async with running(app, (120, 40)) as pilot:
        await stand_on(pilot, "roll-out")
        for answer, there in (("escape", True), ("y", False)):
            await press(pilot, "x")
            assert isinstance(app.screen, Choice)
            assert "others will get this change" in app.screen.heading
            if answer == "escape":
                await press(pilot, "escape")
            else:
                await choose(pilot, "Change it for all")
                await settle(pilot)
            assert exists(team) is there
        await press(pilot, "z")
        assert exists(team)


async def test_fast_trash_keys_are_about_one_memory_after_the_other(app):
    async with running(app, (120, 40)) as pilot:
        paths = [row.memory.path for _, row in app.screen.table.rows[:4]]
        await burst(pilot, "x", "x", "x")
        assert [exists(path) for path in paths] == [False, False, False, True]
        assert not [note.message for note in app._notifications if note.severity == "error"]
        assert app.screen.table.row_id == paths[3]
