"""The tour leads through the real screens, changes nothing, and can be left at every step."""

import pytest

from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.tour import STEPS, Tour
from tui.conftest import NOW, settle
from tui.screens.test_setup import _tree as tree


def touring(world, **more):
    return MemtuiApp(dict(world.env), world.shop, now=NOW, tour=True, **more)


def lines(app):
    return [strip.text.rstrip() for strip in app.screen._compositor.render_strips()]


def below(app):
    """The group of the screen that the box is over."""
    return app.screen_stack[0].group


@pytest.mark.usefixtures("every_frame")
@pytest.mark.parametrize("size", [(80, 24), (40, 16)])
@pytest.mark.slow
async def test_each_step_is_on_its_screen_and_wholly_shown(world, size):
    before = tree(world.directory)
    app = touring(world, read_only=True)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        for step in STEPS:
            assert below(app) == step.screen
            shown = " ".join(" ".join(lines(app)).split())
            assert step.title in shown
            assert step.words.split()[-1] in shown
            assert "After the tour: " in shown
            assert "escape leave the tour" in shown
            assert "{" not in shown
            await pilot.press("n")
            await settle(pilot)
        assert not isinstance(app.screen, Tour)
        assert app.screen.group == STEPS[-1].screen
    assert tree(world.directory) == before


@pytest.mark.slow
async def test_it_goes_back_and_is_left_where_one_is(world):
    app = touring(world)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("p")
        await settle(pilot)
        assert app.screen.at == 0
        await pilot.press("n")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        await pilot.press("p")
        await settle(pilot)
        assert (app.screen.at, below(app)) == (1, "inbox")
        await pilot.press("a", "x", "c", "d")  # keys of the screen below do nothing to it
        assert app.screen.at == 1
        await pilot.press("escape")
        await settle(pilot)
        assert app.screen.group == "inbox"
        await pilot.press("3")
        await settle(pilot)
        assert app.screen.group == "activity"
