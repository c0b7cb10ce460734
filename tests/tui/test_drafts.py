"""What is typed in a form is on the disk soon, and before memtui is left."""

import glob

import pytest

from memtui.base import fs_hot, paths_hot
from memtui.inbox import format_hot
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.ask import Choice, Options
from memtui.tui.dialogs.draft_form import Body
from memtui.tui.widgets.detail import Detail
from tui.hands import to_row

from .conftest import NOW, press, settle

SIZE = (120, 40)
# The screen, the file of the inbox, the key that opens a form, and of which row.
KINDS = {
    "item": ("inbox", "items", "e", lambda row: row.item is not None and row.item.kind == "items"),
    "draft": ("inbox", "updates", "e", lambda row: row.item is not None and row.item.kind == "updates"),
    "note": ("activity", "guidance", "e", lambda row: row.item is not None),
    "new note": ("activity", "", "c", lambda row: True),
    "memory": ("memories", "", "e", lambda row: row[1].memory.stem == "prefer-pnpm"),
}


def kept(world):
    return "".join(fs_hot.read_bytes(path).decode() for path in glob.glob(world.root + "/drafts/*.json"))


async def opened(pilot, key, fits):
    await to_row(pilot, fits)
    await press(pilot, key)
    body = pilot.app.screen.query_one(Body)
    body.focus()
    return body


@pytest.mark.slow
@pytest.mark.every(step=4)
@pytest.mark.parametrize("kind", ["new note", "item", "draft", "memory"])
async def test_typing_without_a_pause_and_just_before_ctrl_q_is_kept(world, kind):
    screen, _, key, fits = KINDS[kind]
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen=screen)
    async with app.run_test(size=SIZE) as pilot:
        body = await opened(pilot, key, fits)
        for _ in range(12):
            body.insert("~")
            await pilot.pause(0.1)
        assert "~~~~~" in kept(world)
        await pilot.press(*"hurried", "ctrl+q")
    assert "hurried" in kept(world)


def entry_file(world, kind):
    return f"{paths_hot.inbox_dir(world.root, paths_hot.project_key(world.shop))}/{format_hot.FILES[kind]}"


@pytest.mark.slow
@pytest.mark.every(step=6)
@pytest.mark.parametrize("leaves", [True, False], ids=["kept with escape", "while the form is open"])
@pytest.mark.parametrize("kind", ["item", "draft", "note"])
async def test_a_draft_over_what_somebody_changed_since_shows_both_and_asks(world, kind, leaves):
    screen, file, _, fits = KINDS[kind]
    path = entry_file(world, file)
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen=screen)
    async with app.run_test(size=SIZE) as pilot:
        body = await opened(pilot, "e", fits)
        old = body.text.strip().split("\n")[-1]
        body.text = "Mine."
        if leaves:
            await press(pilot, "escape")
        before = fs_hot.read_bytes(path).decode()
        assert before.count(old) == 1
        theirs = "Theirs, which nobody has read."
        fs_hot.write_atomic(path, before.replace(old, theirs).encode())
        changed = fs_hot.read_bytes(path)
        if leaves:
            app.screen.reload()  # as it does by itself within a second
            await settle(pilot)
            body = await opened(pilot, "e", fits)
            assert body.text == "Mine."
            assert "changed by somebody else" in str(app.screen.query_one(".told").render())
        for answer in (0, 1):  # back to the form, then mine
            await press(pilot, "ctrl+s")
            assert isinstance(app.screen, Choice)
            shown = app.screen.query_one(Detail).plain
            assert f"- {theirs}" in shown
            assert "+ Mine." in shown
            assert fs_hot.read_bytes(path) == changed
            app.screen.query_one(Options).move_to(answer)
            await press(pilot, "enter")
        assert theirs not in fs_hot.read_bytes(path).decode()
        assert not kept(world)
        await press(pilot, "z")
        assert fs_hot.read_bytes(path) == changed


@pytest.mark.parametrize("kind", ["item", "draft"])
async def test_a_form_of_what_is_gone_keeps_the_words_and_says_so(world, kind):
    screen, file, _, fits = KINDS[kind]
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen=screen)
    async with app.run_test(size=SIZE) as pilot:
        body = await opened(pilot, "e", fits)
        body.text = "Mine."
        fs_hot.write_atomic(entry_file(world, file), b"")
        await press(pilot, "ctrl+s")
        assert "It is gone" in str(app.screen.query_one(".told").render())
        assert body.text == "Mine."
        assert "Mine." in kept(world)
