"""Recovery from a killed process: how far it came, what takes that back, and its temporary files."""

import contextlib
import os
from collections.abc import Mapping, Sequence
from typing import Any

from memtui.core.base import fs
from memtui.core.journal.changes.change import Change, Row, State


def states(record: Mapping[str, Any], changes: Sequence[Change]) -> list[State]:
    """The state of each change: made, open or foreign. Raises OSError."""
    rows: dict[str, list[Row]] = {}
    for row in record["changes"]:
        rows.setdefault(row["path"], []).append(row)
    return [change.state(row, rows[change.path]) for row, change in zip(record["changes"], changes, strict=True)]


def back(changes: Sequence[Change], states: Sequence[State]) -> list[Change]:
    """The changes that take back those that were made, in their order."""
    made = [change for change, state in zip(changes, states, strict=True) if state == "made"]
    return [change.inverse() for change in reversed(made)]


def rest(record: Mapping[str, Any], changes: Sequence[Change]) -> tuple[bool, list[Change]]:
    """Whether the changes are all made, and what is left to do to take them back if they are not: a command that could
    neither go on nor take back what it had begun told the person that it failed."""
    found = states(record, changes)
    if all(state == "made" for state in found):
        return True, []
    return False, back(changes, found)


def sweep(trash: str, record: Mapping[str, Any]) -> None:
    """Remove the temporary files that a killed process left, or this one where it failed: those of another that lives
    are its own business. The caller holds the journal's lock, so that this one is at work on none."""
    for place in {trash + "/", *(row["path"] for row in record["changes"])}:
        directory, name = os.path.split(place)
        with contextlib.suppress(OSError):
            for found in os.listdir(directory):
                target, pid = fs.temporary_of(found) or ("", 0)
                if not pid or not target.startswith(name):
                    continue
                if pid == os.getpid() or not fs.alive(pid):
                    fs.unlink(f"{directory}/{found}")
