"""Numbers as bars."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.views.glyphs import bar


@pytest.mark.parametrize(
    ("value", "drawn"),
    [
        (-1, "    "),
        (0, "    "),
        (0.001, "▏   "),
        (1, "▌   "),
        (2, "█   "),
        (4, "██  "),
        (7.75, "███▉"),
        (8, "████"),
        (9, "████"),
    ],
)
def test_a_bar_fills_its_cells_in_eighths(value, drawn):
    assert bar(value, 8, 4) == drawn


@pytest.mark.parametrize("top", [0, -1])
def test_without_a_top_a_bar_is_empty(top):
    assert bar(5, top, 3) == "   "


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.floats(0.001, 1e6), st.integers(0, 200))
def test_a_bar_has_its_width_and_a_larger_value_no_shorter_one(one, other, top, width):
    small, large = (bar(value, top, width) for value in sorted((one, other)))
    assert len(small) == len(large) == width
    assert len(small.rstrip()) <= len(large.rstrip())
