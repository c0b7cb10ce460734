"""The harness in parts, as the gate runs it: one in 24 of the cases, in turn (tests/turns.py). A case that fails is tried again
by `python tests/faults/sweep.py --case`."""

import os
import subprocess
import sys

import pytest

from memtui.cli import parser

HERE = os.path.dirname(os.path.abspath(__file__))
SWEEP = os.path.join(HERE, "sweep.py")
PARTS = 4

pytestmark = [
    pytest.mark.kill,
    pytest.mark.skipif("CI" not in os.environ and not hasattr(os, "memfd_create"), reason="the harness needs Linux"),
]


def test_every_command_is_tried():
    # The sample world is made to be thrown away; the TUI has tests of its own.
    done = sweep("--commands")
    missing = parser.COMMANDS.keys() - {"demo", "tui"} - set(done.stdout.split())
    assert not missing, f"give tests/faults/commandlife.py a line for {missing}; {done.stderr}"


def sweep(*words):
    return subprocess.run([sys.executable, SWEEP, *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("part", range(PARTS))
def test_whatever_fails_or_is_killed_nothing_is_lost_or_told_wrongly(part):
    done = sweep("-j", "1", "--part", f"{part}/{PARTS}")
    assert done.returncode == 0, done.stdout + done.stderr
