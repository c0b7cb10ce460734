"""How fast transcripts are read for drafts, in processor time of one core, and how much memory that takes.

    python tests/benchmarks/backfill.py [--megabytes 100] [--once]

`tools`: a generated transcript; of each hundred records, some are prompts, a third what the agent says and does, the
others the output of tools, of 1.5 kB on average. `talk`: the same with as many words of the person and of the agent as
the real ones have (a prompt in each 60 kB, of 400 letters, one in three with a rule), and `json.loads` of every line
beside it. `real`: the transcripts of ../shared/data, where they are; they are so few that what is compiled
at first counts, hence twice. `--once` reads only `tools`, so that the peak is
that of reading alone.
"""

import argparse
import glob
import json
import os
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "src")]

from transcripts import generate, peak  # noqa: E402

from memtui.learn import classifier  # noqa: E402
from memtui.learn.backfill import reading, session  # noqa: E402

SHARED = os.path.join(HERE, "..", "..", "..", "shared", "data", "transcripts")


# Megabytes a second of one core: what reading shall do at least.
BAR = 50


def measure(name: str, files: list[str]) -> float:
    """Read files, print how fast beside the bar, and return the seconds."""
    judge = classifier.shipped()
    size = sum(map(os.path.getsize, files)) / 1e6
    begin = time.process_time()
    found = sum(len(piece.drafts) for path in files for piece in session.read(path, {}, judge, reading.LEAST))
    taken = time.process_time() - begin
    fast = size / taken
    print(f"{name:11}  {fast:6.0f} MB/s ({fast / BAR:.1f} times the bar of {BAR})   {found} drafts of {size:.0f} MB")
    return taken


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--once", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as top:
        path = os.path.join(top, "s.jsonl")
        generate(path, args.megabytes, said=60, letters=200)
        measure("tools", [path])
        if not args.once:
            generate(path, args.megabytes, said=6, letters=400)
            taken = measure("talk", [path])
            begin = time.process_time()
            with open(path, "rb") as file:
                for line in file:
                    json.loads(line)
            plain = time.process_time() - begin
            print(
                f"json.loads  {os.path.getsize(path) / 1e6 / plain:6.0f} MB/s   reading takes {taken / plain:.1f} times as long"
            )
    if not args.once:
        real = sorted(glob.glob(os.path.join(SHARED, "**", "*.jsonl"), recursive=True))
        if real:
            measure("real, first", real)
            measure("real, again", real)
        else:
            print(f"real        skipped: {os.path.normpath(SHARED)} is not here")
    print(f"peak {peak():.0f} MB")


if __name__ == "__main__":
    main()
