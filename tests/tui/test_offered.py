"""What the bars, the help and the palette offer: only what can be done now."""

import re

import pytest
from rich.text import Text

from memtui import actions
from memtui.tui.app import MemtuiApp
from memtui.tui.widgets.bars import TABS

from .conftest import NOW, running, settle
from .dialogs.test_changes import trash
from .test_frame import notes, palette

SIZES = [(60, 20), (80, 24), (100, 30), (160, 48)]


def lines(app):
    return [strip.text for strip in app.screen._compositor.render_strips()]


@pytest.mark.parametrize("name", TABS)
@pytest.mark.slow
async def test_read_only_is_said_and_nothing_that_writes_is_offered(world, name):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen=name, read_only=True)
    writing = [action for action in actions.ACTIONS if action.writes]
    async with running(app, (160, 48)) as pilot:
        assert "read-only" in lines(app)[0]
        foot = lines(app)[-1]
        assert "? keys" in foot
        for action in writing:
            if action.group in {name, "app"} and action.footer:
                assert f"{actions.key_word(action.keys)} {action.footer} " not in foot
        await pilot.press("question_mark")
        await settle(pilot)
        text = app.focused.plain
        for action in writing:
            assert f" {action.help[:1].lower() + action.help[1:]}\n" not in text
            assert f" {action.help[:1].lower() + action.help[1:]}  " not in text
        await pilot.press("escape")
        every = await palette(pilot, "")
        assert len(every) >= len(actions.ACTIONS) - len(writing) - len(actions.of(actions.LIST))
        assert not [each for each in every for action in writing if each.startswith(f"{action.name}  ")]
        assert not [each for each in every if each.startswith("setup: change ")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "offers"),
    [
        ("inbox", {"mark it done"}),
        ("activity", {"withdraw it", "a sends it again."}),
        ("setup", {"install the hooks, after showing", "change it"}),
    ],
)
async def test_the_text_beside_a_list_offers_what_writes_only_where_that_is_allowed(world, name, offers):
    for read_only in (False, True):
        app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen=name, read_only=read_only)
        async with running(app, (160, 48)):
            drawn = [app.screen.describe(row) for row in app.screen.table.rows]
            texts = "\n".join(part.plain for each in drawn for part in each if isinstance(part, Text))
            assert {each for each in offers if each in texts} == (set() if read_only else offers)


@pytest.mark.parametrize("read_only", [False, True])
async def test_an_empty_inbox_offers_to_write_a_note_only_where_that_is_allowed(tmp_path, read_only):
    env = {"HOME": str(tmp_path), "PATH": ""}
    app = MemtuiApp(env, str(tmp_path), now=NOW, screen="inbox", read_only=read_only)
    async with running(app, (80, 24)):
        words = app.screen_stack[0].why_empty()  # below the offer of the first start
        assert "1 shows the memories." in words
        assert ("c writes a note, " in words) == (not read_only)


@pytest.mark.slow
@pytest.mark.parametrize("read_only", [False, True])
async def test_the_list_of_changes_offers_undo_only_where_that_is_allowed(world, read_only):
    trash(world, "prefer-pnpm", "cli", NOW - 60)
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, read_only=read_only)
    async with running(app, (100, 30), "U"):
        shown = "\n".join(lines(app))
        assert "in effect" in shown
        assert ("undoes it" in shown, "z undo it" in shown) == (not read_only,) * 2
        assert "Z redo" not in shown, "nothing was undone"


@pytest.mark.slow
async def test_an_empty_list_offers_nothing_for_a_row(tmp_path):
    env = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": f"{tmp_path}/c", "MEMTUI_HOME": f"{tmp_path}/m"}
    app = MemtuiApp(env, str(tmp_path), now=NOW, read_only=True)
    app.read_only = False
    app._offered = True
    async with app.run_test(size=(160, 48)) as pilot:
        for name in ("memories", "inbox", "activity"):
            app.go(name)
            await settle(pilot)
            foot = lines(app)[-1]
            assert "? keys" in foot
            for word in ("edit", "trash", "mark", "approve", "withdraw", "session", "move"):
                assert f" {word} " not in foot, (name, foot)


@pytest.mark.slow
async def test_nothing_happens_to_a_list_that_is_hidden_while_one_memory_is_read(app):
    async with running(app, (120, 40)) as pilot:
        app.action_run("list.open")
        await settle(pilot)
        screen, foot = app.screen, lines(app)[-1]
        before = [pair[1].memory.path for pair in screen.table.rows]
        for action in actions.of("memories"):
            if action.listed:
                assert f"{actions.key_word(action.keys)} {action.footer} " not in foot or not action.footer
                await pilot.press(action.keys.partition(",")[0])
                await settle(pilot)
                assert app.screen is screen
                assert [pair[1].memory.path for pair in screen.table.rows] == before
                assert not screen.table.marks


@pytest.mark.parametrize("name", TABS)
async def test_an_empty_list_names_no_key_that_writes_with_read_only(tmp_path, name):
    app = MemtuiApp({"HOME": str(tmp_path), "PATH": ""}, str(tmp_path), now=NOW, screen=name, read_only=True)
    writing = {actions.key_of(action.id) for action in actions.ACTIONS if action.writes}
    async with running(app, (80, 24)):
        words = app.screen.why_empty() + "\n" + app.screen.summary().plain
        named = set(re.findall(r"(?:^|then |\(|, |: )(\S)  ?(?=\w+s\b)", words, re.M))
        assert not named & writing
        assert "installs" not in words


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("n", "n works in Memories."),
        ("P", "P works in Memories and Activity."),
        ("exclamation_mark", "! works in other places, not in Inbox."),
        ("left", None),
        ("escape", None),
    ],
)
async def test_a_key_of_other_places_says_where_it_works(world, key, said):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen="inbox")
    async with running(app, (80, 24)) as pilot:
        await pilot.press(key)
        assert notes(app) == ([said] if said else [])
