"""The words for who gets a note, and when: the next prompt is promised only to notes that it brings."""

import pytest

from memtui.views import notes

PATH = "agent:reviewer,path:src/**"


@pytest.mark.parametrize(
    ("addressees", "urgent", "words"),
    [
        ("", False, "the next prompt in shop"),
        ("people", True, "the next prompt or tool use of a person in shop"),
        ("path:src", False, "the next tool in shop that touches src"),
        ("people, agent:reviewer", False, "the next prompt of the agent reviewer in shop"),
        (PATH, True, "the next tool of the agent reviewer in shop that touches src/**"),
        ("session:1f0c2b3d4e", False, "the next prompt of session 1f0c2b3d"),
    ],
)
def test_it_is_said_who_gets_a_note(addressees, urgent, words):
    assert notes.recipient(addressees, urgent=urgent, project="shop") == words


def test_it_is_said_what_brings_a_note():
    assert notes.way("people", "") == "start claude there, or go on in a session that runs"
    assert notes.way("session:1f0c", "claude --resume 1f0c") == "go on there, or claude --resume 1f0c"
    assert notes.way("session:1f0c", "") == notes.way("agent:reviewer", "") == ""
