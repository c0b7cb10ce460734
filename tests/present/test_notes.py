"""The words for when a note goes: the next prompt is promised only to notes that it brings."""

import pytest

from memtui.present import notes


@pytest.mark.parametrize(
    ("addressees", "urgent", "goes", "queued", "first"),
    [
        ("", False, "with the next prompt", "for the next prompt", "in /p: your next prompt there gets this note."),
        ("people", True, "before the next tool use", "for the next tool use", "in /p: your next prompt there gets"),
        ("path:src", False, "when a tool touches src", "until a tool touches src", "comes when a tool touches src."),
        (
            "people, agent:reviewer",
            False,
            "with the next prompt of the agent reviewer",
            "for the next prompt of the agent reviewer",
            "in /p with MEMTUI_AGENT=reviewer: your next prompt there gets this note.",
        ),
        (
            "agent:reviewer,path:src/**",
            True,
            "when a tool of the agent reviewer touches src/**",
            "until a tool of the agent reviewer touches src/**",
            "with MEMTUI_AGENT=reviewer: this note comes when a tool touches src/**.",
        ),
    ],
)
def test_it_is_said_what_brings_a_note(addressees, urgent, goes, queued, first):
    assert notes.moment(addressees, urgent=urgent) == goes
    assert notes.moment(addressees, urgent=urgent, waits=True) == queued
    assert first in notes.first_session(addressees, "/p")
    assert ("your next prompt" in notes.first_session(addressees, "/p")) == ("path:" not in addressees)


def test_no_new_session_gets_a_note_for_another_one():
    assert notes.first_session("session:1f0c", "/p") == ""
