"""Earlier sessions are read for drafts from the TUI: asked, shown, written, undone; stopped in between."""

import json
import os

import pytest

from memtui.backfill import reading
from memtui.core.base import paths
from memtui.core.review.waiting import waiting_in
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.preview import Preview
from tui.conftest import NOW, settle

RULE = "From now on always run the linter with the strict option in this repository."


@pytest.fixture
def app(world):
    directory = f"{paths.config_dir(dict(world.env))}/projects/{paths.slug(world.shop)}"
    os.makedirs(directory, exist_ok=True)
    rows = [
        {"type": "user", "uuid": "u1", "sessionId": "old", "cwd": world.shop, "message": {"content": RULE}},
        {"type": "assistant", "message": {"id": "m1", "content": [{"type": "text", "text": "Understood."}]}},
    ]
    with open(f"{directory}/old.jsonl", "w") as file:
        file.write("".join(json.dumps(row) + "\n" for row in rows))
    return MemtuiApp(dict(world.env), world.shop, screen="inbox", now=NOW)


def drafts(world):
    return [each.text.partition("\n")[0] for each in waiting_in(world.root, [paths.slug(world.shop)], ("updates",))]


async def test_the_best_drafts_are_shown_then_come_into_the_inbox_and_are_taken_back(app, world):
    before = drafts(world)
    async with app.run_test(size=(100, 40)) as pilot:
        await settle(pilot)
        await pilot.press("B")
        await settle(pilot)
        assert isinstance(app.screen, Choice)
        assert "stays on this machine" in app.screen.question
        await pilot.press("enter")
        await settle(pilot)
        await settle(pilot)
        assert isinstance(app.screen, Preview)
        assert "run the linter with the strict option" in app.screen.plain
        assert drafts(world) == before
        for _ in range(3):
            await pilot.press("enter")
            await settle(pilot)
        assert len(drafts(world)) > len(before)
        await pilot.press("z")
        await settle(pilot)
        assert drafts(world) == before


async def test_no_is_no(app, world):
    async with app.run_test(size=(100, 40)) as pilot:
        await settle(pilot)
        await pilot.press("B")
        await settle(pilot)
        await pilot.press("escape")
        await settle(pilot)
        assert not reading.was_done(world.root)


async def test_where_there_are_no_sessions_it_says_so(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    app = MemtuiApp(
        {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}, str(tmp_path / "shop"), screen="inbox"
    )
    async with app.run_test(size=(100, 40)) as pilot:
        await settle(pilot)
        await pilot.press("escape")
        await settle(pilot)
        await pilot.press("B")
        await settle(pilot)
        assert not isinstance(app.screen, Choice)
