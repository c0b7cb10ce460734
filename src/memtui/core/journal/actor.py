"""The place where a change is made: an open TUI, or a terminal in which commands are typed. The journal records it, so
that undo can tell what a person did here from what others, or the same person elsewhere, did."""

import functools
import os

from memtui.core.base import ids


@functools.cache
def _process_id(_: int) -> str:
    return ids.digest(os.urandom(16), 8)


def here(by: str) -> str:
    """Return an id of the current place. Commands in one terminal have the same id (by its POSIX session); any other
    process has its own."""
    if by == "cli":
        return ids.digest(f"{os.uname().nodename} {os.getsid(0)}", 8)
    return _process_id(os.getpid())
