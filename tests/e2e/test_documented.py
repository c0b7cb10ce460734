"""What README.md and docs/*.md name exists: commands and options parse, keys are those of the TUI; the README's are typed in
a terminal."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from memtui import keymap
from memtui.base.errors import UsageError
from memtui.cli import parser

from .screen import MemtuiTerminal, ShellTerminal
from .worlds import DemoWorld

REPO = Path(__file__).resolve().parents[2]
FILES = [REPO / "README.md", *sorted((REPO / "docs").glob("*.md"))]
CODE = re.compile(r"`((?:\\\||[^`])+)`")
OPTION = re.compile(r"--[a-z][a-z-]*")
KEY = re.compile(r"[!?/]|[a-zA-Z0-9]|ctrl\+\w")
COMMENT = re.compile(r"\s{2,}#.*")
# What stands in a text for what is typed.
PLACEHOLDERS = {"[": "", "]": "", "…": "", "KEY VALUE": "mode off", "KEY": "mode", "SHELL": "bash", "COMMAND": "note"}
# How a command is refused that a sentence names without what it takes.
NAMED_ALONE = re.compile(r"Give |.*(needs a value|expected \d)")
PRINTED = "memtui 1 answer · 2 notes · 3 drafts · ✓ arrived 2m"


def spans(path):
    """The pieces of code of a text, those in a line of their own too."""
    for line in path.read_text().splitlines():
        if line.startswith("    "):
            yield COMMENT.sub("", line).strip()
        else:
            yield from (span.replace("\\|", "|") for span in CODE.findall(line))


def commands():
    """The command lines of memtui that the texts name, as words without `memtui`."""
    for path in FILES:
        for span in spans(path):
            for part in span.split(" && ") if span != PRINTED else ():
                name, _, rest = part.removeprefix(".venv/bin/").partition(" ")
                if name == "memtui" or (path.name == "cli.md" and name in parser.COMMANDS):
                    text = rest if name == "memtui" else part
                    for placeholder, value in PLACEHOLDERS.items():
                        text = text.replace(placeholder, value)
                    yield shlex.split(text)


def refusal(words):
    """Why a command line is refused; nothing where it is taken."""
    try:
        parser.parse(words)
    except SystemExit:  # it prints a help page or the version
        return ""
    except UsageError as error:
        return "" if NAMED_ALONE.match(error.message) else error.message
    return ""


@pytest.mark.slow
def test_every_documented_command_parses():
    lines = list(commands())
    assert len(lines) > 80
    assert {message for words in lines if (message := refusal(words))} == set()


def test_every_documented_option_is_one_of_a_command():
    known = {
        flag
        for _, each in parser.walk("", parser.build())
        for action in each._actions
        for flag in action.option_strings
    }
    known.add("--after")  # of `memtui statusline`, which has no help
    named = {option for span in spans(REPO / "docs/cli.md") for option in OPTION.findall(span)}
    assert len(named) > 50
    assert named <= known


def test_every_documented_key_is_one_of_the_tui():
    keys = {keymap.key_word(key) for action in keymap.ACTIONS for key in action.keys.split(",")}
    keys |= {key for action in keymap.ACTIONS for key in action.keys.split(",")}
    for path in FILES:
        named = {span for span in spans(path) if KEY.fullmatch(span)}
        assert path.name == "file-formats.md" or named <= keys, path


# What the README has people type.

ASKED = (r"\[y/N\] ", "y\r")
README = [
    ("memtui setup hooks --remove", "settings", [ASKED]),
    ("memtui setup hooks", "settings", [ASKED]),
    ("memtui setup", r"7 hooks \(user\)", []),
    ('memtui note "CI is broken on master: fix that first"', r"--withdraw\s+[0-9A-Z]{6}", []),
    ("memtui inbox", "draft .*(?s:.*)merge ", []),
    ("memtui approve J5VMX3", "memtui undo", []),
    ("memtui undo", "(?i)undo|approve", []),
    ("memtui import .claude/memory --dry-run", "known already|would", []),
    ("memtui demo", "This shell is in a sample world", [("exit leaves it", "exit\n")]),
    ("memtui demo --tour", "", [("1 of 3", "q")]),
    ("memtui", "", [("1 Memories", "q")]),
]


@pytest.fixture
def world(tmp_path):
    """The sample world with `memtui` on its PATH."""
    demo = DemoWorld(tmp_path)
    (demo.bin / "memtui").write_text(f'#!/bin/sh\nexec {sys.executable} -m memtui "$@"\n')
    (demo.bin / "memtui").chmod(0o700)
    return demo


@pytest.mark.terminal(always=True)
def test_the_commands_of_the_readme_do_what_is_said(world):
    with ShellTerminal(world) as shell:
        shell.run(f"export TMPDIR={world.base} COLUMNS=150")
        for line, shows, answers in README:
            code, printed = shell.run(line, answers)
            assert code == 0, printed
            assert re.search(shows, printed), (line, printed)
            assert not re.search(r"Traceback|unexpected", printed), (line, printed)
    assert world.errors() == []


@pytest.mark.terminal(always=True)
def test_the_keys_of_the_readme_do_what_is_said(world):
    memory = world.project / ".claude/memory/ask-before-migrations.md"
    with MemtuiTerminal(world) as tui:
        tui.see("hooks", "prefer-pnpm")
        tui.press("?")
        tui.see("edit its fields and text", "q \\^q +leave memtui")
        tui.press("\x1b")
        tui.see("prefer-pnpm", gone="leave memtui")
        tui.press("2")
        tui.see("1[0-9] to decide")
        tui.press("a")
        tui.see("Approved: ask-before-migrations")
        assert "show the SQL first" in memory.read_text()
        tui.press("1")
        tui.see("ask-before-migrations")
        tui.press("z")
        tui.see("Undone|undone")
        assert not memory.exists()
        tui.press("c")
        tui.see("Write a note")
        tui.press("A note of mine.")
        tui.see("A note of mine.")
        tui.press("\x13")
        tui.see("Waits for the next prompt")
        tui.press("3")
        tui.see("waiting +A note of mine")
        tui.press("U")
        tui.see("what was changed|write a note|note")
        tui.press("\x1b")
        tui.see(r"\d deliveries ")
        # It follows what others do.
        (world.root / "global" / "guidance.md").write_text("Something new.\n")
        tui.see("Something new")
        tui.press("q")
        assert (tui.end(), tui.left_on) == (0, [])
    assert world.errors() == []
