"""The help has a legend of every mark that the lists of a screen draw."""

import pytest

from memtui.tui.widgets.rows import RowList
from memtui.views import glyphs
from memtui.views.words import TABLES

from .conftest import press, running

# What is drawn of text, of gauges and of rules is no mark.
TEXT = set("–—“”„‘’‚×─━│╸╺┅╍▁▂▃▄▅▆▇█▏▎▍▌▋▊▉")
SCREENS = ["memories", "inbox", "activity", "setup"]


async def help_text(pilot):
    await press(pilot, "question_mark")
    return pilot.app.focused.plain


@pytest.mark.parametrize("name", SCREENS)
async def test_every_mark_that_is_drawn_is_explained(app, name):
    app.first = name
    async with running(app, (160, 60)) as pilot:
        drawn = set()
        for table in app.screen.query(RowList):
            for at, row in enumerate(table.rows):
                cells = table._draw(row)
                drawn |= {char for cell in cells for char in cell.plain if char in glyphs.PLAIN}
                table.move_to(at)
                drawn |= {line[0] for line in app.screen.detail.plain.split("\n") if line[:1] in glyphs.PLAIN}
        marks = {line.split()[0] for line in (await help_text(pilot)).split("\n") if line[:2] == "  " and line.strip()}
        assert drawn - TEXT <= marks
        assert TABLES["marks in lists"].keys() <= marks
