"""How many words of real text `redact` takes out, in a million characters, and how fast it is.

    python tests/benchmarks/redaction.py [FILE-OR-DIRECTORY …] [--show]

Without arguments: the transcripts, memories and messages of `../shared/data` beside the repository, if they are there, this
repository's own source, and what is installed beside it. `--show` prints what is taken out. Count what is wrong among it:
most material holds no secret at all.
"""

import json
import os
import random
import sys
import time
from collections.abc import Iterator

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "src"))

from memtui.redact import redact, tables  # noqa: E402

SAMPLE_BYTES = 8_000_000


def texts_of(value: object) -> Iterator[str]:
    """The texts in a record: what could come into a draft, and more."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from texts_of(part)
    elif isinstance(value, dict):
        for key, part in value.items():
            if key in {"message", "content", "text", "prompt", "agent", "lesson", "stdout", "command", "input"}:
                yield from texts_of(part)


def read(path: str) -> Iterator[str]:
    with open(path, encoding="utf-8", errors="replace") as file:
        if not path.endswith(".jsonl"):
            yield file.read()
            return
        for line in file:
            try:
                yield from texts_of(json.loads(line))
            except ValueError:
                continue


def files(place: str) -> list[str]:
    if os.path.isfile(place):
        return [place]
    found = [os.path.join(top, name) for top, _, names in os.walk(place) for name in names]
    return sorted(name for name in found if name.endswith((".py", ".md", ".json", ".jsonl", ".js", ".css", ".lock")))


def measure(place: str, show: bool) -> None:
    chosen = files(place)
    random.Random(1).shuffle(chosen)
    size = wrong = 0
    spent = 0.0
    for path in chosen:
        for text in read(path):
            begun = time.process_time()
            found = redact.found_in(text)
            spent += time.process_time() - begun
            size += len(text)
            wrong += sum(len(text[each.start : each.end].split()) for each in found)
            for each in found if show else ():
                print(f"  {each.kind}: {text[max(0, each.start - 30) : each.end][:120]!r}")
        if size > SAMPLE_BYTES:
            break
    if size:
        rate = size / 1e6 / max(spent, 1e-9)
        print(
            f"{os.path.relpath(place)}: {size / 1e6:.1f} MB, {wrong} words, {wrong / size * 1e6:.1f} a MB, {rate:.1f} MB/s"
        )
    else:
        print(f"{place}: nothing there, skipped")


def main() -> None:
    shown = "--show" in sys.argv
    data = os.path.join(ROOT, "..", "shared", "data")
    places = [place for place in sys.argv[1:] if not place.startswith("--")] or [
        *[os.path.join(data, name) for name in ("transcripts", "memories", "turns.jsonl", "turns-train.jsonl")],
        os.path.join(ROOT, "src"),
        os.path.dirname(os.path.dirname(json.__file__)),
    ]
    kinds = {kind for kind, *_ in [*tables.PREFIXED, *tables.HOLDING, *tables.WEBHOOKS, *tables.COMMANDS]}
    print(f"{len(kinds)} kinds by shape or place, {len(set(tables.SERVICES.values()))} services by name")
    for place in places:
        measure(place, shown)


if __name__ == "__main__":
    main()
