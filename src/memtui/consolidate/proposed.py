"""ChangeSets that wait for a person: one file each in `<root>/proposals/`, named by when it was made."""

import os
from typing import NamedTuple

from memtui.consolidate import changeset_json, plan_file
from memtui.consolidate.changeset import ChangeSet
from memtui.core.base import fastjson, fs, ids

# A larger file is listed without its counts.
MOST_BYTES = changeset_json.MAX_BYTES


class ProposedSet(NamedTuple):
    """A ChangeSet that waits: its file, when it was made (seconds since the epoch), what made it, and how many of its
    proposals nobody decided yet."""

    path: str
    time: float
    by: str
    open: int


def directory(root: str) -> str:
    """Return where they are."""
    return root + "/proposals"


def save(root: str, found: ChangeSet, now: float) -> str:
    """Save a ChangeSet for a person, and return its file. Raises MemtuiError."""
    path = f"{directory(root)}/{ids.new_id(now)}.json"
    plan_file.write(path, found)
    return path


def waiting(root: str) -> list[ProposedSet]:
    """List the ChangeSets with proposals that nobody decided yet, newest first, without files that can't be read."""
    try:
        names = sorted(os.listdir(directory(root)), reverse=True)
    except OSError:
        return []
    found = []
    for name in names:
        made = ids.id_time(name.removesuffix(".json"))
        if made is None or not name.endswith(".json"):
            continue
        path = f"{directory(root)}/{name}"
        try:
            row = fastjson.loads_dict(fs.read_bytes(path, MOST_BYTES))
        except OSError:
            continue
        changes = row.get("changes")
        rows = changes if isinstance(changes, list) else []
        undecided = sum(isinstance(each, dict) and each.get("decision", "open") == "open" for each in rows)
        if undecided:
            found.append(ProposedSet(path, made, str(row.get("by") or ""), undecided))
    return found
