"""How one change is made, whatever kind it is."""

import contextlib
import dataclasses
import os

from memtui.core.journal.changes import files as ch
from memtui.core.journal.changes.files import Change, FileChange, TextEdit, TrustEdit
from memtui.core.journal.changes.step import Step


def as_it_was(change: Change) -> Change:
    """A file that goes, or may go with its last lines, keeps its permission bits for its return, and every content that
    goes its time."""
    if isinstance(change, TextEdit) and change.mode is None and not change.added:
        with contextlib.suppress(OSError):
            return dataclasses.replace(change, mode=os.stat(change.path).st_mode & 0o7777)
    if isinstance(change, FileChange) and change.before is not None:
        with contextlib.suppress(OSError):
            found = os.stat(change.path)
            mode = found.st_mode & 0o7777 if change.after is None and change.mode is None else change.mode
            return dataclasses.replace(change, mode=mode, times=(found.st_mtime_ns, change.times[1]))
    return change


def make(change: Change) -> None:
    """Do it. Raises ConflictError if things are not as it expects them, OSError."""
    if isinstance(change, Step):
        change.make()
    elif isinstance(change, FileChange):
        ch.replace(change)
    elif isinstance(change, TrustEdit):
        ch.retrust(change)
    else:
        ch.rewrite(change)
