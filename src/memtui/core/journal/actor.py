"""The place where a change is made: a TUI that is open, or a terminal in which commands are typed. The journal keeps
it, so that undo knows what a person did just here from what others did, or the same person elsewhere."""

import functools
import os

from memtui.core.base import ids


@functools.cache
def _process(_: int) -> str:
    return ids.digest(os.urandom(16), 8)


def here(by: str) -> str:
    """A name that is equal for what is made in the same place. Commands share the session of their terminal; anything
    else is a place of its own as long as it runs."""
    if by == "cli":
        return ids.digest(f"{os.uname().nodename} {os.getsid(0)}", 8)
    return _process(os.getpid())
