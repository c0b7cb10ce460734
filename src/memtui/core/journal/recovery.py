"""What a killed process left: how far it came, and its temporary files."""

import contextlib
import os
from collections.abc import Mapping, Sequence
from typing import Any

from memtui.core.base import fs, ids
from memtui.core.inbox import format as inbox_format
from memtui.core.journal.changes.files import Change, FileChange, TrustEdit, read
from memtui.core.journal.changes.step import Step


def states(record: Mapping[str, Any], changes: Sequence[Change]) -> list[str]:
    """Of each change: `made`, `open`, or `foreign` if the file is neither as before nor as after it."""
    found = []
    steps: dict[str, list[str | None]] = {}
    for row in record["changes"]:
        if "was" in row:
            steps.setdefault(row["path"], [row["was"]]).append(row["now"])
    seen: dict[str, int] = {}
    for row, change in zip(record["changes"], changes, strict=True):
        if isinstance(change, Step):
            found.append(change.state())
            continue
        if isinstance(change, TrustEdit):
            found.append("made" if change.made() else "open")
            continue
        data = read(change.path)
        digest = ids.digest(data) if data else None
        if isinstance(change, FileChange):
            # Before and after can be the same; then there is nothing to do either way.
            found.append("made" if data == change.after else "open" if data == change.before else "foreign")
            continue
        step = seen[change.path] = seen.get(change.path, 0) + 1
        known = steps[change.path]
        if digest in known:
            made = len(known) - 1 - known[::-1].index(digest) >= step
        else:
            made = change.made(inbox_format.decode(data or b""), row["count"])
        found.append("made" if made else "open")
    return found


def back(changes: Sequence[Change], states: Sequence[str]) -> list[Change]:
    """What takes back the changes that were made."""
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
