"""Undo and redo of the application: never in the way, stopped at any change, and never of what others did unasked."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memtui.cli import parser
from memtui.tui.app import MemtuiApp
from tui.hands import choose, everywhere, exists, notes, project, read, stand_on, write

from .conftest import NOW, press, running, settle
from .screens.memories.test_bulk import MANY, crowd, files, left_alone, until  # noqa: F401  a fixture

ELSEWHERE = """
import os, sys
from memtui.store.journal import undo
from memtui.store.store import Store
by, now, what, *names = sys.argv[1:]
store = Store(dict(os.environ), os.getcwd(), by=by, now=lambda: float(now))
if what == "undo":
    undo.run(store.journal, "undo").first()
for name in names:
    store.delete(store.find(name))
"""


def elsewhere(world, by, *what):
    """Another process moves memories to the trash, or undoes something, just now."""
    env = {**world.env, "PATH": os.environ["PATH"], "PYTHONPATH": str(Path(parser.__file__).parents[2])}
    subprocess.run([sys.executable, "-c", ELSEWHERE, by, str(NOW), *what], env=env, cwd=world.shop, check=True)


async def test_what_another_control_room_did_meanwhile_is_asked_about(app, world):
    mine, other = project(world, "prefer-pnpm.md"), project(world, "release-steps.md")
    async with running(app, (80, 24)) as pilot:
        await stand_on(pilot, "prefer-pnpm")
        await press(pilot, "x")
        elsewhere(world, "tui", "delete", "project:release-steps")
        await press(pilot, "z")
        assert not exists(other)
        assert "release-steps" in app.screen.heading
        assert "from another TUI" in app.screen.heading
        await press(pilot, "j", "enter")
        assert exists(other)
        assert not exists(mine)
        await press(pilot, "z")  # one's own again
        assert exists(mine)
        await press(pilot, "U")
        assert [words.split()[1] for _, words in app.screen.rows[:2]] == ["TUI", "here"]


async def test_a_change_before_one_that_can_not_be_undone_is_asked_about(app, world):
    path = project(world, "prefer-pnpm.md")
    async with running(app, (80, 24)) as pilot:
        await stand_on(pilot, "prefer-pnpm")
        await press(pilot, "x")
        store = app.data.store()
        store.erase(store.find("project:release-steps"))
        await press(pilot, "z")
        assert not exists(path)
        assert app.screen.heading.startswith(
            "“delete project:release-steps for good” can't be undone. Undo the older change “"
        )
        await press(pilot, "j", "enter")
        assert exists(path)


async def test_every_key_of_a_burst_is_one_step(app, world):
    async with running(app, (120, 40)) as pilot:
        there = files(world)
        for name in ("prefer-pnpm", "release-steps", "payment-provider"):
            await stand_on(pilot, name)
            await press(pilot, "x")
        for _ in range(3):
            app.action_run("app.undo")
        await settle(pilot)
        assert files(world) == there
        for _ in range(2):
            app.action_run("app.redo")
        await settle(pilot)
        assert [exists(project(world, f"{name}.md")) for name in ("prefer-pnpm", "release-steps")] == [False, False]
        assert files(world) != there


async def test_a_burst_never_answers_a_question_that_nobody_could_read(app, world):
    async with running(app, (80, 24)) as pilot:
        elsewhere(world, "cli", "delete", "project:prefer-pnpm")
        for _ in range(3):
            app.action_run("app.undo")
        await settle(pilot)
        assert not exists(project(world, "prefer-pnpm.md"))
        assert app.screen.heading.startswith("Undo “")


async def finished(pilot, *keys):
    """Press keys, and wait until all changes are made."""
    await press(pilot, *keys)
    await until(pilot, lambda: not pilot.app.at_work)
    await settle(pilot)


async def stop(pilot):
    """Undo while another memtui writes, so that it takes long, and stop it; no other key changes anything meanwhile."""
    with pilot.app.data.journal().locked():
        await pilot.press("z")
        await until(pilot, lambda: pilot.app.at_work)
        await pilot.pause(0.05)
        assert pilot.app.screen.frame.status == f"0 of {MANY} undone, escape stops"
        await pilot.press("x")
        assert "Changes are being made" in notes(pilot.app)[-1]
        await pilot.press("escape")
    await finished(pilot)


@pytest.mark.large
async def test_escape_stops_an_undo_of_many_and_it_goes_on_or_turns_round(crowd):  # noqa: F811
    app = MemtuiApp(dict(crowd.env), crowd.shop, now=NOW)
    async with running(app, (120, 40)) as pilot:
        await until(pilot, lambda: len(app.screen.table.rows) > MANY)
        before = files(crowd)
        await press(pilot, "/", *"many-", "enter", "A", "t")
        await choose(pilot, "tool")
        await finished(pilot)
        after = files(crowd)
        await stop(pilot)
        rest = sum("type: tool" in read(everywhere(crowd, f"many-{n:03}.md")) for n in range(MANY))
        assert 0 < rest < MANY
        words = f"Undone: retype {MANY - rest} of {MANY} memories, then stopped. z continues, Z reverses it."
        assert notes(app)[-1] == words
        assert app.data.journal().unfinished() is None
        assert files(crowd) not in (before, after)
        for keys, wanted in ((["Z"], after), (["z"], before), (["Z"], after)):
            await finished(pilot, *keys)
            assert files(crowd) == wanted


@pytest.mark.large
async def test_the_rest_of_a_stopped_undo_is_a_step_and_trash_gives_one_back(crowd):  # noqa: F811
    app = MemtuiApp(dict(crowd.env), crowd.shop, now=NOW)
    async with running(app, (120, 40)) as pilot:
        await until(pilot, lambda: len(app.screen.table.rows) > MANY)
        before = files(crowd)
        await finished(pilot, "/", *"many-", "enter", "A", "x", "j", "enter")
        after = files(crowd)
        await stop(pilot)
        assert files(crowd) not in (before, after)
        for key, wanted in (("z", before), ("Z", after)):
            await finished(pilot, key)
            assert files(crowd) == wanted
        app.action_run("memories.restore")
        await until(pilot, lambda: len(app.screen.table.rows) > MANY)
        await press(pilot, "enter", "enter")
        assert any(each.startswith("Restored: many-") for each in notes(app))


async def test_what_could_not_be_undone_of_many_is_listed_with_its_reasons(app, world):
    taken, other = project(world, "release-steps.md"), project(world, "prefer-pnpm.md")
    async with running(app, (80, 24)) as pilot:
        await stand_on(pilot, "release-steps")
        await press(pilot, "space")
        await stand_on(pilot, "prefer-pnpm")
        await press(pilot, "space", "x")
        write(taken, "another one")
        await press(pilot, "U", "enter")
        assert left_alone(app) == (
            "Undone: remove 1 of 2 memories. 1 change left alone:",
            f"remove project:release-steps\n  {taken} exists already\n",
        )
        assert read(taken) == "another one"
        assert exists(other)
        await press(pilot, "escape", "z")
        [note] = app._notifications
        assert note.message == (
            f"Can't undo “remove project:release-steps”: {taken} exists already.\n"
            "Nothing was written. Its versions: H on release-steps"
        )


async def test_a_change_of_a_memory_that_is_gone_is_refused_with_that_reason(app, world):
    path = project(world, "prefer-pnpm.md")
    async with running(app, (80, 24)) as pilot:
        await stand_on(pilot, "prefer-pnpm")
        await press(pilot, "t")
        await choose(pilot, "tool")
        os.remove(path)
        await press(pilot, "z")
        said = notes(app)[-1]
    assert said.startswith("Can't undo ")
    assert said.endswith(f": {path} is gone.\nNothing was written. Its versions: H on prefer-pnpm")
