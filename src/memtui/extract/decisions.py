"""The drafts that a person decides about, as the classifier judged them: `feedback/drafts.jsonl` has the features of
each by its id, so that a decision teaches something after the draft is gone. No words are kept."""

import os

from memtui.core.base import fastjson, fs
from memtui.core.deliveries import error_log
from memtui.core.redaction.redact import redact
from memtui.core.review import taught
from memtui.extract.personal import Decided
from memtui.extract.signals import Basis, Signal

VERSION = 1
# Bytes of the file from which its older half is dropped: some 2,000 drafts.
TRIM_BYTES = 2 << 20
APPROVED, EDITED, REJECTED, NEVER = taught.APPROVED, taught.EDITED, taught.REJECTED, taught.NEVER
# How much a draft counts that was approved after it was rewritten as a whole, of one that was approved as it was.
REWRITTEN = 0.25
# What each decision says about feedback and durable, and how much that counts: who rejects a draft may only find it not
# worth keeping, so that says nothing about feedback.
TARGETS: dict[str, tuple[tuple[float, float], tuple[float, float]]] = {
    APPROVED: ((1.0, 1.0), (0.5, 1.0)),
    REJECTED: ((0.0, 0.0), (0.0, 1.0)),
    NEVER: ((0.0, 0.0), (0.5, 2.0)),
}


def target(label: str) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Return what a decision says, and how much that counts: a draft that was approved after an edit says the same as
    any approved one, and the less the fewer of its words are left. None for an unknown decision."""
    kind, kept = taught.parts(label)
    if kind != EDITED:
        return TARGETS.get(kind)
    targets, (feedback, durable) = TARGETS[APPROVED]
    weight = REWRITTEN + (1 - REWRITTEN) * kept
    return targets, (weight * feedback, weight * durable)


def path(root: str) -> str:
    """Return the file."""
    return taught.drafts_path(root)


def row_of(basis: Basis | None) -> dict[str, object] | None:
    """Return what the classifier saw of a draft as a JSON object; None if it did not judge it."""
    if basis is None:
        return None
    scores, found = basis
    return {
        "scores": [round(each, 4) for each in scores],
        "features": {str(key): round(value, 3) for key, value in found.items()},
    }


def of_row(row: object) -> Basis | None:
    """Read what `row_of` returned; None if it is none."""
    given = row if isinstance(row, dict) else {}
    scores, found = given.get("scores"), given.get("features")
    if not isinstance(scores, list) or not isinstance(found, dict) or len(scores) != 2:
        return None
    if not all(isinstance(each, (int, float)) for each in (*scores, *found.values())):
        return None
    if not all(str(key).isdigit() for key in found):
        return None
    return (float(scores[0]), float(scores[1])), {int(key): float(value) for key, value in found.items()}


def note(root: str, draft_id: str, project: str, draft: Signal) -> None:
    """Keep what the classifier saw of a draft. Never raises: the draft is in the inbox by then, and where this can't be
    written, it only teaches nothing. That is logged."""
    seen = row_of(draft.judged)
    if seen is None:
        return
    row = {"v": VERSION, "id": draft_id, "project": project, **seen}
    line = fastjson.dumps(row)
    if redact(line)[0] != line:
        return  # numbers can look like a secret only by chance; then nothing is learned from this draft
    try:
        _append(path(root), line)
    except OSError as error:
        error_log.add(root, "decisions", error)


def _append(file: str, line: str) -> None:
    fs.append(file, line.encode() + b"\n")
    if os.stat(file).st_size > TRIM_BYTES:
        lines = fs.read_bytes(file).splitlines(keepends=True)
        fs.write_atomic(file, b"".join(lines[len(lines) // 2 :]), durable=False)


def decided(root: str, labels: dict[str, str]) -> list[Decided]:
    """Return the decisions, `labels` by draft id, on drafts whose features are kept, oldest first."""
    found: dict[str, Decided] = {}
    try:
        lines = fs.read_bytes(path(root)).splitlines()
    except OSError:
        return []
    for line in lines:
        row = fastjson.loads_dict(line)
        name = str(row.get("id"))
        each = _decided(row, labels.get(name, ""))
        if each is not None:
            found[name] = each
    return list(found.values())


def _decided(row: dict[str, object], label: str) -> Decided | None:
    said = target(label)
    basis = of_row(row) if said and row.get("v") == VERSION else None
    if said is None or basis is None:
        return None
    return Decided(basis[1], basis[0], *said, str(row.get("project") or ""))
