"""`memtui note`, as a monitor calls it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from memtui.base import paths_hot
from memtui.inbox import format_hot

LAUNCHER = Path(paths_hot.__file__).parents[1] / "hooks" / "launch.py"


def waiting(shell, everywhere=False):
    root = shell.env["HOME"] + "/.claude/memtui"
    slug = None if everywhere else paths_hot.project_key(shell.cwd)
    return format_hot.read(paths_hot.inbox_dir(root, slug) + "/guidance.md")


def test_without_home_or_a_root_that_can_be_written_it_says_so(bare, tmp_path):
    (tmp_path / "file").write_text("")
    bare.env["MEMTUI_HOME"] = str(tmp_path / "file")
    done = bare("note", "hello", check=False)
    assert (done.code, done.err.count("\n")) == (1, 1)
    del bare.env["HOME"], bare.env["MEMTUI_HOME"]
    done = bare("note", "hello", check=False)
    assert done.code == 2
    assert "HOME" in done.err
    assert "CLAUDE_CONFIG_DIR" in done.err


def longest(shell):
    """The length up to which `guide` takes a note."""
    error = json.loads(shell("note", "x" * 12_000, "--json", check=False).out)["error"]["message"]
    return int(error.split(", and ")[1].split()[0].replace(",", ""))


@pytest.mark.parametrize("sender", ["cli", 'a <very> "odd" name & more'])
def test_what_it_accepts_the_hook_delivers_whole(bare, sender):
    size = longest(bare) - 2 * len(sender) - 60
    text = "x" * (size - 2) + "!y"
    bare("note", text, "--from", sender)
    payload = {"session_id": "11111111-2222", "cwd": bare.cwd, "hook_event_name": "UserPromptSubmit", "prompt": "hi"}
    command = [sys.executable, "-I", "-S", str(LAUNCHER), "UserPromptSubmit"]
    done = subprocess.run(
        command, input=json.dumps(payload), env={"HOME": bare.env["HOME"]}, capture_output=True, text=True
    )
    assert text in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert waiting(bare) == []


def test_guidance_can_be_withdrawn_and_it_says_when_nothing_delivers(bare):
    first = bare("note", "one").out.strip()
    bare("note", "two")
    bare("note", "--withdraw", first[-6:])
    assert [entry.text for entry in waiting(bare)] == ["two"]
    again = bare("note", "--withdraw", first[-6:], check=False).err
    assert f"{first[-6:]} is decided already, just now: withdraw “one”." in again
    assert "To undo that: memtui undo" in again
    bare("undo")
    assert [entry.text for entry in waiting(bare)] == ["one", "two"]
    assert bare.json("note", "hello")["unheard"] == {"why": "no hooks are installed", "do": "memtui setup hooks"}
    bare("setup", "hooks", "--yes")
    assert bare.json("note", "hello")["unheard"] is None
    bare("config", "set", "mode", "off")
    said = bare.json("note", "hello")["unheard"]
    assert said["why"] == "the mode is off here"
    bare(*said["do"].split()[1:])
    assert bare.json("note", "hello")["unheard"] is None
