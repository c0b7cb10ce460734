"""How good drafts are: the bars of the project beside rules alone and five fixed expressions, and the drafts themselves.

    python tests/benchmarks/extraction.py [turns.jsonl] [--beside REVISION]

Feedback is a correction or a preference; a message is durable if a careful reviewer would keep a lasting lesson from it. The
bars are computed from `feedback_scores.tsv`, which has numbers only (tests/training/fit_feedback.py writes it): the scores that
weights gave to 1,780 messages whose sessions they had not seen, for three ways to split the sessions; those of weights that
know none of 145 messages kept apart; and of 399 held back, all of them from eight other repositories. The rules were written
with the messages kept apart in view: their figures are an upper bound. Those held back are harder, 63 of them feedback and 23
durable, all that their sessions had: their bars say what must not be lost, the project asks for more (precision .80 at recall
.55, average precision .75 and .50).

The rest needs labelled messages. It reads `../shared/data/turns.jsonl` beside the repository unless told otherwise, and says so
when there is none. `--beside` prints the same for the drafts of another revision.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
if __name__ == "__main__":  # who imports this has the paths
    sys.path[:0] = [os.environ.get("MEMTUI_SOURCES", str(HERE.parents[1] / "src")), str(HERE.parent)]

import labelled  # noqa: E402
import revision  # noqa: E402
from labelled import turn_of  # noqa: E402

from fitted_tables import QUESTIONS, average_precision, precision_at  # noqa: E402

try:
    from memtui.inbox.format_hot import DELIVERED, LASTING
except ModuleNotFoundError:  # a revision of before its renaming
    from memtui.inbox.format import DELIVERED, LASTING  # type: ignore[import-not-found, no-redef]
from memtui.learn import classifier, signals  # noqa: E402
from memtui.learn.classifier import probability  # noqa: E402

# What a simple hook would look for.
EXPRESSIONS = [
    re.compile(each, re.IGNORECASE)
    for each in (
        r"\b(?:always|never)\b",
        r"^no\b",
        r"\b(?:i prefer|i'd prefer|i want you to)\b",
        r"\b(?:from now on|remember)\b",
        r"\b(?:don't|do not|stop|instead)\b",
    )
]


SCORES = HERE / "feedback_scores.tsv"


class Scored(NamedTuple):
    """A message as numbers: feedback and durable; the confidence of the rules' draft, whether an expression matches; the
    scores (log odds) of both questions, one for each split."""

    truths: tuple[bool, bool]
    ruled: float
    matched: bool
    scores: tuple[tuple[float, ...], tuple[float, ...]]


class Bar(NamedTuple):
    """A figure that the project asks for, and what was reached: on average, at worst and at best over the splits."""

    what: str
    asked: float
    reached: float
    worst: float
    best: float

    @property
    def met(self) -> bool:
        return self.reached >= self.asked


def scored(part: str) -> list[Scored]:
    """Read the scores of the messages that weights were fitted to (`train`), or of those kept `apart`."""
    found = []
    for line in SCORES.read_text("utf-8").splitlines():
        name, *rest = line.split("\t")
        if name == part:
            feedback, durable, ruled, matched, *scores = map(int, rest)
            half = len(scores) // 2
            both = tuple(each / 100 for each in scores[:half]), tuple(each / 100 for each in scores[half:])
            found.append(Scored((bool(feedback), bool(durable)), ruled / 100, bool(matched), both))
    return found


def reached(what: str, asked: float, rows: Sequence[Scored], at: int, recall: float = 0.0) -> Bar:
    """Measure average precision of a question, or precision at a recall, for each split."""
    truths = [row.truths[at] for row in rows]
    found = []
    for split in range(len(rows[0].scores[at])):
        scores = [row.scores[at][split] for row in rows]
        found.append(precision_at(recall, scores, truths) if recall else average_precision(scores, truths))
    return Bar(what, asked, sum(found) / len(found), min(found), max(found))


def all_bars() -> Iterator[Bar]:
    """Yield the bars of the project."""
    train, apart, held = scored("train"), scored("apart"), scored("held")
    yield reached("cross-validated, average precision of feedback", 0.74, train, 0)
    yield reached("cross-validated, average precision of durable", 0.30, train, 1)
    yield reached("cross-validated, precision of feedback at recall .37", 0.80, train, 0, 0.37)
    yield reached("cross-validated, precision of feedback at recall .70", 0.65, train, 0, 0.7)
    yield reached("kept apart, precision of feedback at recall .37", 0.80, apart, 0, 0.37)
    yield reached("kept apart, precision of feedback at recall .55", 0.80, apart, 0, 0.55)
    yield reached("kept apart, precision of feedback at recall .70", 0.65, apart, 0, 0.7)
    yield reached("kept apart, average precision of feedback", 0.75, apart, 0)
    yield reached("kept apart, average precision of durable", 0.45, apart, 1)
    yield reached("held back, precision of feedback at recall .55", 0.55, held, 0, 0.55)
    yield reached("held back, average precision of feedback", 0.50, held, 0)
    yield reached("held back, average precision of durable", 0.20, held, 1)


def bars() -> None:
    """Print which bars are met, and what rules and expressions reach."""
    for each in all_bars():
        over = "" if each.worst == each.best else f" ({each.worst:.3f} to {each.best:.3f} over the splits)"
        print(f"{'met    ' if each.met else 'NOT met'} {each.what}: {each.reached:.3f}{over}, asked {each.asked:.2f}")
    for part in ("train", "apart", "held"):
        rows = scored(part)
        print(f"by rules and by expressions, on {len(rows)} messages ({part}):")
        for name, taken in (
            ("rules at .5", [row.ruled >= 0.5 for row in rows]),
            ("all that rules see", [row.ruled > 0 for row in rows]),
            ("five expressions", [row.matched for row in rows]),
        ):
            told = []
            for at, question in enumerate(QUESTIONS):
                right = sum(row.truths[at] and took for row, took in zip(rows, taken, strict=True))
                whole = sum(row.truths[at] for row in rows)
                told.append(f"{question} precision {share(right, sum(taken))} recall {share(right, whole)}")
            print(f"  {name:18} " + "; ".join(told))
    delivery()


def places() -> dict[str, list[bool]]:
    """Return of the drafts that are folded, listed and delivered which are worth keeping, for weights that have not seen
    their session, in all splits."""
    found: dict[str, list[bool]] = {"folded": [], "listed, not delivered": [], "delivered": []}
    for row in scored("train"):
        for scores in zip(*row.scores, strict=True):
            feedback, durable = map(probability, scores)
            sure, lasts = classifier.joined(feedback, durable, row.ruled)
            if sure >= 0.5:
                place = "folded" if lasts < LASTING else "delivered" if lasts >= DELIVERED else "listed, not delivered"
                found[place].append(row.truths[1])
    return found


def delivery() -> None:
    """Print what of the drafts in each place is worth keeping."""
    rows = scored("train")
    whole = sum(row.truths[1] for row in rows) * len(rows[0].scores[1])
    print(f"drafts that are worth keeping, in {len(rows[0].scores[1])} splits together:")
    for place, truths in places().items():
        print(f"  {place:22} precision {share(sum(truths), len(truths))} recall {share(sum(truths), whole)}")
    print()


def compare(rows: list[dict]) -> None:
    """Print precision and recall of feedback and of what is worth keeping for good, by each of the three ways."""
    print("The shipped weights have seen turns.jsonl and turns-train.jsonl: of those, the lines with them say nothing.")
    judge, turns = classifier.shipped(), [turn_of(row) for row in rows]
    begun = time.perf_counter()
    for turn in turns:
        judge.judged(turn, signals.signal_of(turn))
    took = (time.perf_counter() - begun) / len(rows)
    drafts = [next(iter(classifier.drafts_of(turn, judge)), None) for turn in turns]
    ruled = [signals.signal_of(turn) for turn in turns]
    ways = {
        "rules and classifier": [d and d.kind != "confirmation" and d.confidence >= 0.5 for d in drafts],
        "  of these, listed": [
            d and d.kind != "confirmation" and d.confidence >= 0.5 and (d.durable or 0) >= LASTING for d in drafts
        ],
        "rules at 0.5": [d and d.kind != "confirmation" and d.confidence >= 0.5 for d in ruled],
        "all that rules see": [d and d.kind != "confirmation" for d in ruled],
        "five expressions": [any(each.search(turn.text) for each in EXPRESSIONS) for turn in turns],
    }
    both = [labelled.truths_of(row) for row in rows]
    wanted = {name: [truths[at] for truths in both] for at, name in enumerate(QUESTIONS)}
    for name, truth in wanted.items():
        print(f"{name}: {sum(truth)} of {len(rows)}")
        for way, taken in ways.items():
            right = sum(bool(t) and w for t, w in zip(taken, truth, strict=True))
            print(f"  {way:21} precision {share(right, sum(map(bool, taken))):16} recall {share(right, sum(truth))}")
    print(f"{took * 1000:.2f} ms a message; the table has {classifier.TABLE.stat().st_size} bytes\n")


def share(part: int, whole: int) -> str:
    return f"{part}/{whole} = {part / whole:.0%}" if whole else f"{part}/0"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("path", nargs="?", type=Path, default=labelled.DATA / labelled.APART)
    parser.add_argument("--beside", metavar="REVISION")
    options = parser.parse_args()
    if "MEMTUI_SOURCES" not in os.environ:
        bars()
    if not options.path.exists():
        print(f"skipped, what shows the drafts themselves: no labelled messages at {options.path}")
        return 0
    compare(labelled.read([options.path]))
    if options.beside:
        print(f"The same by {options.beside}:", flush=True)
        with tempfile.TemporaryDirectory() as temporary:
            sources = str(revision.sources(options.beside, Path(temporary, "beside")))
            command = [sys.executable, __file__, str(options.path)]
            subprocess.run(command, env={**os.environ, "MEMTUI_SOURCES": sources}, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
