"""What the terminal sends is read as keys, or not at all."""

import pytest

from memtui.tui.driver import _Parser


def keys(text):
    return [getattr(each, "key", type(each).__name__) for each in _Parser().feed(text)]


@pytest.mark.parametrize("sequence", ["\x1b[99999999999u", "\x1b[8364:1:9u", "\x1b[?1;2c", "\x1b[1;2;3q"])
def test_a_sequence_that_is_no_key_is_not_read_as_what_it_is_made_of(sequence):
    assert keys(f"{sequence}g") == ["g"]


def test_what_textual_knows_is_still_read():
    given = {
        "\x1b[1;5A": ["ctrl+up"],
        "\x1b[[A": ["f1"],
        "\x1b[15~": ["f5"],
        "\x1b[97u": ["a"],
        "\x1b[<0;3;4M": ["MouseDown"],
        "\x1b[?2026;1$y": ["TerminalSupportsSynchronizedOutput"],
        "\x1b[5;6R": ["CursorPosition"],
    }
    assert {text: keys(text) for text in given} == given
