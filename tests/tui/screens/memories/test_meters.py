"""How full the indexes are: the limit that binds, within the width there is."""

import pytest
from rich.cells import cell_len

from memtui.core.memories.index import Budget
from memtui.tui.screens.memories.meters import binding, both, cut_line, index_line


def budget(lines, units, below=()):
    return Budget(lines, units, units, None, below)


def test_the_nearer_limit_is_told():
    assert binding(budget(177, 24_900)) == "24.9k/25k characters"
    assert binding(budget(177, 900)) == "177/200 lines"
    assert both(budget(177, 24_900)).plain == " 24.9k/25k characters  177/200 lines"


@pytest.mark.parametrize("width", [58, 78, 98, 158])
def test_three_indexes_fit_and_no_word_is_cut(width):
    found = [("global", budget(3, 200)), ("project", budget(177, 24_900)), ("auto", budget(200, 25_000))]
    line = index_line(found, width)
    assert cell_len(line.plain) <= width
    assert "24.9k/25k" in line.plain
    assert ("3/200 lines" in line.plain) == (width == 158)


def test_of_many_projects_those_over_the_limit_are_named():
    class Row:
        def __init__(self, letters):
            self.letters = self.flags = letters

    assert cut_line([("a", []), ("b", [Row("")])]).plain == " index  all 2 within their limit"
    assert (
        "1 of 2 indexes over the limit: b 2 below the cut" in cut_line([("a", []), ("b", [Row("B"), Row("XB")])]).plain
    )
