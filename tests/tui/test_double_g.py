"""The keys of a list or text: gg and G, half pages; and the g that opens the form for guidance."""

import pytest
from textual import events

from memtui.core.base import fs
from memtui.tui import double_g
from memtui.tui.dialogs.draft_form import DraftForm

from .conftest import settle


@pytest.fixture
def at_once(monkeypatch):
    """However slow the machine is, keys that are pressed together belong together."""
    monkeypatch.setattr(double_g, "WITHIN", 60.0)


@pytest.mark.slow
@pytest.mark.parametrize("read_only", [False, True])
async def test_gg_goes_to_the_first_row_and_leaves_no_form_and_no_note_behind(app, at_once, read_only):
    app.read_only = read_only
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settle(pilot)
        table = app.screen.table
        await pilot.press("G")
        assert table.cursor == len(table.rows) - 1 > 0
        await pilot.press("g", "g")
        await settle(pilot)
        assert app.screen.table is table
        assert table.cursor == 0
        assert len(app.screen_stack) == 1
        assert not app._notifications
        assert not fs.read_or_empty(f"{app.data.root}/run/guidance.json")


@pytest.mark.slow
async def test_a_fast_gg_opens_no_form_after_it(app, at_once):
    """The second key comes before the first has gone through the widgets to the binding, as from a fast hand."""
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        table = app.screen.table
        await pilot.press("G")
        for _ in "gg":
            app.post_message(events.Key("g", "g"))
        await settle(pilot)
        assert app.screen.table is table
        assert table.cursor == 0


@pytest.mark.slow
async def test_one_g_opens_the_form_and_a_later_g_is_a_letter(app, monkeypatch):
    monkeypatch.setattr(double_g, "WITHIN", -1.0)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("g")
        await settle(pilot)
        await pilot.press("g", "g")
        await settle(pilot)
        assert isinstance(app.screen, DraftForm)
        assert app.screen.typed().values["text"] == "gg"


@pytest.mark.slow
async def test_a_slow_gg_leaves_no_note_behind_either(app, monkeypatch):
    """Its second key is a letter in the form; what comes after escape is the first text there."""
    monkeypatch.setattr(double_g, "WITHIN", -1.0)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settle(pilot)
        await pilot.press("g", "g")
        await settle(pilot)
        await pilot.press("escape")
        await settle(pilot)
        assert not app._notifications
        await pilot.press("g")
        await settle(pilot)
        assert app.screen.typed().values["text"] == ""
        await pilot.press(*"go", "escape", "g")
        await settle(pilot)
        assert app.screen.typed().values["text"] == "go"


@pytest.mark.slow
async def test_a_letter_between_belongs_to_the_note(app, at_once):
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("g", "o", "g", "g")
        await settle(pilot)
        assert isinstance(app.screen, DraftForm)
        assert app.screen.typed().values["text"] == "ogg"


@pytest.mark.slow
async def test_half_a_page_in_a_list_and_in_a_text(app, at_once):
    async with app.run_test(size=(80, 14)) as pilot:
        await settle(pilot)
        table = app.screen.table
        half = (table.size.height - 1) // 2
        await pilot.press("ctrl+d")
        assert table.cursor == min(half, len(table.rows) - 1) > 0
        await pilot.press("ctrl+u")
        assert table.cursor == 0
        await pilot.press("o")
        await settle(pilot)
        detail = app.screen.detail
        await pilot.press("ctrl+d")
        await settle(pilot)
        assert detail.scroll_y == detail.size.height // 2
        await pilot.press("G")
        await settle(pilot)
        assert detail.scroll_y == detail.max_scroll_y > 0
        await pilot.press("g", "g")
        await settle(pilot)
        assert detail.scroll_y == 0
        assert app.screen.detail_covers_list


@pytest.mark.slow
async def test_gg_scrolls_a_dialog(app, at_once):
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("question_mark", "G")
        await settle(pilot)
        help_ = app.screen
        pane = app.focused
        assert pane.scroll_y > 0
        await pilot.press("g", "g")
        await settle(pilot)
        assert app.screen is help_
        assert pane.scroll_y == 0
