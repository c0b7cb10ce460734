"""The words for proposals."""

import pytest

from memtui.tidy.composed_files import Savings
from memtui.views import changesets
from memtui.views.changesets import saved


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (
            Savings(1, 173, 1, 37),
            "Saves 1 memory, 1 line of MEMORY.md (about 9 tokens of each session), 210 B.",
        ),
        (Savings(0, 0, 1, -3), "Saves 1 line of MEMORY.md. The files are 3 B longer."),
        (
            Savings(-1, -1200, -1, -40),
            "Adds 1 memory, 1 line of MEMORY.md (about 10 tokens of each session), 1.2 kB.",
        ),
        (Savings(0, 0, 0, 0), ""),
    ],
)
def test_what_becomes_more_is_never_told_as_saved(found, words):
    assert saved(found) == words


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("MEMORY.md of auto lists 1 file.", "auto shop: MEMORY.md lists 1 file."),
        ("auto has no MEMORY.md, so 1 memory is not listed.", "auto shop has no MEMORY.md, so 1 memory is not listed."),
        ("auto:notes is broken.", "notes is broken."),
    ],
)
def test_a_sentence_begins_with_what_it_is_about(sentence, words):
    assert changesets.without_scope(sentence, "auto", "auto shop") == words
