"""Labelled messages: what the benchmark and the training of the classifier read, in one way."""

import json
from collections.abc import Iterable
from pathlib import Path

from memtui.client.transcripts.conversation import Turn

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
TRAINING, APART = "turns-train.jsonl", "turns.jsonl"
FEEDBACK = {"correction", "preference-statement"}


def read(paths: Iterable[Path]) -> list[dict]:
    """Read the labelled messages of the files."""
    return [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines() if line.strip()]


def turn_of(row: dict) -> Turn:
    """Make the turn that a labelled message was."""
    return Turn(
        row["text"],
        row["channel"],
        agent=row["prev_assistant"] or "",
        session=row["source"]["session"],
        tools=tuple(tool.partition(" ")[0] for tool in row["prev_tools"]),
    )


def truths_of(row: dict) -> tuple[bool, bool]:
    """Return whether a message is feedback, and durable."""
    return row["label"] in FEEDBACK, bool(row["durable"])
