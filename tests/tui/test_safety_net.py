"""An error that nobody expected is noted and told, and the TUI goes on."""

import asyncio
import json
import os
from pathlib import Path

import pytest
from textual.css.query import NoMatches
from textual.screen import ModalScreen
from textual.widgets import Static
from textual.worker import WorkerFailed

from memtui.tui.dialogs.ask import Choice, Line
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.model.autosave import Autosave
from memtui.tui.screens.inbox.row import InboxView
from memtui.tui.screens.inbox.screen import Inbox
from memtui.tui.screens.memories.rows import MemoryTable
from memtui.tui.screens.memories.screen import Memories
from memtui.tui.widgets.lines import OneLine
from tui.hands import notes

from .conftest import press, running, settle, until

FAILED = "details are in log/errors.jsonl"
KEY = "sk-ant-api03-" + "Ab3dEf9hIj" * 4


def boom(*_, **__):
    """A slip, with a secret in its words."""
    raise ZeroDivisionError(f"division by {KEY}")


def log(app):
    path = Path(app.data.root, "log/errors.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


async def goes_on(pilot, fallen, *, times=1):
    """It was told, and noted with its place and without secrets; the keys work, and the files are followed."""
    await settle(pilot)
    app = pilot.app
    assert any(FAILED in note for note in notes(app)), notes(app)
    records = log(app)
    assert len(records) == times
    for record in records:
        assert record["error"] == "ZeroDivisionError"
        assert record["where"].startswith("tui: ")
        assert any("test_safety_net.py" in place and "boom" in place for place in record["trace"])
        assert KEY not in json.dumps(record)
        assert "division by" in record["message"]
    fallen.clear()
    if not isinstance(app.screen, ModalScreen):
        await press(pilot, "3")
        assert app.screen.group == "activity"
        assert app.is_running


async def test_in_an_action_each_time_that_it_is_tried(app, monkeypatch, fallen):
    monkeypatch.setattr(Memories, "sort", boom)
    async with running(app, (80, 24), "s", "j") as pilot:
        assert notes(app) == []
        await pilot.press("s")
        await goes_on(pilot, fallen, times=2)


async def test_in_the_action_of_a_widget_of_textual(app, monkeypatch, fallen):
    monkeypatch.setattr("textual.widgets.Input.action_cursor_left", boom)
    async with running(app, (80, 24)) as pilot:
        await pilot.press("slash", "p", "n", "p", "m", "left")
        await pilot.pause()
        assert any(FAILED in note for note in notes(app))
        await pilot.press("s", "enter")
        assert app.screen.query_one("#filter").value == "pnpms"
        assert [record["where"] for record in log(app)] == ["tui: Key in MemtuiApp"]
    fallen.clear()


async def test_in_a_handler_after_which_the_widget_still_hears(app, monkeypatch, fallen):
    async with running(app, (80, 24)) as pilot:
        with monkeypatch.context() as patch:
            patch.setattr(Memories, "on_key", boom)
            await press(pilot, "j")
        before = app.screen.table.cursor
        await pilot.press("j")
        await pilot.pause()
        assert app.screen.table.cursor == before + 1
        fallen.clear()
        assert len(log(app)) == 1


async def test_in_a_form_whose_text_stays(app, monkeypatch, fallen):
    async with running(app, (80, 24)) as pilot:
        await pilot.press("c")
        await pilot.pause()
        assert isinstance(app.screen, DraftForm)
        await pilot.press(*"half a")
        with monkeypatch.context() as patch:
            patch.setattr(Autosave, "save", boom)
            await pilot.press("x")
            await pilot.pause(0.6)
        await pilot.press(*" note")
        await pilot.pause()
        assert app.screen.query_one("Body").text == "half ax note"
        fallen.clear()
        await press(pilot, "ctrl+s")
        assert any("half ax note" in item.text for item in app.data.waiting())


async def test_in_what_follows_an_answer(app, monkeypatch, fallen):
    async with running(app, (80, 24)) as pilot:
        app.push_screen(Line("Name", "x", verb="rename"), boom)
        await pilot.pause()
        await pilot.press("enter")
        await goes_on(pilot, fallen)


@pytest.mark.parametrize("what", ["data.refresh", "files.watch.changed"])
async def test_in_a_worker_after_which_files_are_still_followed(app, monkeypatch, fallen, what):
    async with app.run_test() as pilot:
        holder, name = (app.data, "refresh") if what == "data.refresh" else (app.files.watch, "changed")
        with monkeypatch.context() as patch:
            patch.setattr(holder, name, boom)
            app.read()
            await settle(pilot)
            app._look()
            await settle(pilot)
        assert not app.files.looking
        await goes_on(pilot, fallen)


async def test_in_the_worker_of_a_screen(app, monkeypatch, fallen):
    monkeypatch.setattr(InboxView, "draft", boom)
    monkeypatch.setattr("memtui.tui.model.data.Data.waiting", boom)
    async with app.run_test() as pilot:
        await press(pilot, "2")
        assert any(FAILED in note for note in notes(app))
        await press(pilot, "1")
        assert app.screen.group == "memories"
    assert fallen
    fallen.clear()


async def test_in_a_timer_that_is_shown_ever(app, fallen):
    async with running(app, (80, 24)) as pilot:
        ticks = []

        def tick():
            ticks.append(1)
            boom()

        timer = app.set_interval(0.01, tick)
        while len(ticks) < 3:
            await pilot.pause(0.01)
        await pilot.press("j")
        await pilot.pause(0.03)
        assert len(log(app)) == 1
        fallen.clear()
        app.net._shown_ever.clear()
        await until(pilot, lambda: any(FAILED in note for note in notes(app)))
        timer.stop()
        fallen.clear()


@pytest.mark.every(step=2)
@pytest.mark.parametrize("method", ["on_mount", "body"])
async def test_where_a_dialog_comes_up_it_goes_away(app, monkeypatch, fallen, method):
    async with running(app, (80, 24)) as pilot:
        with monkeypatch.context() as patch:
            patch.setattr(Choice, method, boom)
            await press(pilot, "t")
            assert isinstance(app.screen, Memories)
        await settle(pilot)
        assert any(FAILED in note for note in notes(app))
        assert log(app)[0]["error"] == "ZeroDivisionError"
        fallen.clear()
        await press(pilot, "t")
        assert isinstance(app.screen, Choice)


@pytest.mark.slow
@pytest.mark.every(step=3)
@pytest.mark.parametrize("method", ["on_mount", "body", "__init__"])
async def test_where_a_screen_comes_up_the_others_are_still_there(app, monkeypatch, fallen, method):
    async with running(app, (80, 24)) as pilot:
        with monkeypatch.context() as patch:
            patch.setattr(Inbox, method, boom)
            await press(pilot, "2")
        assert any(FAILED in note for note in notes(app)), app.screen
        fallen.clear()
        await press(pilot, "3")
        assert app.screen.group == "activity"
        if method == "__init__":
            await press(pilot, "2")
            assert app.screen.group == "inbox"
            assert app.screen.query("#list")
    fallen.clear()


@pytest.mark.parametrize(
    ("widget", "method"), [(MemoryTable, "render_line"), (MemoryTable, "_cells"), (OneLine, "render")]
)
@pytest.mark.usefixtures("every_frame")
async def test_in_a_drawing_that_is_shown_ever_and_a_plain_line_stands_there(app, monkeypatch, fallen, widget, method):
    monkeypatch.setattr(widget, method, boom, raising=False)
    async with running(app, (80, 24)) as pilot:
        for key in "jjkk":
            await pilot.press(key)
            await pilot.pause()
        assert len(log(app)) == 1
        drawn = "\n".join("".join(s.text for s in strip) for strip in app.screen._compositor.render_strips())
        assert "This can't be drawn" in drawn
        assert "prefer-pnpm" in drawn or widget is MemoryTable
        fallen.clear()
        await press(pilot, "2")
        assert app.screen.group == "inbox"
        fallen.clear()


async def test_errors_of_ours_are_told_in_their_words(app, monkeypatch, fallen):
    from memtui.base.errors import ConflictError

    def ours(*_):
        raise ConflictError("The name is taken.", "Choose another.")

    async with running(app, (80, 24)) as pilot:
        app.push_screen(Line("Name", "x", verb="rename"), ours)
        await pilot.pause()
        await press(pilot, "enter")
        assert (notes(app), log(app)) == (["The name is taken.\nChoose another."], [])
        fallen.clear()


async def test_a_log_that_can_t_be_written_is_said(app, monkeypatch, fallen):
    monkeypatch.setattr(Memories, "sort", boom)
    async with running(app, (80, 24)) as pilot:
        os.makedirs(app.data.root + "/log/errors.jsonl")
        await pilot.press("s")
        await pilot.pause()
        assert "can't be written: ZeroDivisionError" in notes(app)[0]
        fallen.clear()


async def test_quitting_works_whatever_fails(app, monkeypatch, fallen):
    monkeypatch.setattr(Autosave, "save", boom)
    async with running(app, (80, 24)) as pilot:
        await pilot.press("c", "x", "ctrl+q")
        await pilot.pause()
        assert not app.is_running
    fallen.clear()


@pytest.mark.every(step=1)
async def test_one_that_can_not_begin_ends_as_a_failure(app, monkeypatch, fallen):
    monkeypatch.setattr(app, "go", boom)
    async with app.run_test() as pilot:
        await pilot.pause()
    assert (app.return_code, [record["error"] for record in log(app)]) == (1, ["ZeroDivisionError"])
    fallen.clear()


@pytest.mark.every(step=1)
async def test_on_the_way_out_missing_widgets_are_no_error(app, fallen):
    """Textual mounts none any more, and takes those away that there were, under what still runs."""
    async with running(app, (80, 24)) as pilot:
        await pilot.press("q")
        app._handle_exception(NoMatches("No nodes match '#filter'"))
        app._handle_exception(WorkerFailed(NoMatches("No nodes match 'CommandList'")))
        app._handle_exception(ZeroDivisionError("division by zero"))
        assert [record["error"] for record in log(app)] == ["ZeroDivisionError"]
    fallen.clear()


async def test_what_a_screen_does_not_hold_yet_is_no_error(app, fallen):
    """A burst of keys may come while it is composed."""
    begun, whole = asyncio.Event(), asyncio.Event()

    class Slow(Static):
        async def on_mount(self):
            begun.set()
            await whole.wait()

    class Half(ModalScreen):
        def compose(self):
            yield Slow()

    def missed():
        try:
            half.query_one(OneLine)
        except NoMatches as error:
            app._handle_exception(error)

    async with running(app, (80, 24)):
        half = Half()
        shown = app.push_screen(half)
        missed()
        await begun.wait()
        missed()
        noted = log(app)
        whole.set()
        await shown
        assert noted == []
        missed()
        assert [record["error"] for record in log(app)] == ["NoMatches"]
    fallen.clear()


async def test_what_is_sought_in_a_screen_that_comes_or_goes_is_no_error(app, monkeypatch, fallen):
    async with running(app, (80, 24)) as pilot:
        coming = Inbox(app)
        monkeypatch.setattr(Memories, "sort", lambda self: coming.query_one("#filter"))
        await press(pilot, "s")
        asking = asyncio.create_task(app.ask(Line("Which name?", verb="rename")))
        await pilot.pause()
        asking.cancel()
        await press(pilot, "escape")
        assert not isinstance(app.screen, ModalScreen)
        for going in (True, False):
            dialog = Choice("Which?", [("a", "one")])
            app.push_screen(dialog)
            await settle(pilot)
            if going:
                dialog.dismiss()
            dialog.call_next(lambda dialog=dialog: dialog.query_one("#nothing"))
            await settle(pilot)
            assert len(log(app)) == 1 - going
    fallen.clear()
