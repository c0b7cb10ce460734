"""The screens by name, each imported when it is first shown."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.screen import Screen

    from memtui.tui.services import Services


def make(name: str, services: "Services") -> "Screen[Any]":
    """Return a new screen by its name: memories, inbox, guidance, deliveries, sessions, health, consolidate, recall or
    subconscious.

    Raises KeyError.
    """
    if name == "memories":
        from memtui.tui.screens.memories.screen import Memories

        return Memories(services)
    if name == "inbox":
        from memtui.tui.screens.inbox.screen import Inbox

        return Inbox(services)
    if name == "guidance":
        from memtui.tui.screens.guidance.screen import Guidance

        return Guidance(services)
    if name == "deliveries":
        from memtui.tui.screens.deliveries.screen import Deliveries

        return Deliveries(services)
    if name == "sessions":
        from memtui.tui.screens.sessions.screen import Sessions

        return Sessions(services)
    if name == "health":
        from memtui.tui.screens.health.screen import Health

        return Health(services)
    if name == "consolidate":
        from memtui.tui.screens.consolidate.screen import Consolidate

        return Consolidate(services)
    if name == "recall":
        from memtui.tui.screens.recall.screen import Recall

        return Recall(services)
    if name == "subconscious":
        from memtui.tui.screens.subconscious.screen import Subconscious

        return Subconscious(services)
    raise KeyError(name)
