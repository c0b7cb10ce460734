"""The screens by name, each imported when it is first shown."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.screen import Screen

    from memtui.tui.services import Services


def make(name: str, services: "Services") -> "Screen[Any]":
    """Return a new screen by its name: memories, inbox, activity or setup.

    Raises KeyError.
    """
    if name == "memories":
        from memtui.tui.screens.memories.screen import Memories

        return Memories(services)
    if name == "inbox":
        from memtui.tui.screens.inbox.screen import Inbox

        return Inbox(services)
    if name == "activity":
        from memtui.tui.screens.activity.screen import Activity

        return Activity(services)
    if name == "setup":
        from memtui.tui.screens.setup.screen import Setup

        return Setup(services)
    raise KeyError(name)
