"""A large transcript, generated, for what is measured on one."""

import json
import random

WORDS = "the build of a release reads each file from disk and then writes what it found to standard output".split()
RULES = [
    "From now on, always run the {} before each commit.",
    "No, never touch the {} without asking.",
    "what does {} do?",
]


def generate(path: str, megabytes: int, said: int = 60, letters: int = 200, *, huge: bool = False) -> None:
    """Write a transcript of about so many megabytes: a prompt in each `said` records, and about so many `letters` in
    it and in what the agent says. `huge`: each thousandth output of a tool is one of megabytes."""
    chance = random.Random(7)
    common = {"isSidechain": False, "sessionId": "s", "cwd": "/home/you/shop", "timestamp": "2026-11-01T10:00:00Z"}
    number = 0
    with open(path, "w", encoding="utf-8") as file:
        while file.tell() < megabytes * 1_000_000:
            number += 1
            some = " ".join(chance.choices(WORDS, k=letters // 5))
            if number % said == 0:
                words = chance.choice(RULES).format(f"{chance.choice(WORDS)} {number % 97}")
                if letters > 200:
                    words = f"{some[: letters - len(words)]}. {words}" if number % 3 else some
                record = {"type": "user", "message": {"role": "user", "content": words}}
            elif number % 3 == 0:
                blocks = [
                    {"type": "text", "text": some},
                    {"type": "tool_use", "id": f"t{number + 1}", "name": "Bash", "input": {}},
                ]
                record = {"type": "assistant", "message": {"role": "assistant", "id": f"m{number}", "content": blocks}}
            else:
                times = 10_000 if huge and number % 1000 == 1 else chance.randint(10, 60)
                output = (some + '\n\t"quoted" line\n') * times
                result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": output, "is_error": False}
                record = {
                    "type": "user",
                    "message": {"role": "user", "content": [result]},
                    "toolUseResult": {"stdout": output},
                }
            row = {"parentUuid": f"u{number - 1}", **common, **record, "uuid": f"u{number}"}
            file.write(json.dumps(row, separators=(",", ":")) + "\n")


def peak() -> float:
    """The most megabytes that this process ever held. `ru_maxrss` is that of whoever started it, if that had more."""
    with open("/proc/self/status") as file:
        told = dict(line.split(":", 1) for line in file)
    return int(told["VmHWM"].split()[0]) / 1e3
