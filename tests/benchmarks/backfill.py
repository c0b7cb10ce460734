"""How fast a large transcript is read for drafts, beside `json.loads` of every line, and how much memory that takes.

    python tests/benchmarks/backfill.py [--megabytes 100] [--once]

The transcript is generated: of each hundred records, some are prompts, a third what the agent says and does, the others the
output of tools, of 20 kB on average. `--once` leaves out `json.loads`, so that the peak is that of reading alone.
"""

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "src"))

from memtui.backfill import session  # noqa: E402
from memtui.extract import classifier  # noqa: E402

WORDS = "the build of a release reads each file from disk and then writes what it found to standard output".split()
RULES = [
    "From now on, always run the {} before each commit.",
    "No, never touch the {} without asking.",
    "what does {} do?",
]


def generate(path: str, megabytes: int) -> None:
    """Write a transcript of about so many megabytes."""
    chance = random.Random(7)
    common = {"isSidechain": False, "sessionId": "s", "cwd": "/work/shop", "timestamp": "2026-11-01T10:00:00Z"}
    number = 0
    with open(path, "w", encoding="utf-8") as file:
        while file.tell() < megabytes * 1_000_000:
            number += 1
            some = " ".join(chance.choices(WORDS, k=40))
            if number % 60 == 0:
                said = chance.choice(RULES).format(f"{chance.choice(WORDS)} {number % 97}")
                record = {"type": "user", "message": {"role": "user", "content": said}}
            elif number % 3 == 0:
                blocks = [
                    {"type": "text", "text": some},
                    {"type": "tool_use", "id": f"t{number + 1}", "name": "Bash", "input": {}},
                ]
                record = {"type": "assistant", "message": {"role": "assistant", "id": f"m{number}", "content": blocks}}
            else:
                output = (some + '\n\t"quoted" line\n') * chance.randint(10, 60)
                result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": output, "is_error": False}
                record = {
                    "type": "user",
                    "message": {"role": "user", "content": [result]},
                    "toolUseResult": {"stdout": output},
                }
            row = {"parentUuid": f"u{number - 1}", **common, **record, "uuid": f"u{number}"}
            file.write(json.dumps(row, separators=(",", ":")) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--once", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as top:
        path = os.path.join(top, "s.jsonl")
        generate(path, args.megabytes)
        size = os.path.getsize(path) / 1e6
        judge = classifier.shipped()
        begin = time.process_time()
        found = session.read(path, {}, judge, 0.5)
        taken = time.process_time() - begin
        print(f"backfill    {size / taken:6.0f} MB/s   {len(found.drafts) if found else 0} drafts of {size:.0f} MB")
        if not args.once:
            begin = time.process_time()
            with open(path, "rb") as file:
                for line in file:
                    json.loads(line)
            plain = time.process_time() - begin
            print(f"json.loads  {size / plain:6.0f} MB/s   backfill takes {taken / plain:.2f} of its time")
    print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB")


if __name__ == "__main__":
    main()
