"""The words for proposals."""

import pytest

from memtui.tidy.changeset import Savings
from memtui.views.changesets import saved


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Savings(1, 173, 1, 37), "Saves 1 memory, 1 line of MEMORY.md (about 9 tokens of each session), 210 B."),
        (Savings(0, 0, 1, -3), "Saves 1 line of MEMORY.md. The files are 3 B longer."),
        (Savings(-1, -1200, -1, -40), "Adds 1 memory, 1 line of MEMORY.md (about 10 tokens of each session), 1.2 kB."),
        (Savings(0, 0, 0, 0), ""),
    ],
)
def test_what_becomes_more_is_never_told_as_saved(found, words):
    assert saved(found) == words
