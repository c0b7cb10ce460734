"""The proposals that a person rejected: they are not proposed again.

They are in `rejected.json` in memtui's directory (docs/file-formats.md), by their ids: one whose files or outcome
changed since has another id, and may be proposed anew. The memories of a rejected merge are kept apart besides
(apart.py), whatever becomes of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from memtui.consolidate import plan
from memtui.consolidate.changeset import ChangeSet, Proposal
from memtui.core.base import fastjson
from memtui.core.base.storage import read_or_none
from memtui.core.journal.changes import FileChange
from memtui.core.memories.store import Store

FORMAT = 1
# The newest rejections that are kept.
MOST = 10_000


class Rejected(NamedTuple):
    """What a rejection changed: the `proposals` that were not rejected before, how many pairs of memories are newly
    kept apart, and whether anything was written."""

    proposals: tuple[Proposal, ...]
    pairs: int
    changed: bool


def path(root: str) -> str:
    """Return the path of the file in memtui's directory."""
    return root + "/rejected.json"


def load(root: str) -> list[str]:
    """Read the ids of what was rejected, oldest first; none from a file that can't be read."""
    try:
        return _ids(read_or_none(path(root)) or b"")
    except OSError:
        return []


def _ids(data: bytes) -> list[str]:
    found = fastjson.loads_dict(data).get("ids") if data.strip() else None
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def without(found: ChangeSet, root: str) -> ChangeSet:
    """Return a ChangeSet without what was rejected."""
    known = set(load(root))
    return replace(found, proposals=tuple(each for each in found.proposals if each.id not in known))


def reject(store: Store, proposals: Sequence[Proposal], what: str) -> Rejected:
    """Reject proposals, as one step of undo that the list of changes calls `what`. What was rejected before changes
    nothing. Raises MemtuiError."""
    if not proposals:
        return Rejected((), 0, changed=False)  # nothing is read that could fail behind what was made already
    with store.journal.together():
        pairs = plan.reject(store, proposals)
        before = read_or_none(path(store.root))
        known = _ids(before or b"")
        new = tuple(each for each in proposals if each.id not in known)
        if new:
            change = FileChange(path(store.root), before, _bytes([*known, *(each.id for each in new)]))
            store.journal.run("reject", [change], what)
    return Rejected(new, pairs, bool(new) or pairs > 0)


def _bytes(found: Iterable[str]) -> bytes:
    return fastjson.dumps({"v": FORMAT, "ids": list(dict.fromkeys(found))[-MOST:]}).encode() + b"\n"
