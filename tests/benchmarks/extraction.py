"""How good drafts are, on labelled messages: with the classifier, by rules alone, and by five fixed expressions.

    python tests/benchmarks/extraction.py [turns.jsonl] [--misses]

Feedback is a correction or a preference. The shipped weights were fitted to turns.jsonl, among others: for an honest figure
of them name another file, or see the cross-validated figures that tests/training/fit_feedback.py prints.

Reads `../shared/data/turns.jsonl` beside the repository unless told otherwise, and says so when there is none. A draft is
right in kind if the message's label is its kind, or one of the label's seconds (`also`). It is worth keeping if a careful
reviewer would keep a lasting lesson from the message (`durable`). The same rules were written with these messages in view:
take the figures as an upper bound.
"""

import json
import os
import re
import sys
import time
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "src"))

from memtui.core.client.conversation import Turn  # noqa: E402
from memtui.core.inbox.format import LASTING  # noqa: E402
from memtui.extract import classifier, decisions, features, judged, personal, signals  # noqa: E402

KINDS = {"correction": "correction", "confirmation": "confirmation", "preference": "preference-statement"}


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


def turn_of(row: dict) -> Turn:
    return Turn(
        row["text"],
        row["channel"],
        agent=row["prev_assistant"] or "",
        session=row["source"]["session"],
        tools=tuple(row["prev_tools"]),
    )


def average_precision(scores: list[float], wanted: list[bool]) -> float:
    order = sorted(range(len(scores)), key=lambda at: -scores[at])
    precisions, hits = [], 0
    for number, at in enumerate(order, 1):
        if wanted[at]:
            hits += 1
            precisions.append(hits / number)
    return sum(precisions) / len(precisions) if precisions else 0.0


def compare(rows: list[dict]) -> None:
    """Print precision and recall of feedback and of what is worth keeping for good, by each of the three ways."""
    print("The shipped weights have seen turns.jsonl and turns-train.jsonl: on those, their figures say nothing.")
    judge, turns = classifier.shipped(), [turn_of(row) for row in rows]
    begun = time.perf_counter()
    scores = [judge.scores(turn, signals.signal_of(turn)) for turn in turns]
    took = (time.perf_counter() - begun) / len(rows)
    drafts = [judged.draft_of(turn, judge) for turn in turns]
    ruled = [signals.signal_of(turn) for turn in turns]
    ways = {
        "rules and classifier": [d and d.kind != "confirmation" and d.confidence >= 0.5 for d in drafts],
        "  of these, unfolded": [
            d and d.kind != "confirmation" and d.confidence >= 0.5 and (d.durable or 0) >= LASTING for d in drafts
        ],
        "rules at 0.5": [d and d.kind != "confirmation" and d.confidence >= 0.5 for d in ruled],
        "all that rules see": [d and d.kind != "confirmation" for d in ruled],
        "five expressions": [any(each.search(turn.text) for each in EXPRESSIONS) for turn in turns],
    }
    wanted = {
        "feedback": [row["label"] in {"correction", "preference-statement"} for row in rows],
        "durable": [bool(row["durable"]) for row in rows],
    }
    for at, (name, truth) in enumerate(wanted.items()):
        average = average_precision([score[at] for score in scores], truth)
        print(f"{name}: {sum(truth)} of {len(rows)}, average precision of the shipped weights {average:.3f}")
        for way, taken in ways.items():
            right = sum(bool(t) and w for t, w in zip(taken, truth, strict=True))
            print(f"  {way:21} precision {share(right, sum(map(bool, taken))):16} recall {share(right, sum(truth))}")
    print(f"{took * 1000:.2f} ms a message; the table has {classifier.TABLE.stat().st_size} bytes\n")


def share(part: int, whole: int) -> str:
    return f"{part}/{whole} = {part / whole:.0%}" if whole else f"{part}/0"


# A person whose taste is a reviewer's; one who keeps nothing that was said on refusing a tool; one who keeps no questions.
TASTES = {"a reviewer": "", "no refusals": "channel tool_reject", "no questions": "asks"}


def learn() -> None:
    """Print what decisions of three persons teach: each decides about half of the drafts among the validation figures, and
    is judged by the other half, which the correction has not seen. Of the messages there are only numbers."""
    rows = personal.validation()
    print(
        f"learning from decisions, on {len(rows)} messages: average precision of what the person would keep, before and after"
    )
    for taste, signal in TASTES.items():
        key = features.bucket("signal", signal) if signal else -1
        keeps = [bool(row.truths[0]) and key not in row.found if signal else row.truths[1] for row in rows]
        order = sorted(range(len(rows)), key=lambda at: hash((at * 2654435761) & 0xFFFFFFFF))
        taught, left = order[::2], order[1::2]
        drafts = [at for at in taught if rows[at].scores[0] >= 0]
        told = []
        for count in (10, 40, len(drafts)):
            made = personal.fit([decision(rows[at], keeps[at]) for at in drafts[:count]], [rows[at] for at in taught])
            before = [rows[at].scores[1] for at in left]
            after = [rows[at].scores[1] + made.of(rows[at].found, "p")[1] for at in left]
            truths = [keeps[at] for at in left]
            told.append(
                f"{count} decisions {average_precision(before, truths):.3f} to {average_precision(after, truths):.3f}"
            )
        print(f"  {taste:13} " + ", ".join(told))
    print()


def decision(row: personal.Validated, keep: bool) -> personal.Decided:
    targets, counts = decisions.TARGETS[decisions.APPROVED if keep else decisions.REJECTED]
    return personal.Decided(row.found, row.scores, targets, counts, "p")


def evaluate(rows: list[dict], threshold: float, misses: bool) -> None:
    drafts = []
    for row in rows:
        draft = signals.signal_of(turn_of(row))
        drafts.append(draft if draft and draft.confidence >= threshold else None)
    made = sum(d is not None for d in drafts)
    print(f"threshold {threshold}: {made} drafts of {len(rows)} messages")
    for kind, label in KINDS.items():
        of_kind = [(d, r) for d, r in zip(drafts, rows, strict=True) if d and d.kind == kind]
        right = sum(r["label"] == label or label in r.get("also", ()) for _, r in of_kind)
        wanted = [(d, r) for d, r in zip(drafts, rows, strict=True) if r["label"] == label]
        met = sum(d is not None and d.kind == kind for d, _ in wanted)
        durable = sum(r["durable"] for _, r in of_kind)
        print(
            f"  {kind:13} precision {share(right, len(of_kind)):14} recall {share(met, len(wanted)):14}"
            f" worth keeping {share(durable, len(of_kind))}"
        )
    durable = [(d, r) for d, r in zip(drafts, rows, strict=True) if r["durable"]]
    kept = sum(d is not None for d, _ in durable)
    noise = Counter(r["label"] for d, r in zip(drafts, rows, strict=True) if d and not r["durable"])
    print(
        f"  lasting       precision {share(kept, made):14} recall {share(kept, len(durable)):14} others: {dict(noise)}"
    )
    if misses:
        for draft, row in zip(drafts, rows, strict=True):
            if draft and not row["durable"]:
                print(f"    junk  {row['id']:3} {row['label']:13} {draft.kind} {draft.confidence} {draft.description}")
            elif draft:
                print(f"    good  {row['id']:3} {row['label']:13} {draft.kind} {draft.confidence} {draft.description}")
            elif row["durable"]:
                print(f"    miss  {row['id']:3} {row['label']:13} {row['text'][:100]!r}")


def main() -> int:
    learn()
    given = [a for a in sys.argv[1:] if not a.startswith("-")]
    path = given[0] if given else os.path.join(HERE, "..", "..", "..", "shared", "data", "turns.jsonl")
    if not os.path.exists(path):
        print(f"skipped: no labelled messages at {path}")
        return 0
    with open(path, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    compare(rows)
    print("By rules alone:")
    for threshold in (0.5, 0.0):
        evaluate(rows, threshold, "--misses" in sys.argv)
    return 0


if __name__ == "__main__":
    sys.exit(main())
