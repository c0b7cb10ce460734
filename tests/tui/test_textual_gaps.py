"""What the terminal sends is read as keys, or not at all."""

import inspect

import pytest
from textual._compositor import Compositor
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.widget import Widget

from memtui.tui import safety_net
from memtui.tui.textual_gaps import TerminalParser


def parser(errors=None):
    return TerminalParser([].append if errors is None else errors.append)


def keys(text):
    return [getattr(each, "key", type(each).__name__) for each in parser().feed(text)]


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


@pytest.mark.parametrize("pixels", ["0;0", "1;1", "480;640", "99999999;0"])
def test_a_mouse_position_is_in_cells_whatever_size_is_reported(pixels):
    pressed = list(parser().feed(f"\x1b[48;24;80;{pixels}t\x1b[<0;41;13M"))[-1]
    assert (pressed.x, pressed.y) == (40, 12)


def test_reading_goes_on_behind_what_cannot_be_parsed(monkeypatch):
    def fail(*_):
        raise ZeroDivisionError

    errors = []
    reader = parser(errors)
    with monkeypatch.context() as broken:
        broken.setattr(reader, "parse_mouse_code", fail)
        assert list(reader.feed("\x1b[<0;3;4M")) == []
    assert [type(error) for error in errors] == [ZeroDivisionError]
    assert [type(message).__name__ for message in reader.feed("\x1b[<0;3;4Mg")] == ["MouseDown", "Key"]


@pytest.mark.parametrize(
    ("sent", "error"),
    # Python 3.14 has another error for a character out of range.
    [("\x1b[48;24;80;0;0t\x1b[<0;41;13M", ZeroDivisionError), ("\x1b[99999999999ug", (OverflowError, ValueError))],
)
def test_textual_alone_still_stops_reading_at_what_it_cannot_parse(sent, error):
    with pytest.raises(error):
        list(XTermParser().feed(sent))


def test_textual_alone_takes_an_unknown_sequence_for_more_than_its_key():
    assert [getattr(each, "key", "") for each in XTermParser().feed("\x1b[1;2;3qg")] != ["g"]


def test_textual_alone_still_needs_each_of_the_other_pieces():
    assert 'getincrementaldecoder("utf-8")()' in inspect.getsource(LinuxDriver.run_input_thread), "strict UTF-8"
    assert safety_net.UNDRAWN
    assert "except" not in inspect.getsource(Widget._render.__wrapped__), "an error in a drawing ends all"
    assert "full_map" in inspect.getsource(Compositor.reflow), "a layout is compared with one only asked for"
    assert "width" not in inspect.getsource(LinuxDriver.process_message), "a size that no terminal has"
    assert "filter(" not in inspect.getsource(Compositor.render_partial_update), "places without a cell"
