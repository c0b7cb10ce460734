"""Two changes of one text are merged by lines, or are said to overlap."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.core.base.three_way import merged

SAME = "\n".join(["-"] * 300)
TEXTS = st.lists(st.sampled_from("abcd"), max_size=6).map("\n".join)


@pytest.mark.parametrize(
    ("base", "older", "newer", "wanted"),
    [
        ("a\nb\nc", "a\nc", "a\nb\nc\nd", "a\nc\nd"),
        ("a\nb", "a", "a\nb\nc", "a\nc"),
        ("a\nb", "A\nb", "a\nB", "A\nB"),
        ("a\nb", "A\nb", "A\nb", "A\nb"),
        ("a", "a\nold", "a\nnew", "a\nold\nnew"),
        ("a\nb", "a", "a\nB", None),
        ("a\nb\nc", "a\nc", "x\ny\nz", None),
        ("", "", "a", "a"),
        ("a", "", "a", ""),
        (SAME, f"first\n{SAME}\nlast", SAME[2:], f"first\n{SAME[2:]}\nlast"),
    ],
)
def test_changes_of_different_lines_are_both_made_and_others_overlap(base, older, newer, wanted):
    assert merged(base, older, newer) == wanted


@given(TEXTS, TEXTS)
def test_a_change_of_one_side_alone_is_made_as_it_is(base, other):
    assert merged(base, base, other) == merged(base, other, base) == merged(base, other, other) == other
