"""Recovery from a killed process: which changes it had made, how to take them back, and its temporary files."""

import contextlib
import os
from collections.abc import Mapping, Sequence
from typing import Any

from memtui.core.base import fs
from memtui.core.client import process
from memtui.core.journal.changes.change import Change, Row, State


def states(record: Mapping[str, Any], changes: Sequence[Change]) -> list[State]:
    """Return the state of each change: made, open or foreign. Raises OSError."""
    rows: dict[str, list[Row]] = {}
    for row in record["changes"]:
        rows.setdefault(row["path"], []).append(row)
    return [change.state(row, rows[change.path]) for row, change in zip(record["changes"], changes, strict=True)]


def rollback(changes: Sequence[Change], states: Sequence[State]) -> list[Change]:
    """Return the changes that take back those that were made, in the order to make them."""
    made = [change for change, state in zip(changes, states, strict=True) if state == "made"]
    return [change.inverse() for change in reversed(made)]


def plan(record: Mapping[str, Any], changes: Sequence[Change]) -> tuple[bool, list[Change]]:
    """Return whether all changes are made, and if not, the changes that take them back. They are not finished instead,
    because a command that failed half-way told the person that it failed."""
    found = states(record, changes)
    if all(state == "made" for state in found):
        return True, []
    return False, rollback(changes, found)


def sweep(trash: str, record: Mapping[str, Any]) -> None:
    """Remove the temporary files of killed processes and of this one, but not of others that still run. The caller
    holds the journal's lock, so this process is not using any."""
    for place in {trash + "/", *(row["path"] for row in record["changes"])}:
        directory, name = os.path.split(place)
        with contextlib.suppress(OSError):
            for found in os.listdir(directory):
                target, pid = fs.temporary_of(found) or ("", 0)
                if not pid or not target.startswith(name):
                    continue
                if pid == os.getpid() or not process.alive(pid):
                    fs.unlink(f"{directory}/{found}")
