"""How good the rules of memtui.extract.signals are, on labelled messages: precision and recall by kind.

    python tests/benchmarks/extraction.py [turns.jsonl] [--misses]

Reads `../shared/data/turns.jsonl` beside the repository unless told otherwise, and says so when there is none. A draft is
right in kind if the message's label is its kind, or one of the label's seconds (`also`). It is worth keeping if a careful
reviewer would keep a lasting lesson from the message (`durable`). The same rules were written with these messages in view:
take the figures as an upper bound.
"""

import json
import os
import sys
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "src"))

from memtui.core.client.conversation import Turn  # noqa: E402
from memtui.extract import signals  # noqa: E402

KINDS = {"correction": "correction", "confirmation": "confirmation", "preference": "preference-statement"}


def share(part: int, whole: int) -> str:
    return f"{part}/{whole} = {part / whole:.0%}" if whole else f"{part}/0"


def evaluate(rows: list[dict], threshold: float, misses: bool) -> None:
    drafts = []
    for row in rows:
        turn = Turn(row["text"], row["channel"], agent=row["prev_assistant"], session=row["source"]["session"])
        draft = signals.signal_of(turn)
        drafts.append(draft if draft and draft.confidence >= threshold else None)
    made = sum(d is not None for d in drafts)
    print(f"threshold {threshold}: {made} drafts of {len(rows)} messages")
    for kind, label in KINDS.items():
        of_kind = [(d, r) for d, r in zip(drafts, rows, strict=True) if d and d.kind == kind]
        right = sum(r["label"] == label or label in r["also"] for _, r in of_kind)
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
    given = [a for a in sys.argv[1:] if not a.startswith("-")]
    path = given[0] if given else os.path.join(HERE, "..", "..", "..", "shared", "data", "turns.jsonl")
    if not os.path.exists(path):
        print(f"skipped: no labelled messages at {path}")
        return 0
    with open(path, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for threshold in (0.5, 0.0):
        evaluate(rows, threshold, "--misses" in sys.argv)
    return 0


if __name__ == "__main__":
    sys.exit(main())
