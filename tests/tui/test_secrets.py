"""What looks like a secret is named in the form, and asked about before it is kept."""

import random
import string

import pytest
from textual.widgets import TextArea

from memtui.base import paths_hot
from memtui.review.waiting_entries import waiting_in
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.draft_form import Body, DraftForm
from tui.hands import choose, read, stand_on

from .conftest import NOW, press, running, settle

KEY = "gh" + "p_" + "".join(random.Random(7).choices(string.ascii_letters + string.digits, k=36))
LOOKS = "looks like it holds a GitHub token"


def notes(world):
    return [each.text for each in waiting_in(world.root, [paths_hot.project_key(world.shop)], ("guidance",))]


async def compose(pilot):
    await settle(pilot)
    await press(pilot, "c")
    form = pilot.app.screen
    assert isinstance(form, DraftForm)
    form.query_one("#text", TextArea).text = f"Install with {KEY} today"
    await pilot.pause()
    return form


@pytest.mark.slow
@pytest.mark.every(step=3)
@pytest.mark.parametrize(
    ("answer", "left"),
    [("keep", f"Install with {KEY} today"), ("out", "Install with [redacted: GitHub token] today"), ("back", None)],
)
async def test_guidance_with_a_secret_is_asked_about(world, answer, left):
    app = MemtuiApp(dict(world.env), world.shop, screen="activity", now=NOW)
    async with app.run_test(size=(80, 24)) as pilot:
        form = await compose(pilot)
        assert LOOKS in " ".join(str(form.query_one(".where").render()).split())
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, Choice)
        assert LOOKS in app.screen.heading
        assert not any(KEY in text for text in notes(world))
        await choose(pilot, {"keep": "Keep", "out": "Remove", "back": "Go back"}[answer])
        await settle(pilot)
        assert (left in notes(world), isinstance(app.screen, DraftForm)) == (left is not None, left is None)
        if left is None:
            assert KEY in form.query_one("#text", TextArea).text


async def test_a_memory_with_a_secret_is_asked_about_once(world):
    app = MemtuiApp(dict(world.env), world.shop, screen="memories", now=NOW)
    async with running(app, (100, 30)) as pilot:
        await stand_on(pilot, "prefer-pnpm")
        await press(pilot, "e")
        form = app.screen
        assert isinstance(form, DraftForm)
        path = form.subject.memory.path
        form.query_one(Body).text = f"Install with {KEY}."
        await pilot.pause()
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, Choice)
        await choose(pilot, "Remove")
        await settle(pilot)
        assert "Install with [redacted: GitHub token]." in read(path)
        assert KEY not in read(path)
