"""What differs between two texts is shown at once, and what is not shown is counted."""

import random

import pytest

from memtui.tui.widgets import prose

COUNT = 2000


def shown(old, new):
    return prose.difference("\n".join(old), "\n".join(new)).plain


def test_what_is_the_same_far_from_the_changes_is_counted():
    old = [f"line {number}" for number in range(1000)]
    found = shown(old, [*old[:500], "new", *old[501:]])
    assert "- line 500\n+ new\n" in found
    assert "… 496 lines are the same in both" in found
    assert "… 495 lines are the same in both" in found
    assert len(found.split("\n")) < 20


@pytest.mark.parametrize("length", [5, 400])
def test_texts_too_long_to_show_are_both_begun_and_the_rest_is_counted(length):
    old, new = ([f"{mark}{number} ".ljust(length, "~") for number in range(COUNT)] for mark in ("old", "new"))
    found = shown(old, new).split("\n")
    for mark, sign in (("old", "-"), ("new", "+")):
        there = sum(line.startswith(f"{sign} {mark}") for line in found)
        rest = COUNT - there
        told = f"{sign} … {rest} more lines: not shown here"
        assert there > 10
        assert (told in found) == (rest > 0)


def test_what_a_line_is_cut_by_is_told():
    text = prose.difference("x", "~" * 9000)
    assert "… 5000 more characters of this line" in text.plain
    assert "yellow" in {span.style for span in text.spans}


@pytest.mark.parametrize("seed", range(20))
def test_no_line_of_either_is_lost_or_invented(seed, monkeypatch):
    monkeypatch.setattr(prose, "CONTEXT", 1000)
    dice = random.Random(seed)
    old, new = ([str(dice.randrange(60)) for _ in range(1 + dice.randrange(120))] for _ in range(2))
    found = [(line[0], line[2:]) for line in shown(old, [*new, "end"]).splitlines()]
    assert [line for sign, line in found if sign != "+"] == old
    assert [line for sign, line in found if sign != "-"] == [*new, "end"]
