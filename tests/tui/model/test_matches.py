"""What the filter finds, and what it highlights."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from memtui.tui.model import matches


def test_whole_words_stand_before_parts_and_each_in_the_order_of_the_list():
    rows = ["block-list", "clock", "file_lock", "lock-file", "look", "unlocked lock"]
    assert matches.Haystack(rows, str).select("lock") == [
        "file_lock",
        "lock-file",
        "unlocked lock",
        "block-list",
        "clock",
    ]
    assert matches.Haystack(rows, str).select("lock-f")[0] == "lock-file"


def marked(text, typed):
    cell = Text(text)
    matches.mark([cell], typed)
    return "".join(text[span.start : span.end] for span in sorted(cell.spans))


def test_letters_that_fold_to_two_do_not_hide_the_matches_beside_them():
    assert marked("Straße: use PNPM, İ", "pnpm") == "PNPM"


def in_long(text, typed):
    body = Text(text)
    return matches.mark_long(body, typed), [text[span.start : span.end] for span in body.spans]


def test_a_long_text_says_where_its_first_match_begins():
    assert in_long("one\ntwo pnpm\nPnpm", "pnpm") == (8, ["pnpm", "Pnpm"])
    assert in_long("one\ntwo", "zzzz") == (None, [])
    assert in_long("a cat", "a c") == (None, [])  # letters are everywhere
    assert in_long("a cat", "") == (None, [])


@pytest.mark.slow
@given(st.lists(st.text(max_size=30), max_size=8), st.text(max_size=12))
def test_any_text_can_be_typed_and_what_holds_it_comes_first(rows, typed):
    got = matches.Haystack(rows, str).select(typed)
    words = typed.casefold().split()
    exact = [row for row in rows if all(word in row.casefold() for word in words)]
    assert sorted(got[: len(exact)]) == sorted(exact)
    for row in rows:
        matches.mark([Text(row)], typed)
