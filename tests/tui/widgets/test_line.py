"""The facts of a title: as many as there is room for."""

import pytest
from rich.text import Text

from memtui.tui.widgets.lines import fitting

TITLE = "404 of 415 memories · 3 to fix · h chooses a scope"


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (50, TITLE),
        (49, "404 of 415 memories · 3 to fix"),
        (30, "404 of 415 memories · 3 to fix"),
        (29, "404 of 415 memories"),
        (19, "404 of 415 memories"),
        (18, "404 of 415 memories"),  # cut where it is drawn
    ],
)
def test_facts_without_room_go_whole(width, shown):
    assert fitting(Text(TITLE), width).plain == shown
