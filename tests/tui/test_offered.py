"""What the bars, the help and the palette offer: only what can be done now."""

import pytest
from rich.text import Text

from memtui import keymap
from memtui.tui.app import MemtuiApp
from memtui.tui.widgets.lines import TABS
from tables import rows
from tui.hands import lines, notes

from .conftest import NOW, press, running, settle
from .test_frame import palette


@pytest.mark.parametrize("name", TABS)
async def test_read_only_is_said_and_nothing_that_writes_is_offered(world, name):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen=name, read_only=True)
    writing = [action for action in keymap.ACTIONS if action.writes]
    async with running(app, (160, 48)) as pilot:
        assert "read-only" in lines(app)[0]
        foot = lines(app)[-1]
        assert "? keys" in foot
        for action in writing:
            if action.group in {name, "app"} and action.footer:
                assert f"{keymap.key_word(action.keys)} {action.footer} " not in foot
        await press(pilot, "question_mark")
        text = app.focused.plain
        for action in writing:
            assert f" {action.help[:1].lower() + action.help[1:]}\n" not in text
            assert f" {action.help[:1].lower() + action.help[1:]}  " not in text
        await pilot.press("escape")
        every = await palette(pilot, "")
        assert len(every) >= len(keymap.ACTIONS) - len(writing) - len(keymap.of(keymap.LIST))
        assert not [each for each in every for action in writing if each.startswith(f"{action.name}  ")]
        assert not [each for each in every if each.startswith("setup: change ")]


@pytest.mark.parametrize(
    ("name", "offers"),
    [("activity", {"withdraw it", "a sends it again."}), ("setup", {"install the hooks, after showing", "change it"})],
)
async def test_text_beside_a_list_offers_what_writes_only_where_it_is_allowed(world, name, offers):
    for read_only in (False, True):
        app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen=name, read_only=read_only)
        async with running(app, (160, 48)):
            drawn = [app.screen.describe(row) for row in app.screen.table.rows]
            texts = "\n".join(part.plain for each in drawn for part in each if isinstance(part, Text))
            assert {each for each in offers if each in texts} == (set() if read_only else offers)


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
@pytest.mark.every(step=4)
@pytest.mark.parametrize(("key", "said"), rows(__file__, "a key of other places says where it works"))
async def test_a_key_of_other_places_says_where_it_works(world, key, said):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen="inbox")
    async with running(app, (80, 24)) as pilot:
        await pilot.press(key)
        assert notes(app) == ([said] if said else [])
