"""`memtui new` in an editor: the template's lines that were left are no part of the memory."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from memtui.cli import parser


@pytest.fixture
def at_terminal(world, editor):
    """Run `memtui new` at a terminal, with an editor of a few lines of Python; its exit code and what it said."""

    def run(source, *words):
        controller, terminal = pty.openpty()
        env = {**world.env, "PATH": os.environ["PATH"], "EDITOR": editor(source)}
        env["PYTHONPATH"] = str(Path(parser.__file__).parents[2])
        command = [sys.executable, "-m", "memtui", "new", *words]
        done = subprocess.run(
            command, stdin=terminal, capture_output=True, env=env, cwd=world.shop, check=False, text=True
        )
        os.close(terminal)
        os.close(controller)
        return done.returncode, done.stdout + done.stderr

    return run


def made(world, name):
    path = Path(world.shop, ".claude/memory", name + ".md")
    return path.read_text() if path.exists() else None


def replace(old, new):
    return f"path.write_text(path.read_text().replace({old!r}, {new!r}))"


@pytest.mark.slow
def test_lines_of_the_template_that_were_left_are_not_saved(at_terminal, world):
    assert at_terminal(replace("The rule, in one sentence.", "No mocks."), "no-mocks")[0] == 0
    head = "---\nname: no-mocks\ndescription: No mocks.\nmetadata:\n  type: feedback\n---\n"
    assert made(world, "no-mocks") == head + "\nNo mocks.\n"
    code, _ = at_terminal(replace("what happened, or what the user said.", "CI broke."), "ci")
    assert (code, made(world, "ci").partition("---\n\n")[2]) == (0, "**Why:** CI broke.\n")


@pytest.mark.slow
def test_with_a_description_no_editor_opens(at_terminal, world):
    code, words = at_terminal("raise SystemExit(1)", "no-mocks", "--type", "feedback", "--description", "No mocks")
    assert (code, "no-mocks.md" in words) == (0, True), words
    assert made(world, "no-mocks").endswith("description: No mocks\nmetadata:\n  type: feedback\n---\n\nNo mocks\n")


@pytest.mark.slow
def test_a_description_alone_is_the_text(at_terminal, world):
    assert at_terminal(replace("What it is about, in one line", "Reads JSON"), "jq", "--type", "tool")[0] == 0
    assert "description: Reads JSON\n" in made(world, "jq")
    assert made(world, "jq").endswith("---\n\nReads JSON\n")


@pytest.mark.slow
@pytest.mark.parametrize("source", ["", "path.write_text('')", replace("no-mocks", "never-mocks")])
def test_a_template_without_anything_written_makes_nothing_and_says_so(at_terminal, world, source):
    code, told = at_terminal(source, "no-mocks")
    assert code == 1
    assert "no memory was created" in told
    assert "kept in" not in told
    assert made(world, "no-mocks") is made(world, "never-mocks") is None


def test_a_name_of_words_becomes_a_file_with_dashes(memtui, world):
    memtui("new", "Drink tea", "--description", "Tea is at four")
    assert made(world, "drink-tea").startswith("---\nname: drink-tea\n")
