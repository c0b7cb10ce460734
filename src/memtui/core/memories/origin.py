"""The origin of a memory: a session, memtui, or the repository."""

import os
from collections.abc import Mapping
from typing import NamedTuple

from memtui.core.journal import ledger as journal_ledger
from memtui.core.memories import moved
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope


class Source(NamedTuple):
    """Where a memory is from: session, approve, copy, move, made (at `when`), own, repository, model or unknown."""

    kind: str
    when: float | None = None
    session: str = ""


def creations(root: str) -> dict[str, tuple[str, float | None]]:
    """Map the path of each file that memtui made, by the journal, to (operation, seconds since the epoch)."""
    try:
        ledger = journal_ledger.shared(f"{root}/journal.jsonl").follow()
    except OSError:
        return {}
    created: dict[str, tuple[str, float | None]] = {}
    for each in ledger.all():
        if each.state != "done" or not each.is_change or each.op == "restore":
            continue
        for time, old, new in moved.moves(each, {}):
            if isinstance(new, str) and (old is None or old in created or each.op == "move"):
                created[new] = created[old] if isinstance(old, str) and old in created else (each.op, time or None)
    return created


def source(scope: Scope, found: Memory, known: Mapping[str, tuple[str, float | None]]) -> Source:
    """Return where a memory comes from. `known`: as returned by `creations`."""
    if scope.kind == "model":
        return Source("model")
    if found.origin_session:
        return Source("session", session=found.origin_session)
    creation = known.get(os.path.realpath(found.path))
    if creation is not None:
        return Source(creation[0] if creation[0] in {"approve", "copy", "move"} else "made", creation[1])
    if scope.kind == "instructions":
        return Source("own" if scope.root_path is None else "repository")
    return Source("repository" if scope.kind == "project" or scope.label.endswith("@project") else "unknown")
