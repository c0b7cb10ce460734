"""A line that is too long for its place is cut between words, and never cut away."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.base.phrasing_hot import cut, gap, some
from tables import rows


def test_lines_are_cut_between_words_and_names_beyond_five_counted():
    assert cut("use pnpm in this repository", 27) == "use pnpm in this repository"
    assert cut("use pnpm in this repository", 20) == "use pnpm in this…"

    assert (cut("長" * 200, 20), cut("fix " + "長" * 200, 20)) == ("長" * 19 + "…", "fix " + "長" * 15 + "…")
    assert (some(["a", "b"]), some(list("abcdefg"))) == ("a, b", "a, b, c, d, e and 2 more")
    assert some(list("abcdefg"), 6) == "a, b, c, d, e, f and 1 more"


@given(st.text(), st.integers(4, 50))
def test_it_never_takes_more_room_and_keeps_about_half_of_it(text, most):
    shown = cut(text, most)
    assert len(shown) <= most
    assert shown == text or (shown.endswith("…") and len(shown) >= most // 2 + 1)
    assert text.startswith(shown.removesuffix("…") if shown != text else text)


@pytest.mark.parametrize(
    ("text", "end", "beginning"), rows(__file__, "a line is cut between words or in a long name that would go whole")
)
def test_a_line_is_cut_between_words_or_in_a_long_name_that_would_go_whole(text, end, beginning):
    assert text[: gap(text, end)].rstrip() == beginning
