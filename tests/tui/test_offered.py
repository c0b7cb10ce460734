"""What the bars, the help and the palette offer: only what can be done now."""

import pytest

from memtui import keymap
from memtui.tui.app import MemtuiApp
from memtui.tui.widgets.bars import TABS

from .conftest import NOW, press, running
from .test_frame import notes, palette


def lines(app):
    return [strip.text for strip in app.screen._compositor.render_strips()]


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


@pytest.mark.slow
@pytest.mark.every(step=4)
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
