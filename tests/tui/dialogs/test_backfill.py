"""Earlier sessions are read for drafts from the TUI: asked, shown, written, undone; stopped in between."""

import json
import os
import time
from dataclasses import replace

import pytest

from memtui.base import paths_hot, session_state_hot
from memtui.learn.backfill import past_sessions, progress
from memtui.learn.backfill.past_sessions import BackfillReading
from memtui.review.waiting_entries import waiting_in
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.dialog import Preview
from tui.conftest import NOW, press, running, settle, until

UNLIKELY = "We use pnpm instead of npm in this repository."
PAST = "inbox.backfill"  # what the palette runs
RULE = "From now on always run the linter with the strict option in this repository."


def leave(env, cwd, said, name="old"):
    """Leave the transcript of a session in which a person said something."""
    directory = f"{paths_hot.config_dir(dict(env))}/projects/{paths_hot.slug(cwd)}"
    os.makedirs(directory, exist_ok=True)
    rows = [
        {"type": "user", "uuid": name, "sessionId": name, "cwd": cwd, "message": {"content": said}},
        {"type": "assistant", "message": {"id": "m1", "content": [{"type": "text", "text": "Understood."}]}},
    ]
    with open(f"{directory}/{name}.jsonl", "w") as file:
        file.write("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def app(world):
    leave(world.env, world.shop, RULE)
    return MemtuiApp(dict(world.env), world.shop, screen="inbox", now=NOW)


def drafts(world):
    return [
        each.text.partition("\n")[0]
        for each in waiting_in(world.root, [paths_hot.project_key(world.shop)], ("updates",))
    ]


async def answer(pilot, *keys):
    """Press keys, each when what the one before started is done."""
    for key in keys:
        await press(pilot, key)
        await settle(pilot)


async def test_a_reading_that_fails_closes_its_dialog_and_says_so(app, monkeypatch, fallen):
    errors = [PermissionError(13, "Permission denied", "/x/run"), RuntimeError("a bug")]

    def fail(*_, **__):
        raise errors.pop()

    monkeypatch.setattr(past_sessions, "read", fail)
    async with running(app, (100, 40)) as pilot:
        while errors:
            await answer(pilot, PAST, "enter")
            assert app.screen.group == "inbox"
            assert "Errno" not in " ".join(str(each) for each in pilot.app.screen.query("Toast"))
    fallen.clear()


async def test_while_sessions_are_read_the_list_is_usable_and_escape_stops(app, monkeypatch):
    read = past_sessions.read

    def slow(env, *, go_on):
        while go_on(BackfillReading(files=1, all_files=40, bytes=2_000_000, all_bytes=94_000_000, drafts=7)):
            time.sleep(0.01)
        return read(env, go_on=lambda _: True)

    monkeypatch.setattr(past_sessions, "read", slow)
    async with running(app, (100, 40), PAST) as pilot:
        await pilot.press("enter")
        await until(pilot, lambda: "1 of 40 sessions, 7 drafts, escape stops" in app.screen.frame.status)
        await pilot.press("home", "j", "x")
        assert app.screen.table.cursor == 1
        assert app.last_note.startswith("Changes are being made")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, Preview))


@pytest.mark.parametrize("ends", ["escape", "enter"])
async def test_earlier_sessions_are_offered_once_also_if_hooks_were_there_before(empty, ends):
    env, project = empty
    leave(env, project, RULE)
    app = MemtuiApp(dict(env), project, now=NOW)
    async with running(app, (100, 40)) as pilot:
        assert isinstance(app.screen, Choice)
        assert "Look through 1 past session (" in app.screen.heading
        await answer(pilot, ends)
    app = MemtuiApp(dict(env), project, now=NOW)
    async with running(app, (100, 40)) as pilot:
        assert not isinstance(app.screen, Choice)


async def test_sessions_that_hooks_read_as_they_ran_are_not_offered(empty):
    env, project = empty
    leave(env, project, RULE)
    session_state_hot.save_part(paths_hot.root(dict(env)), "old", "cursor", {})
    app = MemtuiApp(dict(env), project, now=NOW)
    async with running(app, (100, 40)):
        assert not isinstance(app.screen, Choice)


async def test_the_best_drafts_are_shown_come_into_the_inbox_and_are_taken_back(app, world):
    before = drafts(world)
    async with running(app, (100, 40)) as pilot:
        await answer(pilot, PAST, "escape")
        assert not progress.was_done(world.root), "no is no"
        await press(pilot, PAST)
        assert isinstance(app.screen, Choice)
        assert "Runs locally" in app.screen.heading
        await press(pilot, "enter")
        assert isinstance(app.screen, Preview)
        assert "run the linter with the strict option" in app.screen.plain
        assert drafts(world) == before
        for _ in range(3):
            await press(pilot, "enter")
        assert len(drafts(world)) > len(before)
        await press(pilot, "z")
        assert drafts(world) == before


@pytest.mark.slow
async def test_where_there_are_no_sessions_it_says_so(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    app = MemtuiApp(
        {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}, str(tmp_path / "shop"), screen="inbox"
    )
    async with running(app, (100, 40), "escape") as pilot:
        await press(pilot, "inbox.backfill")
        assert not isinstance(app.screen, Choice)


async def test_what_is_unlikely_to_last_stands_behind_the_others_and_is_folded(app, world, monkeypatch):
    leave(world.env, world.shop, UNLIKELY, "older")
    read = past_sessions.read

    def doubted(env, *, go_on):
        found = read(env, go_on=go_on)
        for each in found.candidates._all.values():
            if each.draft.person == UNLIKELY:
                each.draft = replace(each.draft, confidence=0.9, durable=0.25)
        return found

    monkeypatch.setattr(past_sessions, "read", doubted)
    async with running(app, (100, 40)) as pilot:
        await answer(pilot, PAST, "enter")
        assert "; 1 is probably a one-off" in app.screen.heading
        plain = app.screen.plain
        assert plain.index("run the linter with the strict option") < plain.index("pnpm instead of npm")
        await answer(pilot, "enter")
        shown = [row.item.text for row in app.screen.table.rows if row.item is not None]
        assert any("linter with the strict option" in text for text in shown)
        assert not any("pnpm instead of npm" in text for text in shown)
    assert any("pnpm instead of npm" in text for text in drafts(world))
