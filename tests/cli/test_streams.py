"""Standard streams that are closed, full or gone: a sentence or silence, an exit code, and never a traceback."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import memtui

FULL = Path("/dev/full")


@pytest.fixture
def shell(world):
    """A real shell in the sample world, in which `memtui` is this one."""

    def run(line, **more):
        env = {**world.env, "PATH": os.environ["PATH"], "PYTHONPATH": str(Path(memtui.__file__).parents[1]), **more}
        script = f'memtui() {{ "{sys.executable}" -m memtui "$@"; }}\n{line}'
        done = subprocess.run(["bash", "-c", script], env=env, cwd=world.shop, capture_output=True, text=True)
        assert "Traceback" not in done.stdout + done.stderr
        assert "Exception" not in done.stdout + done.stderr
        return done

    return run


@pytest.mark.slow
@pytest.mark.parametrize("where", [">&-", ">/dev/full"])
@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
def test_a_stderr_that_is_closed_or_full_leaves_the_answer_as_it_is(shell, where):
    found = shell(f"memtui show nobody 2{where}")
    assert (found.returncode, found.stdout) == (3, "")
    found = shell(f"memtui list --json 2{where}")
    assert found.returncode == 0
    assert json.loads(found.stdout)["ok"]
    assert shell(f"memtui show nobody >&- 2{where}").returncode == 3


@pytest.mark.slow
def test_closed_streams_are_empty_or_silent_and_an_unreadable_one_is_said(shell):
    for command, code in (("list", 0), ("note", 2), ("note hello", 0), ("new x", 2), ("rm --purge prefer-pnpm", 1)):
        done = shell(f"memtui {command} <&-")
        assert done.returncode == code
        assert bool(done.stderr) == bool(code)
    done = shell("memtui note 0>/dev/null")
    assert done.returncode == 2
    assert "Standard input can't be read" in done.stderr
    for command in ("list", "list --json", "inbox", "doctor --help", "status", "note hello"):
        done = shell(f"memtui {command} >&-")
        assert (done.returncode, done.stderr) == (0, ""), command
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        assert shell(f"memtui --read-only {closed}").returncode == 2, "the TUI needs its streams"
    done = shell("memtui list | true; exit ${PIPESTATUS[0]}")
    assert done.returncode in {0, 141}
    assert done.stderr == ""


@pytest.mark.slow
@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
def test_a_full_stdout_is_a_sentence_and_what_was_to_be_done_is_done(shell):
    for command in ("list", "list --json", "note 'CI is red'", "demo"):
        done = shell(f"memtui {command} >/dev/full")
        assert done.returncode == 1
        assert done.stderr.startswith("memtui: the answer can't be written: No space left on device.")
        assert done.stderr.count("\n") == 1
    assert "CI is red" in shell("memtui note --list").stdout


def test_a_file_that_can_not_be_read_is_named(memtui, monkeypatch):
    def denied(*_):
        raise PermissionError(13, "Permission denied", "/srv/secret")

    monkeypatch.setattr("memtui.cli.commands.status.locate_hot.auto_dir", denied)
    assert memtui("status", "--paths", check=False).err.startswith("memtui: /srv/secret: Permission denied.")
