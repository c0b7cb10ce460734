"""What bringing an index up to date costs: all anew, with nothing changed, and with one memory changed.

    python tests/benchmarks/index.py [--memories 10000] [--rounds 3] [--check]

Memories are made of words as frequent as in a text, 150 each. Printed: seconds, the best round of each, and the bar for
10,000 memories. `--check` exits 1 where a bar is missed.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src"))

from memtui.base import paths
from memtui.recall.build import BuildReport, bring_up_to_date

BARS = {"full": 10.0, "unchanged": 0.5, "one changed": 0.3}
WORDS, LENGTH = 20_000, 150


def remember(directory: str, number: int, chance: random.Random) -> None:
    """Write a memory, or write it anew."""
    body = " ".join(f"word{int(WORDS ** chance.random())}" for _ in range(LENGTH))
    with open(f"{directory}/memory-{number}.md", "w", encoding="utf-8") as file:
        file.write(f"---\nname: memory-{number}\ndescription: {body[:80]}\n---\n{body}\n")


def timed(work: Callable[[], BuildReport], read: int) -> float:
    """Return the seconds that a build takes, of which it is known how many memories it reads."""
    start = time.perf_counter()
    found = work().read
    seconds = time.perf_counter() - start
    assert found == read, f"{found} memories were read, not {read}"
    return seconds


def main() -> int:
    """Run all cases, print the table, compare with the bars if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    chance = random.Random(3)
    best = dict.fromkeys(BARS, float("inf"))
    with tempfile.TemporaryDirectory() as base:
        root, directory = base + "/root", base + "/memory"
        os.mkdir(directory)
        for number in range(options.memories):
            remember(directory, number, chance)
        for _ in range(options.rounds):
            if os.path.exists(index := paths.index_base(root, directory) + ".index"):
                os.unlink(index)
            build = lambda: bring_up_to_date(root, directory)
            best["full"] = min(best["full"], timed(build, options.memories))
            best["unchanged"] = min(best["unchanged"], timed(build, 0))
            remember(directory, 0, chance)
            best["one changed"] = min(best["one changed"], timed(build, 1))
    for name, seconds in best.items():
        print(f"{name:12} {seconds:7.3f} s  bar {BARS[name]:5.1f}{'  over the bar' if seconds > BARS[name] else ''}")
    return 1 if options.check and any(seconds > BARS[name] for name, seconds in best.items()) else 0


if __name__ == "__main__":
    sys.exit(main())
