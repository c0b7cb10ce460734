"""The tour: a draft is approved, a session of the sample world gets it, and it is undone; it can be left at every step."""

import glob
import os
from types import SimpleNamespace

import pytest

from memtui.deliver import receipts_hot
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.first_start import APPROVE, STEPS, Tour
from tui.conftest import NOW, press, running, until
from tui.hands import lines, notes, tree


def touring(world, **more):
    return MemtuiApp(dict(world.env), world.shop, now=NOW, tour=True, **more)


def memories(world):
    return set(os.listdir(f"{world.shop}/.claude/memory"))


@pytest.mark.usefixtures("every_frame")
@pytest.mark.parametrize("size", [(80, 24), (40, 16)])
async def test_each_step_is_on_its_screen_and_wholly_shown(world, size):
    before = tree(world.directory)
    app = touring(world, read_only=True)
    async with running(app, size) as pilot:
        for step in STEPS[:-1]:  # nothing was approved, so nothing is undone
            assert app.screen_stack[0].group == step.screen
            shown = " ".join(" ".join(lines(app)).split())
            assert step.title in shown
            assert step.words.split()[-1] in shown
            assert "escape end the tour" in shown
            assert "{" not in shown
            await press(pilot, "enter")
        assert not isinstance(app.screen, Tour)
        assert app.screen.group == STEPS[-2].screen
    assert tree(world.directory) == before


async def test_a_draft_is_approved_comes_with_the_next_session_and_is_taken_back(world):
    before = memories(world)
    app = touring(world)
    async with running(app, (120, 40), "a") as pilot:
        (approved,) = memories(world) - before
        assert app.screen.step.title == "See it arrive"
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, Tour) and not app.screen.can_do)
        activity = app.screen_stack[0]
        await until(pilot, lambda: "basket" in getattr(activity.table.row, "title", ""))
        live = sum(getattr(row, "live", False) for row in activity.table.rows)
        assert activity.table.row.live
        assert activity.frame.top.render().plain.endswith(f" {live} live"), "row and top line say the same at once"
        at = activity.table.cursor
        session, prompt, delivery = activity.table.rows[at : at + 3]
        assert session.facts.title == "write the tests of the basket"
        assert not activity.is_filtered
        assert approved.removesuffix(".md") in delivery.logged.contents.titles
        assert activity.services.data.receipts.known[delivery.logged.id] == receipts_hot.ARRIVED
        assert ("guidance", 2) in prompt.logged.contents.counts  # the notes that waited
        assert activity.services.data.receipts.known[prompt.logged.id] == receipts_hot.ARRIVED
        # The notes that the session got do not wait any more.
        assert "There it is" in " ".join(lines(app))
        await press(pilot, "enter")
        await press(pilot, "z")
        assert memories(world) == before
        assert not isinstance(app.screen, Tour)
        assert notes(app)[-1].startswith("Undone: ")
        assert "That was all." in notes(app)[-1]
        assert (app.screen.group, app.screen.table.row.kind.word) == ("inbox", "draft")


@pytest.mark.every(step=1)
async def test_it_is_left_where_one_is(world):
    app = touring(world)
    async with running(app, (80, 24)) as pilot:
        for key in "xcd":  # keys of the screen below do nothing to it
            await press(pilot, key)
        assert app.screen.step is STEPS[0]
        await press(pilot, "escape")
        assert app.screen.group == "inbox"
        assert notes(app)[-1].startswith("You ended the tour: ^p has it again. ? lists the keys")


async def test_without_a_draft_the_tour_says_so_and_goes_on(empty, world):
    for inbox in glob.glob(f"{world.directory}/home/.claude/memtui/**/pending-*.md", recursive=True):
        os.remove(inbox)
    for project in (empty, (dict(world.env), world.shop)):
        app = MemtuiApp(*project, now=NOW, tour=True)
        async with running(app, (80, 24)) as pilot:
            await until(pilot, lambda app=app: "No draft waits yet." in " ".join(lines(app)))
            assert "approve" not in lines(app)[-1]
            assert "draft under the cursor" not in " ".join(lines(app))
            await press(pilot, "a")
            assert app.screen.step is STEPS[0]
            await press(pilot, "enter")
            assert app.screen.step is STEPS[1]
            await press(pilot, "enter")
            assert not isinstance(app.screen, Tour)


@pytest.mark.parametrize(
    ("action", "can_do", "keys"),
    [(APPROVE, True, ["a", "enter", "j k", "escape"]), (APPROVE, False, ["enter", "escape"]),
     ("app.undo", True, ["a", "enter", "escape"])],
)  # fmt: skip
def test_another_draft_is_offered_where_one_can_be_approved(action, can_do, keys):
    step = SimpleNamespace(action=action, does="approve it")
    assert [key for key, _ in Tour.keys(SimpleNamespace(key="a", step=step, can_do=can_do))] == keys
