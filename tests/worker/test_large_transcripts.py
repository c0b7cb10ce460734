"""A transcript of 100 MB is read within 200 MB of memory, by whoever reads one: nobody holds it whole."""

import os
import subprocess
import sys

import pytest

from benchmarks.transcripts import generate

BENCHMARK = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "benchmarks", "reading.py")
MOST = 100  # megabytes, half of what is allowed: who holds the file needs more
pytestmark = [pytest.mark.large, pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs Linux")]


@pytest.fixture(scope="module")
def transcript(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "s.jsonl"
    generate(str(path), 100, huge=True)
    assert path.stat().st_size > 100_000_000
    yield str(path)
    path.unlink()


@pytest.mark.parametrize("reader", ["backfill", "worker", "subconscious"])
def test_a_transcript_of_100_mb_is_read_within_200_mb_of_memory(transcript, reader):
    done = subprocess.run([sys.executable, BENCHMARK, reader, transcript], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.rpartition("peak ")[2].split()[0]) < MOST, done.stdout
