"""What reaches a terminal: nothing that acts on it, nothing wider than it, no colour where none is wanted."""

import json
import os
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.cli import output
from memtui.cli.output import Output

ANY_TEXT = st.text(st.characters(), max_size=60)


@given(ANY_TEXT)
def test_escaped_text_has_nothing_that_acts_on_a_terminal(text):
    shown = output.safe(text)
    for char in shown:
        code = ord(char)
        assert char == "\n" or code >= 32
        assert not any(
            low <= code <= high for low, high in ((0x7F, 0x9F), (0xD800, 0xDFFF), (0x202A, 0x202E), (0x2066, 0x2069))
        )


FILLERS = "\u115f\u1160\u3164\uffa0"


@given(
    st.text(st.characters(whitelist_categories=("L", "N", "P", "S", "Zs"), blacklist_characters=FILLERS), max_size=60)
)
def test_ordinary_text_of_any_language_stays(text):
    assert output.safe(text) == text.replace("\t", "    ")


class Terminal:
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass

    def isatty(self):
        return True

    def fileno(self):
        raise OSError


def test_work_of_half_a_second_shows_no_progress_and_longer_one_does(monkeypatch):
    terminal, now = Terminal(), [10.0]
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    out = Output({"COLUMNS": "40"})
    for seconds, shown in ((10.0, ""), (10.4, ""), (10.6, "Checking …"), (10.7, "")):
        now[0], terminal.text = seconds, ""
        assert out.progress("Checking …")
        assert terminal.text.strip() == shown
    out.progress("")
    assert terminal.text == " " * 39 + "\r"


@pytest.mark.parametrize(("locale", "shown"), [("C.UTF-8", "✓ né …\n"), ("C", "y n\\xe9 ~\n")])
def test_a_terminal_without_utf8_gets_ascii(locale, shown, monkeypatch):
    monkeypatch.setattr(sys, "stdout", Terminal())
    out = Output({"LANG": locale})
    out.print("✓ né …")
    assert out.stdout.text == shown


@pytest.mark.parametrize(("terminal", "columns"), [(120, 120), (20, 40), (0, 80)])
def test_lines_are_as_wide_as_the_terminal_says(terminal, columns, monkeypatch):
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setattr(Terminal, "fileno", lambda stream: 1)
    monkeypatch.setattr(os, "get_terminal_size", lambda number: os.terminal_size((terminal, 24)))
    assert output.terminal_columns({}) == columns


CELLS = st.lists(st.tuples(st.text(max_size=30).map(output.line), st.text(max_size=90).map(output.line)), min_size=1)


@given(CELLS, st.integers(40, 120))
def test_tables_are_no_wider_than_the_terminal(rows, columns):
    out = Output({"COLUMNS": str(columns)})
    out.stdout = stream = Terminal()
    out.table(["NAME", "DESCRIPTION"], rows, flex=(1, 0))
    assert all(output.width(line) <= columns for line in stream.text.splitlines())


def test_a_line_of_a_diff_stays_whole():
    out, row = Output({"COLUMNS": "40"}), "+- " + "word " * 12 + "end"
    out.stdout = Terminal()
    out.diff_lines([row], "  ")
    assert out.stdout.text == f"  {row}\n"


def test_colour_only_on_a_terminal_and_unless_refused(monkeypatch):
    def written(env, style):
        monkeypatch.setattr(sys, "stdout", Terminal())
        out = Output({"LANG": "C.UTF-8", **env})
        out.print(output.styled("x", style))
        return out.stdout.text

    assert (written({}, "red"), written({"NO_COLOR": "1"}, "red")) == ("\x1b[31mx\x1b[0m\n", "x\n")
    assert (written({"TERM": "dumb"}, "red"), written({}, "")) == ("x\n", "x\n")
    assert written({"TERM": "dumb", "FORCE_COLOR": "1"}, "red") == "\x1b[31mx\x1b[0m\n"
    assert written({"FORCE_COLOR": "1", "NO_COLOR": "1"}, "red") == "x\n"


@pytest.mark.parametrize("text", ["\x1b[31mred", "\x9b2J", f"{output.STYLE_MARK}31mred", "\x1b]0;title\x07", "\x08"])
def test_no_text_brings_an_escape_of_its_own(text, monkeypatch):
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setattr(sys, "stderr", Terminal())
    out = Output({"LANG": "C.UTF-8", "NO_COLOR": "1"})
    out.print(text)
    out.table(["A"], [[(text, "red")]])
    out.say(text)
    assert (out.stdout.text + out.stderr.text).replace("\n", "").isprintable()


def test_a_session_and_a_note_bring_no_escape_of_their_own(world, memtui):
    from memtui.base import session_state_hot

    evil = "\x1b[2J\x1b]0;owned\x07"
    state = {"mode": "full" + evil, "cwd": "/x" + evil, "project_root": "/x" + evil, "started": evil, "project": evil}
    session_state_hot.SessionState(str(world.root), "evil-" + "0" * 30, state).save()
    memtui("note", "a note" + evil)
    for words in (["activity"], ["activity", "evil"], ["note", "--list"], ["inbox"], ["status"]):
        done = memtui(*words, check=False)
        assert "\x1b" not in done.out + done.err, words


def test_json_is_exact(memtui):
    text = "tab\there \u202e and \x1b[31m and \U0001f389"
    memtui("note", text)
    out = memtui("note", "--list", "--json").out
    assert out.isascii()
    assert text in {entry["text"] for entry in json.loads(out)["data"]["entries"]}
