"""What the terminal shows is what is there: whatever moved, nothing of what was painted before is left on the screen."""

import os

import pytest
from textual._compositor import CompositorUpdate

from e2e.screen import Cells
from memtui.tui.app import MemtuiApp
from tui.conftest import NOW, press, settle


def watched(app, *size):
    """The screen of a terminal that gets all that the application paints."""
    cells = Cells(*size)
    display = app._display

    def painted(screen, renderable):
        if isinstance(renderable, CompositorUpdate):
            cells.feed(renderable.render_segments(app.console))
        display(screen, renderable)

    app._display = painted
    return cells


@pytest.mark.usefixtures("every_frame")
async def test_a_list_that_grows_where_the_preview_was_is_painted_whole(world):
    project = os.path.join(world.root, "other")
    os.mkdir(project)
    app = MemtuiApp(dict(world.env), project, now=NOW)
    cells = watched(app, 80, 24)
    async with app.run_test(size=(80, 24)) as pilot:
        for key in ("2", "3", "4", "1", "p"):
            await settle(pilot)
            await press(pilot, key)
            assert cells.text == "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips()), key
