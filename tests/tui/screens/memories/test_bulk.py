"""Changes of several memories at once: failures, many of them, and there and back again to the byte."""

import hashlib
import os

import pytest

from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.dialog import Preview
from tui.conftest import NOW, press, running, settle, until
from tui.hands import choose, everywhere, exists, notes, project, read, stand_on, write

MANY = 300


def files(world):
    """Every file of the memories: its mode and the hash of its bytes."""
    found = {}
    for top in (f"{world.config}/memory", f"{world.shop}/.claude", f"{world.config}/projects"):
        for directory, _, names in os.walk(top):
            for name in names:
                path = f"{directory}/{name}"
                with open(path, "rb") as file:
                    mode = os.stat(path).st_mode & 0o7777
                    found[path] = (mode, hashlib.sha256(file.read()).hexdigest())
    return found


def left_alone(app):
    """The title and the text of the dialog that lists what was not changed."""
    assert isinstance(app.screen, Preview), app.screen
    return app.screen.heading, app.screen.plain


def marked(app):
    return {os.path.basename(path) for path in app.screen.table.marks}


async def retype(pilot, kind="tool"):
    await pilot.press("t")
    await choose(pilot, kind)


async def move(pilot):
    await pilot.press("m")
    await choose(pilot, "global")


async def trash(pilot):
    await press(pilot, "x")


@pytest.mark.slow
@pytest.mark.every(step=5)
@pytest.mark.parametrize("act", [retype, move, trash])
async def test_undo_redo_and_undo_again_give_the_very_bytes(app, world, act):
    async with running(app, (120, 40)) as pilot:
        await stand_on(pilot, "payment-provider")
        await press(pilot, "space", "space")
        there = files(world)
        await act(pilot)
        await settle(pilot)
        assert app.screen.group == "memories"
        made = files(world)
        assert made != there
        for key, wanted in (("z", there), ("Z", made), ("z", there)):
            await press(pilot, key)
            assert files(world) == wanted


async def test_a_failure_stops_none_of_the_others_is_told_and_stays_marked(app, world):
    async with running(app, (120, 40)) as pilot:
        there = files(world)
        await stand_on(pilot, "concise-answers")
        await press(pilot, "A", "t")
        await choose(pilot, "tool")
        assert "type: tool" in read(project(world, "release-steps.md"))
        title, failed = left_alone(app)
        assert title == "Made tool: 10 of 11. 1 memory was left alone:"
        assert failed.startswith("meeting-notes (auto shop)\n  the frontmatter can't be changed")
        await press(pilot, "escape")
        assert marked(app) == {"meeting-notes.md"}  # its frontmatter is broken
        await press(pilot, "escape", "z")
        assert files(world) == there
        await press(pilot, "A", "m")
        await choose(pilot, "project")
        title, failed = left_alone(app)
        assert title == "Moved to project shop: 9 of 13. 4 memories were left alone:"
        assert failed.count("\n") == 2 * 4
        await press(pilot, "j")  # it stays until it was read
        assert left_alone(app) == (title, failed)
        await press(pilot, "escape")
        assert marked(app) >= {"prefer-pnpm.md", "release-steps.md"}
        assert len(marked(app)) == 4
        assert exists(project(world, "editor.md"))
        await press(pilot, "escape", "z")
        assert files(world) == there


async def test_all_of_a_scope_in_the_trash_and_back_leave_the_index_as_it_was(app, world):
    index = everywhere(world, "MEMORY.md")
    lines = [line for line in read(index).splitlines(keepends=True) if line.startswith("- [")]
    write(index, "".join(lines))  # nothing is left of it without its memories
    os.chmod(index, 0o644)
    there = files(world)
    async with running(app, (120, 40)) as pilot:
        app.screen.places.go_to("global")
        await pilot.pause()
        app.screen.table.focus()
        await press(pilot, "A", "x")
        assert not exists(index)
        await press(pilot, "z")
        assert files(world) == there
        await press(pilot, "A", "x", *["memories.restore", "enter"] * 3)
        assert files(world) == there


@pytest.fixture
def crowd(world):
    """The world with many memories of everywhere."""
    for number in range(MANY):
        text = f"---\nname: many-{number:03}\ndescription: One of many\nmetadata:\n  type: user\n---\nText.\n"
        write(everywhere(world, f"many-{number:03}.md"), text)
    return world


async def test_keys_are_answered_while_many_are_changed_and_escape_stops(crowd):
    app = MemtuiApp(dict(crowd.env), crowd.shop, now=NOW)
    async with running(app, (120, 40)) as pilot:
        await until(pilot, lambda: len(app.screen.table.rows) > MANY)
        there = files(crowd)
        await press(pilot, "/", *"many-", "enter")
        await pilot.press("A", "t")
        screen = app.screen
        assert isinstance(screen, Choice)
        screen.table.move_to(next(at for at, text in screen.rows if text.startswith("tool")))
        with app.data.journal().locked():  # another memtui writes meanwhile: this takes long
            await pilot.press("enter")
            await until(pilot, lambda: app.at_work)
            memories = app.screen
            await until(pilot, lambda: memories.frame.status == f"0 of {MANY} done, escape stops")
            await pilot.press("j", "j")
            assert memories.table.cursor == 2
            await pilot.press("x")  # not now
            assert "Changes are being made" in notes(app)[-1]
            await pilot.press("escape")
        await until(pilot, lambda: not app.at_work)
        await settle(pilot)
        done = sum("type: tool" in read(everywhere(crowd, f"many-{n:03}.md")) for n in range(MANY))
        assert 0 < done < MANY
        assert f"Made tool: {done} of {MANY}, then stopped. z undoes." in notes(app)
        assert len(memories.table.marks) == MANY - done  # what is left to do
        await pilot.press("z")
        await until(pilot, lambda: files(crowd) == there)


async def test_many_go_to_the_trash_or_for_good_only_after_a_question(crowd):
    app = MemtuiApp(dict(crowd.env), crowd.shop, now=NOW)
    async with running(app, (80, 24)) as pilot:
        await until(pilot, lambda: len(app.screen.table.rows) > MANY)
        there = files(crowd)
        await press(pilot, "/", *"many-", "enter", "A", "x")
        assert app.screen.heading == f"Remove {MANY} memories? They go to the trash."
        await press(pilot, "enter")  # cancel is in focus
        assert len(app.screen.table.marks) == MANY  # still to be decided on
        await press(pilot, "memories.purge")
        assert app.screen.heading == f"Delete {MANY} memories for good? This can't be undone."
        await press(pilot, "enter")
        assert files(crowd) == there
