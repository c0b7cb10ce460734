"""Keys that come in one burst: what the first opens takes the others."""

import asyncio
from pathlib import Path

import pytest
from textual import events
from textual.widgets import TextArea

from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.draft_form import DraftForm
from tui.conftest import NOW, burst, running, settle

WORDS = [*"zqx", "space", *"hello"]


async def pressed(pilot, *keys):
    await settle(pilot)
    await burst(pilot, *keys)
    await settle(pilot)


async def test_a_note_or_a_query_has_all_that_was_typed_behind_its_key(app):
    async with app.run_test(size=(80, 24)) as pilot:
        for keys in (["slash"], ["2", "slash"], ["3", "slash"], ["2", "1", "slash"]):
            await pressed(pilot, *keys, *WORDS)
            assert app.screen.filter_line.value == "zqx hello"
            await pressed(pilot, "escape")
        for place in "123":
            await pressed(pilot, place, "c", *WORDS)
            assert isinstance(app.screen, DraftForm)
            assert app.screen.query_one("#text", TextArea).text == "zqx hello"
            await pressed(pilot, "ctrl+g")


async def test_what_was_typed_behind_a_key_that_opens_something_is_in_its_order(app):
    async with running(app, (80, 24)) as pilot:
        app.post_message(events.Key("c", "c"))
        app.post_message(events.Paste("quite a text\nof two lines"))
        await settle(pilot)
        assert app.screen.query_one("#text", TextArea).text == "quite a text\nof two lines"
        await pressed(pilot, "ctrl+g")
        await pressed(pilot, "ctrl+p", *"pref", "backspace", *"fer")
        assert app.screen.typed == "prefer"
        await pressed(pilot, "escape", "escape")
        await pressed(pilot, "slash")
        app.screen.call_later(asyncio.sleep, 1.6)  # the screen is slow
        for key in ("x", "backspace", "y"):
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await pilot.pause(2.2)
        await settle(pilot)
        assert app.screen.filter_line.value == "y"


@pytest.mark.slow
@pytest.mark.every(step=4)
@pytest.mark.parametrize(
    ("screen", "keys"), [("memories", ["c"]), ("memories", ["e"]), ("inbox", ["e"]), ("memories", ["n", "enter", "k"])]
)
async def test_what_comes_in_one_burst_before_the_key_that_saves_is_saved(world, screen, keys):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen=screen)
    async with app.run_test(size=(80, 24)) as pilot:
        for key in keys:
            await pressed(pilot, key)
        app.screen.query_one(TextArea).focus()
        await pressed(pilot, *WORDS, "ctrl+s")
        assert not isinstance(app.screen, DraftForm)
    files = await asyncio.to_thread(lambda: [path.read_text() for path in Path(world.directory).rglob("*.md")])
    assert any("zqx hello" in text for text in files)


async def test_a_new_memory_typed_in_one_burst_has_all_its_letters(app, world):
    async with app.run_test(size=(80, 24)) as pilot:
        await pressed(pilot, "n", "enter", *"burst", "tab", *WORDS, "ctrl+s")
        assert not isinstance(app.screen, DraftForm)
    made = Path(world.shop, ".claude/memory/burst.md")
    assert "zqx hello" in await asyncio.to_thread(made.read_text)
