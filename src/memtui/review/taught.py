"""What a person's decisions on drafts have taught, in `feedback/decisions.json` and, as far as it is applied, in
`feedback/weights.json` (docs/file-formats.md): what the files say, and forgetting it."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from memtui.base import clock, fastjson, fs
from memtui.base.errors import MemtuiError
from memtui.base.finding import Finding, good
from memtui.base.storage import read_or_none
from memtui.inbox import format as inbox_format
from memtui.settings import config
from memtui.store.journal.changes import Change, FileChange
from memtui.store.journal.journal import Journal
from memtui.store.journal.text_edit import TextEdit

VERSION = 1
# Decisions. The label of a draft that was approved after an edit tells how much of its words stayed: `edited:60`.
APPROVED, EDITED, REJECTED, NEVER = "approved", "edited", "rejected", "never"
MOST_BYTES = 8 << 20
# Decisions that are kept, the newest; the operations that make them; the files that drafts are taken from.
MOST = 2000
OPS, UPDATES = {"approve", "reject"}, "/" + inbox_format.FILES["updates"]
# By how much a figure changes, at least, so that drafts are said to be judged better or worse; what figures are about.
NOTICEABLE = 0.01
QUESTIONS = {"feedback": "feedback", "durable": "lasting"}


def decisions_path(root: str) -> str:
    """Return the file of decisions."""
    return root + "/feedback/decisions.json"


def drafts_path(root: str) -> str:
    """Return the file of the drafts that can be decided on, as the classifier saw them."""
    return root + "/feedback/drafts.jsonl"


def read_path(root: str) -> str:
    """Return the file with the stamp of the journal as it was read last for decisions."""
    return root + "/run/decided"


def weights_path(root: str) -> str:
    """Return the file of what follows from them."""
    return root + "/feedback/weights.json"


def figures_of(record: Mapping[str, object]) -> dict[str, tuple[float, float]]:
    """Return average precision on the validation figures by question, shipped and now, from the file of weights."""
    figures = record.get("figures")
    return {
        str(name): (float(row[0]), float(row[1]))
        for name, row in (figures.items() if isinstance(figures, dict) else ())
        if isinstance(row, list) and len(row) == 2 and all(isinstance(number, (int, float)) for number in row)
    }


class Taught(NamedTuple):
    """Decisions by kind, precision by question (shipped, now), features, projects, halvings, what waits."""

    counts: Mapping[str, int]
    figures: Mapping[str, tuple[float, float]]
    features: int
    projects: int
    halved: int
    waiting: int = 0

    @property
    def total(self) -> int:
        """How many decisions there were."""
        return sum(self.counts.values())

    def data(self) -> dict[str, object]:
        """Return it for --json."""
        return {
            "decisions": dict(self.counts),
            "figures": {name: {"shipped": row[0], "now": row[1]} for name, row in self.figures.items()},
            "features": self.features,
            "projects": self.projects,
            "halved": self.halved,
            "waiting": self.waiting,
        }

    @property
    def judged(self) -> str:
        """How well drafts are judged now, in words; empty if that was not measured."""
        if not self.figures:
            return ""
        moves = [now - shipped for shipped, now in self.figures.values()]
        better, worse = max(moves) >= NOTICEABLE, min(moves) <= -NOTICEABLE
        how = "Better in one way, a little worse in another" if better and worse else "Better than before"
        how = how if better else "A little worse than before" if worse else "No measurable change yet"
        words = ((QUESTIONS.get(name, name), now) for name, (_, now) in self.figures.items())
        right = " and ".join(f"{now:.0%} of those ranked high as {word} are {word}" for word, now in words)
        return f"{how}: in memtui's test messages, {right}"


def load(path: str) -> dict[str, object]:
    """Read one of both files; `{}` if there is none, or it is of another version."""
    try:
        weights = fastjson.loads_dict(fs.read_bytes(path, MOST_BYTES))
    except OSError:
        return {}
    return weights if weights.get("v") == VERSION else {}


def labels_of(record: Mapping[str, object]) -> dict[str, str]:
    """Return the decision on each draft, by its id, oldest first."""
    rows = record.get("labels")
    return {str(key): str(value) for key, value in rows.items()} if isinstance(rows, dict) else {}


def edited(share: float) -> str:
    """Return the label of a draft that was approved when this part of its words was left, from 0 to 1."""
    return f"{EDITED}:{round(100 * share)}"


def parts(label: str) -> tuple[str, float]:
    """Return the decision that a label tells, and which part of the draft's words was left, from 0 to 1."""
    kind, _, share = label.partition(":")
    return kind, min(100, int(share)) / 100 if share.isascii() and share.isdigit() else 1.0


def read_until(root: str) -> int:
    """Return the stamp of the journal as it was read last for decisions; -1 if it never was."""
    try:
        return int(fs.read_bytes(read_path(root), 40))
    except (OSError, ValueError):
        return -1


def drafts_in(changes: Iterable[Change]) -> list[inbox_format.Entry]:
    """Return the drafts that changes take from an inbox."""
    texts = [change for change in changes if isinstance(change, TextEdit) and change.path.endswith(UPDATES)]
    return [entry for text in texts for entry in inbox_format.parse(text.removed)]


def waiting(root: str, journal: Journal) -> int:
    """Count the decisions that are new, changed or undone since the worker read the journal."""
    if fs.stamp(journal.path) == read_until(root) or not os.path.exists(drafts_path(root)):
        return 0
    if config.value(config.load(root), None, "extract_learn") is not True:
        return 0
    before = load(decisions_path(root))
    decisions = {name: parts(label)[0] in {APPROVED, EDITED} for name, label in labels_of(before).items()}
    decisions_waiting, since = dict(decisions), before.get("reset")
    try:
        transactions = list(journal.ledger().transactions.values())
    except OSError:
        return 0
    for step in transactions:
        if step.op not in OPS or not step.is_change or step.time <= (since if isinstance(since, str) else ""):
            continue
        try:
            drafts = drafts_in(journal.changes_of(step.record))
        except (MemtuiError, OSError, ValueError):
            continue  # its contents are gone
        for entry in drafts:
            if step.state in {"done", "undone"}:
                decisions_waiting.pop(entry.id, None)
            if step.state == "done":
                decisions_waiting[entry.id] = step.op == "approve"
    decisions_waiting = dict(list(decisions_waiting.items())[-MOST:])
    return sum(decisions.get(name) != approved for name, approved in decisions_waiting.items()) + len(
        decisions.keys() - decisions_waiting.keys()
    )


def look(root: str, journal: Journal) -> Taught:
    """Return what was taught, and how many decisions wait."""
    weights = load(weights_path(root))
    whole, projects, halved = weights.get("all"), weights.get("projects"), weights.get("halved")
    pairs = whole.values() if isinstance(whole, dict) else ()
    return Taught(
        Counter(parts(label)[0] for label in labels_of(load(decisions_path(root))).values()),
        figures_of(weights),
        len({key for pair in pairs if isinstance(pair, dict) for key in pair}),
        len(projects) if isinstance(projects, dict) else 0,
        halved if isinstance(halved, int) else 0,
        waiting(root, journal),
    )


def check(root: str, journal: Journal) -> Iterator[Finding]:
    """Tell what was taught, and how many decisions wait; nothing if there were no decisions."""
    taught = look(root, journal)
    if taught.total:
        edits = taught.counts.get(EDITED, 0)
        yield good(
            "learned.decisions", decisions=taught.total, edited=edits, waiting=taught.waiting, judged=taught.judged
        )
    elif taught.waiting:
        yield good("learned.waiting", waiting=taught.waiting)


def forget(root: str, journal: Journal) -> bool:
    """Forget everything that was taught, as one step of undo; False if there was nothing. Raises MemtuiError."""
    taught = look(root, journal)
    if not taught.total and not taught.waiting and not load(weights_path(root)):
        return False
    row = {"v": VERSION, "labels": {}, "reset": clock.iso(journal.now())}
    places = ((decisions_path(root), fastjson.dumps(row).encode()), (weights_path(root), None))
    changes = [
        FileChange(path, before, after, fs.FILE_MODE)
        for path, after in places
        if (before := read_or_none(path)) != after
    ]
    journal.run("forget", changes, "forget what decisions on drafts taught")
    return True
