"""What a person's decisions on drafts have taught: the files of it, what they say, and forgetting it.

`feedback/decisions.json` has `labels`, the decision on each draft by its id (approved, edited, rejected, never), and
`reset`, the time before which nothing counts. `feedback/weights.json` has what follows (extract/personal.py).
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from memtui.core.base import clock, fastjson, fs
from memtui.core.base.finding import Finding, good
from memtui.core.base.storage import read_or_none
from memtui.core.journal.changes.file_change import FileChange
from memtui.core.journal.journal import Journal
from memtui.core.review import learned

VERSION = 1
# Decisions. The label of a draft that was approved after an edit tells how much of its words stayed: `edited:60`.
APPROVED, EDITED, REJECTED, NEVER = "approved", "edited", "rejected", "never"
MOST_BYTES = 8 << 20


class Taught(NamedTuple):
    """Decisions by their kind; average precision on the validation figures by question, shipped and as it is now; how
    many features were corrected, in how many projects; how often a correction was halved."""

    counts: Mapping[str, int]
    figures: Mapping[str, tuple[float, float]]
    features: int
    projects: int
    halved: int

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
        }


def load(path: str) -> dict[str, object]:
    """Read one of both files; `{}` if there is none, or it is of another version."""
    try:
        found = fastjson.loads_dict(fs.read_bytes(path, MOST_BYTES))
    except OSError:
        return {}
    return found if found.get("v") == VERSION else {}


def labels_of(found: Mapping[str, object]) -> dict[str, str]:
    """Return the decision on each draft, by its id, oldest first."""
    rows = found.get("labels")
    return {str(key): str(value) for key, value in rows.items()} if isinstance(rows, dict) else {}


def edited(kept: float) -> str:
    """Return the label of a draft that was approved when this part of its words was left, from 0 to 1."""
    return f"{EDITED}:{round(100 * kept)}"


def parts(label: str) -> tuple[str, float]:
    """Return the decision that a label tells, and which part of the draft's words was left, from 0 to 1."""
    kind, _, kept = label.partition(":")
    return kind, min(100, int(kept)) / 100 if kept.isascii() and kept.isdigit() else 1.0


def look(root: str) -> Taught:
    """Return what was taught."""
    found = load(learned.weights_path(root))
    whole, projects, halved = found.get("all"), found.get("projects"), found.get("halved")
    pairs = whole.values() if isinstance(whole, dict) else ()
    return Taught(
        Counter(parts(label)[0] for label in labels_of(load(learned.decisions_path(root))).values()),
        learned.figures_of(found),
        len({key for each in pairs if isinstance(each, dict) for key in each}),
        len(projects) if isinstance(projects, dict) else 0,
        halved if isinstance(halved, int) else 0,
    )


def check(root: str) -> Iterator[Finding]:
    """Tell what was taught; nothing if there were no decisions."""
    found = look(root)
    if found.total:
        told = ", ".join(f"{name} {shipped:.3f} → {now:.3f}" for name, (shipped, now) in found.figures.items())
        edits = found.counts.get(EDITED, 0)
        yield good("learned.decisions", decisions=found.total, edited=edits, features=found.features, told=told or "-")


def forget(root: str, journal: Journal) -> bool:
    """Forget everything that was taught, as one step of undo; False if there was nothing. Raises MemtuiError."""
    if not look(root).total and not load(learned.weights_path(root)):
        return False
    row = {"v": VERSION, "labels": {}, "reset": clock.iso(journal.now())}
    places = ((learned.decisions_path(root), fastjson.dumps(row).encode()), (learned.weights_path(root), None))
    changes = [
        FileChange(path, before, after, fs.FILE_MODE)
        for path, after in places
        if (before := read_or_none(path)) != after
    ]
    journal.run("forget", changes, "forget what decisions on drafts taught")
    return True
