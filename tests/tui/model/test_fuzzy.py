"""What the filter finds, and what it highlights."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from memtui.tui.model import fuzzy

ROWS = [
    "concise-answers answer in a few sentences",
    "prefer-pnpm use pnpm in this repository",
    "npm_scripts which of them to run",
    "release-steps a release is a tag on main",
]


def found(typed):
    return [row.split()[0] for row in fuzzy.Haystack(ROWS, str).select(typed)]


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("", ["concise-answers", "prefer-pnpm", "npm_scripts", "release-steps"]),
        ("pnpm", ["prefer-pnpm"]),  # the very word; npm_scripts has no p before its n
        ("tag release", ["release-steps"]),
        ("scr", ["npm_scripts"]),
        ("pnmp", ["prefer-pnpm"]),  # two swapped
        ("concizeans", ["concise-answers"]),  # alike
        ("zzzz", []),
    ],
)
def test_words_then_what_is_alike(typed, names):
    assert found(typed)[: len(names) or None] == names


def test_whole_words_stand_before_parts_and_each_in_the_order_of_the_list():
    rows = ["block-list", "clock", "file_lock", "lock-file", "look", "unlocked lock"]
    assert fuzzy.Haystack(rows, str).select("lock") == [
        "file_lock",
        "lock-file",
        "unlocked lock",
        "block-list",
        "clock",
    ]
    assert fuzzy.Haystack(["clock", "look"], str).select("lokc") == ["clock", "look"]  # similar only without others
    assert fuzzy.Haystack(rows, str).select("lock-f")[0] == "lock-file"


def test_a_row_that_differs_in_a_number_is_not_similar():
    rows = ["project-05", "project-09", "project-15", "shop"]
    assert fuzzy.Haystack(rows, str).select("project-59") == []
    assert fuzzy.Haystack(rows, str).select("projekt-09") == ["project-09"]


def marked(text, typed):
    cell = Text(text)
    fuzzy.mark([cell], typed)
    return "".join(text[span.start : span.end] for span in sorted(cell.spans))


def test_what_was_found_is_what_is_highlighted():
    assert marked("prefer-pnpm", "pnpm") == "pnpm"
    assert marked("pnpm is pnpm", "pnpm") == "pnpmpnpm"
    assert marked("concise-answers", "zzzz") == ""


def test_a_description_is_not_marked_loosely_where_the_name_has_the_word():
    name, description = Text("test-database"), Text("the state of things")
    fuzzy.mark([name, description], "test")
    assert name.spans
    assert not description.spans


def test_of_several_words_one_that_is_nowhere_marks_what_is_like_it():
    name, description = Text("prefer-pnpm"), Text("install with it")
    fuzzy.mark([name, description], "pnmp install")
    assert name.plain[name.spans[0].start : name.spans[0].end] == "pnpm"
    assert description.plain[description.spans[0].start : description.spans[0].end] == "install"


def test_letters_that_fold_to_two_do_not_hide_the_matches_beside_them():
    assert marked("Straße: use PNPM, İ", "pnpm") == "PNPM"


def in_long(text, typed):
    body = Text(text)
    first = fuzzy.mark_long(body, typed)
    return first, [text[span.start : span.end] for span in body.spans]


def test_a_long_text_says_where_its_first_match_begins():
    assert in_long("one\ntwo pnpm\nPnpm", "pnpm") == (8, ["pnpm", "Pnpm"])
    assert in_long("name\nuse the package manger", "manager") == (21, ["manger"])
    assert in_long("one\ntwo", "zzzz") == (None, [])
    assert in_long("a cat", "a c") == (None, [])  # letters are everywhere
    assert in_long("a cat", "") == (None, [])


@pytest.mark.slow
@given(st.lists(st.text(max_size=30), max_size=8), st.text(max_size=12))
def test_any_text_can_be_typed_and_what_holds_it_comes_first(rows, typed):
    got = fuzzy.Haystack(rows, str).select(typed)
    words = typed.casefold().split()
    exact = [row for row in rows if all(word in row.casefold() for word in words)]
    assert sorted(got[: len(exact)]) == sorted(exact)
    for row in rows:
        fuzzy.mark([Text(row)], typed)


@given(st.lists(st.sampled_from(["ab", "abc ba", "b a", "cab", "ac bb"]), max_size=8), st.text("abc ", max_size=9))
def test_a_key_after_another_finds_what_the_whole_query_does(rows, typed):
    def fresh():
        return fuzzy.Haystack(range(len(rows)), rows.__getitem__, lambda row: rows[row][::-1])

    filtered = fresh()
    letters = [typed[:end] for end in range(len(typed) + 1)]
    for so_far in [*letters, *reversed(letters)]:
        assert filtered.select(so_far) == fresh().select(so_far)
