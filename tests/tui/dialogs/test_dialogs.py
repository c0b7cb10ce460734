"""What is asked over a screen: it ends once, its keys are its own, every field shows what is typed into it."""

import pytest
from textual import events
from textual.screen import ModalScreen

from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.ask import Choice
from tui.conftest import NOW, press, settle
from tui.hands import lines

SMALL = (80, 24)
# screen -> the keys that open a picker there, one after the other
PICKERS = {
    "memories": ["h", "T", "t", "m", "n", "b", "S", "e", "ctrl+p"],
    "inbox": ["t", "s", "m", "e", "ctrl+p", "question_mark"],
    "activity": ["c", "e", "r", "f", "t", "o", "m"],
    "setup": ["a", "x", "e"],
}


async def start(pilot):
    """Wait, and answer the offer to install the hooks."""
    await settle(pilot)
    if isinstance(pilot.app.screen, ModalScreen):
        await press(pilot, "escape")


async def burst(pilot, key, character, times=2):
    """Keys that the terminal gives in one go, as after a lag."""
    for _ in range(times):
        pilot.app.post_message(events.Key(key, character))
    await pilot.pause(0.1)
    await settle(pilot)


@pytest.mark.every
@pytest.mark.parametrize("name", PICKERS)
@pytest.mark.usefixtures("every_frame")
async def test_two_enters_or_escapes_in_one_go_leave_a_screen_that_lives(world, name):
    app = MemtuiApp(dict(world.env), world.shop, screen=name, now=NOW)
    async with app.run_test(size=SMALL) as pilot:
        await start(pilot)
        for key in PICKERS[name]:
            for pressed, character in (("escape", None), ("enter", "\r")):
                await press(pilot, key)
                await burst(pilot, pressed, character)
                assert app.screen_stack, key
                assert not isinstance(app.screen_stack[0], ModalScreen), key
                assert sum(bool(line.strip()) for line in lines(app)) > 5, key
                for _ in range(4):
                    await press(pilot, "escape")
                assert app.screen.group == name, (key, pressed)
                assert len(app.screen_stack) == 1, (key, pressed)
        await press(pilot, "2")
        assert app.screen.group == "inbox"


@pytest.mark.parametrize("typed", ["zzz", "two"])
async def test_enter_chooses_its_row_whatever_is_typed_in_the_same_moment(app, typed):
    async with app.run_test() as pilot:
        await start(pilot)
        answers = []
        dialog = Choice("Which?", [("1", "one"), ("2", "two")])
        app.push_screen(dialog, answers.append)
        await settle(pilot)
        dialog.table.action_open()
        dialog._narrow(typed)
        await settle(pilot)
        assert answers == ["1"]


async def test_a_line_beyond_all_measure_is_not_pasted_into_a_field(app):
    async with app.run_test(notifications=True) as pilot:
        await start(pilot)
        await press(pilot, "slash")
        field = app.focused
        app.post_message(events.Paste("words " * 10_000))
        await settle(pilot)
        assert field.value == ""
        assert any("60,000 characters are too many" in note.message for note in app._notifications)
        app.post_message(events.Paste("\n pnpm\r\n\nand more\n"))
        await settle(pilot)
        assert field.value == " pnpm and more"
        await pilot.press("home", "shift+end")
        app.post_message(events.Paste("npm"))
        await settle(pilot)
        assert field.value == "npm"
