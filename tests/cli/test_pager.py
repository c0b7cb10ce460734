"""Long answers at a terminal go through the person's pager, and nothing else does."""

import fcntl
import os
import pty
import select
import shutil
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from memtui.cli import parser

SECONDS = 30
ROWS = 10


@pytest.fixture
def terminal(world, tmp_path):
    """Run memtui in a terminal of ten lines: (what was drawn, exit code). A pager in `$PAGER` is a line of shell."""

    def run(*words, pager=None, keys=b"", awaits=b"", **env):
        controller, ours = pty.openpty()
        fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, 80, 0, 0))
        if pager is not None and pager != "less":
            script = tmp_path / "pager"
            script.write_text(f"#!/bin/sh\n{pager}\n")
            script.chmod(0o700)
            pager = str(script)
        given = {**world.env, "PATH": os.environ["PATH"], "TERM": "xterm", **({"PAGER": pager} if pager else {}), **env}
        given["PYTHONPATH"] = str(Path(parser.__file__).parents[2])
        command = [sys.executable, "-m", "memtui", *words]
        with subprocess.Popen(command, stdin=ours, stdout=ours, stderr=ours, env=given, cwd=world.shop) as done:
            os.close(ours)
            drawn = b""
            end = time.monotonic() + SECONDS
            while time.monotonic() < end:
                if not select.select([controller], [], [], 0.2)[0]:
                    if keys and awaits in drawn:
                        os.write(controller, keys)
                        keys = b""
                    continue
                try:
                    drawn += os.read(controller, 65536)
                except OSError:  # the other side is closed
                    break
            done.kill() if done.poll() is None else None
        os.close(controller)
        return drawn.decode("utf-8", "replace").replace("\r\n", "\n"), done.returncode

    return run


@pytest.mark.slow
def test_a_long_answer_goes_through_the_pager_with_its_colours(terminal):
    drawn, code = terminal("inbox", pager="sed 's/^/PAGED /'")
    assert code == 0
    assert all(line.startswith("PAGED ") for line in drawn.splitlines())
    assert "\x1b[" in drawn
    assert "LESS=FRX" in terminal("inbox", pager="cat > /dev/null; echo LESS=$LESS")[0]


@pytest.mark.slow
def test_a_short_answer_does_not(terminal):
    assert "PAGED" not in terminal("status", "--paths", "root", pager="sed 's/^/PAGED /'")[0]
    assert "PAGED" not in terminal("inbox", "--json", pager="sed 's/^/PAGED /'")[0]
    assert "PAGED" not in terminal("inbox", "--no-pager", pager="sed 's/^/PAGED /'")[0]


@pytest.mark.slow
def test_the_setting_switches_it_off(terminal, memtui):
    memtui("config", "set", "pager", "never")
    assert "PAGED" not in terminal("inbox", pager="sed 's/^/PAGED /'")[0]


@pytest.mark.parametrize("pager", ["exit 0", "head -1 > /dev/null", "exit 1"])
def test_leaving_the_pager_early_is_no_error(terminal, pager):
    drawn, code = terminal("list", "--all-projects", pager=pager)
    assert code == 0
    assert "Traceback" not in drawn
    assert "memtui:" not in drawn


@pytest.mark.slow
def test_without_a_pager_the_answer_is_printed(terminal):
    drawn, code = terminal("inbox", PAGER="/no/such/pager -x")
    assert (code, "No snapshot tests" in drawn) == (0, True)
    assert "No snapshot tests" in terminal("inbox", PAGER="")[0]


@pytest.mark.slow
@pytest.mark.skipif("CI" not in os.environ and not shutil.which("less"), reason="less is not installed")
def test_q_leaves_less(terminal):
    drawn, code = terminal("inbox", pager="less", keys=b"q", awaits=b"KIND")
    assert code == 0
    assert "Not now" not in drawn


@pytest.mark.slow
def test_what_is_said_beside_an_answer_comes_behind_it(terminal):
    drawn, _ = terminal("doctor", "--errors", pager="sed 's/^/PAGED /'")
    assert "No errors." in drawn


def test_in_a_pipe_nothing_is_paged(memtui):
    memtui.env["PAGER"] = "false"
    assert "No snapshot tests" in memtui("inbox").out
