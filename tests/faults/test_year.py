"""A short year in the gate; `python tests/faults/year.py` lives a whole one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

YEAR = Path(__file__).with_name("year.py")

pytestmark = [
    pytest.mark.kill,
    pytest.mark.skipif("CI" not in os.environ and not hasattr(os, "memfd_create"), reason="the harness needs Linux"),
]


def test_a_short_year_loses_nothing_and_tells_nothing_twice():
    words = [sys.executable, str(YEAR), "--seed", "1", "--steps", "60"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
