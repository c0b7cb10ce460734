"""`memtui undo`: at once for what was just done here; what is older, or was done elsewhere, is named and asked first."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from memtui.base import clock_hot
from memtui.cli import parser
from memtui.store.store import Store

from .conftest import NOW

PNPM = ".claude/memory/prefer-pnpm.md"


def there(world):
    return Path(world.shop, PNPM).exists()


def trash_by(world, by, seconds):
    """Move a memory to the trash as another program does."""
    store = Store(dict(world.env), world.shop, by=by, now=lambda: seconds)
    store.delete(store.find("project:prefer-pnpm"))


def elsewhere(memtui, world, *words):
    """Run a command in another terminal session."""
    env = {**memtui.env, "PYTHONPATH": str(Path(parser.__file__).parents[2])}
    run = [sys.executable, "-m", "memtui", *words]
    subprocess.run(run, env=env, cwd=world.shop, check=True, start_new_session=True, capture_output=True)


def answered(memtui, world, answer, *words):
    """What a command at a terminal says when it is answered so, and its exit code."""
    controller, terminal = pty.openpty()
    env = {**memtui.env, "PYTHONPATH": str(Path(parser.__file__).parents[2])}
    run = [sys.executable, "-m", "memtui", *words]
    os.write(controller, answer)
    done = subprocess.run(run, stdin=terminal, stdout=terminal, stderr=terminal, env=env, cwd=world.shop, check=False)
    os.close(terminal)
    said = b""
    try:
        while piece := os.read(controller, 65536):
            said += piece
    except OSError:  # all is read
        pass
    os.close(controller)
    return done.returncode, said.decode()


def test_what_was_done_here_is_undone_at_once_and_an_older_one_if_said(memtui, world):
    memtui("rm", "prefer-pnpm")
    assert "undone: remove project:prefer-pnpm" in memtui("undo").out
    assert there(world)
    memtui("undo", "--redo")
    assert not there(world)
    memtui("undo")
    assert there(world)
    trash_by(world, "cli", NOW - 3600)
    done = memtui("undo", check=False)
    assert done.code == 1
    assert "“remove project:prefer-pnpm”, 1h ago from a shell" in done.err
    assert "Not undone" in done.err
    assert not there(world)
    memtui("undo", done.err.split("memtui undo ")[1].split()[0])
    assert there(world)
    trash_by(world, "tui", NOW - 5)
    done = memtui("undo", "--json", check=False)
    assert done.code == 1
    error = json.loads(done.out)["error"]
    assert "from the terminal UI" in error["message"]
    assert "memtui undo " in error["hint"]
    assert memtui.json("undo", "--yes")["summary"] == "remove project:prefer-pnpm"
    assert there(world)


@pytest.mark.slow
def test_a_change_before_one_that_can_not_be_undone_is_undone_only_by_name(memtui, world):
    memtui("edit", "prefer-pnpm", "--description", "Another")
    memtui("rm", "--purge", "--yes", "release-steps")
    done = memtui("undo", check=False)
    assert done.code == 1
    assert "“delete project:release-steps for good” can't be undone. Undo the older change “edit" in done.err.replace(
        "\n", " "
    )
    assert "“edit project:prefer-pnpm”" in done.err
    assert "Another" in Path(world.shop, PNPM).read_text()
    memtui("undo", done.err.split("memtui undo ")[1].split()[0])
    assert "Another" not in Path(world.shop, PNPM).read_text()
    memtui("undo", "--redo")
    memtui("undo")  # the last change can be undone again


@pytest.mark.slow
def test_what_another_terminal_did_meanwhile_is_not_taken_for_ones_own(memtui, world):
    memtui("edit", "concise-answers", "--description", "Short")
    elsewhere(memtui, world, "rm", "prefer-pnpm")
    assert "prefer-pnpm" in memtui("undo", check=False).err
    assert not there(world)
    memtui("undo", "--yes")
    assert there(world)
    assert memtui("undo", "--redo", check=True).code == 0  # what was undone here
    elsewhere(memtui, world, "undo", "--yes")
    assert "Not redone" in memtui("undo", "--redo", check=False).err


@pytest.mark.parametrize(("answer", "code"), [(b"y\n", 0), (b"\n", 1)])
def test_a_person_at_a_terminal_is_asked_and_no_is_the_default(memtui, world, answer, code):
    trash_by(world, "cli", NOW - 86400)
    found, said = answered(memtui, world, answer, "undo")
    assert "Undo “remove project:prefer-pnpm”, 1d ago from a shell? [y/N]" in said
    assert (found, there(world)) == (code, code == 0)


def test_changes_made_together_are_named_as_one_and_need_yes(memtui, world):
    memtui("rm", "prefer-pnpm", "release-steps")
    memtui.env["MEMTUI_NOW"] = clock_hot.iso(NOW + 3600)
    done = memtui("undo", check=False)
    assert "and 1 other change made with it" in done.err
    assert "memtui undo --yes" in done.err
    assert memtui.json("undo", "--yes")["count"] == 2
    assert there(world)


def test_undo_does_not_pass_a_note_of_a_script_unasked(memtui, world):
    memtui("edit", "prefer-pnpm", "--description", "Another")
    memtui.env["MEMTUI_NOW"] = clock_hot.iso_seconds(NOW + 60)
    memtui("note", "mind the gap")
    done = memtui("undo", check=False)
    assert (done.code, "note --withdraw" in done.err) == (1, True)
    assert "Another" in Path(world.shop, PNPM).read_text()
    memtui("note", "--withdraw", done.err.split("--withdraw ")[1].split(".")[0])
    assert "undone: withdraw" in memtui("undo").out


def test_a_change_of_another_project_is_named_with_it(memtui, world, tmp_path):
    memtui("edit", "prefer-pnpm", "--description", "Another")
    done = memtui("--project", str(tmp_path), "undo")
    assert f"edit project:prefer-pnpm in {world.shop} " in " ".join(done.out.split())
    trash_by(world, "tui", NOW - 5)
    done = memtui("--project", str(tmp_path), "undo", check=False)
    assert f"“remove project:prefer-pnpm” in {world.shop}, " in " ".join(done.err.split())
