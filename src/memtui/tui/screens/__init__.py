"""The screens, made when they are first shown, and the actions of each."""

from typing import Any

from textual.screen import Screen

from memtui.tui.actions import Action

ACTIONS: tuple[Action, ...] = (
    Action("memories.open", "o", "", "Read the memory over the whole screen"),
    Action("memories.edit", "e", "edit", "Edit its fields and text", writes=True),
    Action("memories.editor", "E", "", "Edit the file in $VISUAL or $EDITOR", writes=True),
    Action("memories.new", "n", "new", "Make a memory", writes=True),
    Action("memories.trash", "d", "trash", "Move it to the trash", writes=True),
    Action("memories.purge", "D", "", "Delete it for good", writes=True),
    Action("memories.restore", "b", "", "Bring one back from the trash", writes=True),
    Action("memories.rename", "r", "", "Rename it; links and index follow", writes=True),
    Action("memories.retype", "t", "type", "Change its type", writes=True),
    Action("memories.move", "m", "move", "Move it to another scope", writes=True),
    Action("memories.copy", "c", "", "Copy it to another scope", writes=True),
    Action("memories.mark", "space", "mark", "Mark it; most actions work on all marked ones"),
    Action("memories.range", "v", "", "Mark a range: once at its start, once at its end"),
    Action("memories.filter", "slash", "filter", "Filter by name and description"),
    Action("memories.search", "S", "", "Search the texts of all memories"),
    Action("memories.sort", "s", "sort", "Sort by another column"),
    Action("memories.type_filter", "T", "", "Show one type only"),
    Action("memories.trust", "u", "", "Trust the project's memories as they are now", writes=True),
)


def make(name: str) -> Screen[Any]:
    """A screen by its name: memories, inbox, guidance, deliveries, health."""
    if name == "memories":
        from memtui.tui.screens.memories import Memories

        return Memories()
    raise KeyError(name)
