"""`memtui` alone takes what the TUI can be told."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from memtui.cli import parser
from memtui.tui.widgets.lines import TABS
from waiting import PATIENCE


def opened(world, *words, keys=b"q"):
    """What the TUI draws in a terminal before and after some keys, and its exit code."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    env = {**world.env, "PATH": os.environ["PATH"], "TERM": "xterm-256color"}
    env["PYTHONPATH"] = str(Path(parser.__file__).parents[2])
    command = [sys.executable, "-m", "memtui", *words]
    with subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, env=env, cwd=world.shop) as run:
        os.close(terminal)
        drawn = b""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if select.select([controller], [], [], 1.0)[0]:
                try:
                    drawn += os.read(controller, 65536)
                except OSError:  # the other side is closed
                    break
            elif keys and b"keys" in drawn:
                os.write(controller, keys[:1])
                keys = keys[1:]
        run.kill() if run.poll() is None else None
    os.close(controller)
    return drawn.decode("utf-8", "replace"), run.returncode


@pytest.mark.terminal
def test_it_opens_where_and_how_it_is_told(world):
    drawn, code = opened(world, "--read-only", "--screen=setup", keys=b"cq")
    assert code == 0, drawn
    assert "this project" in drawn
    assert "runs with --read-only" in drawn


def test_without_a_terminal_it_says_so_and_commands_take_no_screen(memtui):
    for words in (["--read-only"], ["--screen", "inbox"], ["--screen=inbox", "--json"]):
        done = memtui(*words, check=False)
        assert done.code == 2
        assert "needs a terminal" in done.out + done.err
    assert "without a command" in memtui("--screen", "inbox", "list", check=False).err
    assert memtui("--read-only", "list", check=False).code == 2
    assert memtui("--screen", "attic", check=False).code == 2
    out = memtui("--help").out
    assert "--read-only" in out
    assert "memories, inbox, activity" in " ".join(out.split())
    assert parser.SCREENS == TABS
