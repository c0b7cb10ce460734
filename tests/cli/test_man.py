"""The manual page says what the parser and the documents say, wherever it is read."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import memtui as package
from memtui.cli import man, parser

SOURCES = Path(package.__file__).parents[1]


@pytest.fixture(scope="module")
def page():
    return man.page()


def test_it_has_every_command_option_and_example(page):
    text = " ".join(man.plain(page).split())
    for name, found in parser.walk("memtui", parser.build()):
        for action in found._actions:
            for option in action.option_strings:
                assert option in text, (name, option)
        for line in found.epilog.partition("example:\n")[2].splitlines():
            assert " ".join(line.split()) in text
    for name in parser.COMMANDS:
        assert f"memtui {name}" in text


def test_it_has_dates_exit_codes_and_environment_of_the_document(page):
    text = " ".join(man.plain(page).split())
    for words in (
        "tomorrow 9:30",
        "4 conflict: the file changed meanwhile",
        "FORCE_COLOR",
        '{"v": 1, "command": "inbox"',
    ):
        assert words in text
    headings = re.findall(r"^\.SH (.*)$", page, re.MULTILINE)
    assert headings[:5] == ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS"]
    assert [*man.SECTIONS.values(), "FILES"] == headings[5:]


def test_text_can_not_become_a_macro(page):
    known = {".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".nf", ".fi", ".RS", ".RE"}
    assert {line.split()[0] for line in page.splitlines() if line.startswith((".", "'"))} <= known
    assert page.isascii()
    assert man.plain(".PP\n" + man.escaped(".x 'quoted' `code` a-b \\n ü")) == "  .x 'quoted' `code` a-b \\n ü\n"


@pytest.mark.skipif("CI" not in os.environ and not shutil.which("groff"), reason="groff is not installed")
def test_it_is_set_without_a_warning(page):
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=page, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_it_is_made_without_any_package():
    """As for the wheel, which is built where memtui's dependencies are not installed."""
    code = f"import sys; sys.path.insert(0, {str(SOURCES)!r}); from memtui.cli import man; print(len(man.page()))"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 20_000


def test_man_shows_it_as_plain_text_in_a_pipe(memtui):
    out = memtui("--man").out
    about = parser.build().description.rstrip(".")
    assert out.startswith(f"NAME\n  memtui - {about[:1].lower()}{about[1:]}\n")
    assert "\\f" not in out
    lines = man.plain(man.page()).splitlines()
    assert [line for line in lines if len(line) > 80 and not line.startswith("      ")] == []
    assert "\0" not in out
    assert "Did you mean memtui --man?" in memtui("man", check=False).err


def test_what_may_be_left_out_stands_in_brackets():
    text = man.plain(man.page())
    assert "memtui undo [ID]" in text
    assert "memtui history [NAME|ID...]" in text
    assert "memtui show NAME|ID\n" in text
    assert "name, type, age, size, deliveries, last, recalled, used, flags; default:" in text
