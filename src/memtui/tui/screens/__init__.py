"""The screens, made when they are first shown, and the actions of each."""

from typing import TYPE_CHECKING, Any

from memtui.tui.actions import Action

if TYPE_CHECKING:
    from textual.screen import Screen

ACTIONS: tuple[Action, ...] = (
    Action("memories.open", "o", "", "Read the memory over the whole screen"),
    Action("memories.edit", "e", "edit", "Edit its fields and text", writes=True),
    Action("memories.editor", "E", "", "Edit the file in $VISUAL or $EDITOR", writes=True),
    Action("memories.new", "n", "new", "Make a memory", writes=True),
    Action("memories.trash", "d", "trash", "Move it to the trash", writes=True),
    Action("memories.filter", "slash", "filter", "Filter by name and description"),
    Action("memories.mark", "space", "mark", "Mark it; most actions work on all marked ones", listed=True),
    Action("memories.purge", "D", "", "Delete it for good", writes=True),
    Action("memories.restore", "b", "", "The trash: bring back, or delete for good", writes=True),
    Action("memories.rename", "r", "", "Rename it; links and index follow", writes=True),
    Action("memories.retype", "t", "type", "Change its type", writes=True),
    Action("memories.move", "m", "move", "Move it to another scope", writes=True),
    Action("memories.copy", "c", "", "Copy it to another scope", writes=True),
    Action("memories.range", "v", "", "Mark a range: once at its start, once at its end", listed=True),
    Action("memories.search", "S", "", "Search the texts of all memories"),
    Action("memories.next", "J", "next", "The next memory, also while one is read"),
    Action("memories.previous", "K", "previous", "The memory before"),
    Action("memories.follow", "f", "follow", "To a memory that it links to, or that links to it; escape comes back"),
    Action("memories.sort", "s", "sort", "Sort by the next column", listed=True),
    Action("memories.reverse", "R", "", "Turn the order round", listed=True),
    Action("memories.type_filter", "T", "", "Show one type only", listed=True),
    Action("memories.attention", "exclamation_mark", "findings", "Show only what wants attention, or all", listed=True),
    Action("memories.never", "N", "", "Show only what was never delivered, or all", listed=True),
    Action("memories.scope", "p", "", "Choose the scope: to the tree, or from a list", listed=True),
    Action("memories.left", "left,h", "", "One pane to the left; in the scopes, fold"),
    Action("memories.right", "right,l", "", "One pane to the right; in the scopes, unfold"),
    Action("memories.mark_all", "A", "", "Mark all that are shown, or none", listed=True),
    Action("memories.trust", "u", "trust", "Trust a memory that came with the repository, or all", writes=True),
    Action("inbox.approve", "a", "approve", "Make it a memory as shown; marked ones are shown first", writes=True),
    Action("inbox.edit", "e", "edit", "Rewrite it, then approve; of an item, change the text", writes=True),
    Action("inbox.merge", "m", "merge", "Put it at the end of a memory that is there", writes=True),
    Action("inbox.reject", "x", "reject", "Drop it", writes=True),
    Action("inbox.never", "X", "never", "Drop it, and never draft such words again", writes=True),
    Action("inbox.type", "t", "type", "Another type for the draft"),
    Action("inbox.scope", "s", "scope", "Another scope for the draft"),
    Action("inbox.done", "d", "done", "Tick an unfinished item off", writes=True),
    Action("inbox.keep", "equals_sign", "keep", "Keep an item when the next session leaves others", writes=True),
    Action("inbox.guide", "G", "to guidance", "Make guidance of it, for the next prompt", writes=True),
    Action("inbox.mark", "space", "mark", "Mark it; most actions work on all marked ones", listed=True),
    Action(
        "inbox.mark_all", "A", "mark all", "Mark all drafts of the list, or on an item all items; or none", listed=True
    ),
    Action("inbox.range", "v", "", "Mark a range: once at its start, once at its end", listed=True),
    Action("inbox.filter", "slash", "filter", "Filter by name, text and kind"),
    Action("inbox.projects", "p", "", "The inboxes of all projects, or of this one", listed=True),
    Action("inbox.next", "J", "", "The next one, also while one is read"),
    Action("inbox.previous", "K", "", "The one before"),
    Action("inbox.open", "o", "", "Read it over the whole screen; unfold what is folded"),
    Action("guidance.new", "n", "", "Write guidance", writes=True),
    Action("guidance.edit", "e", "edit", "Change what waits: text, for whom, until when", writes=True),
    Action("guidance.withdraw", "w", "withdraw", "Take it back before it is told", writes=True),
    Action("guidance.again", "r", "say again", "Say it again: the form opens with its text", writes=True),
    Action("guidance.mark", "space", "mark", "Mark it; withdraw works on all marked ones", listed=True),
    Action("guidance.mark_all", "A", "", "Mark all that are listed, or none", listed=True),
    Action("guidance.range", "v", "", "Mark a range: once at its start, once at its end", listed=True),
    Action("guidance.filter", "slash", "filter", "Filter by text, sender, session and state"),
    Action("guidance.projects", "p", "", "Of all projects, or of this one", listed=True),
    Action("guidance.open", "o", "", "Read it over the whole screen"),
    Action("deliveries.whole_session", "S", "session", "Everything this session was given, in order"),
    Action("deliveries.plots", "v", "plots", "Plots: a day, outcomes, hook time, memories most and never delivered"),
    Action("deliveries.text", "slash", "text", "Show what holds some words in its text", listed=True),
    Action("deliveries.session", "s", "by session", "Show one session only", listed=True),
    Action("deliveries.kind", "t", "kind", "Show one kind only: guidance, index, drafts, uses", listed=True),
    Action("deliveries.outcome", "r", "receipt", "Show what arrived, or what was lost, only", listed=True),
    Action("deliveries.memory", "m", "memory", "Show what brought one memory only", listed=True),
    Action("deliveries.project", "p", "", "Show one project only", listed=True),
    Action("deliveries.counts", "M", "", "Memories delivered most and never: from here to each of them"),
    Action("deliveries.whole", "o", "", "Read it over the whole screen"),
    Action("health.follow", "f", "go to it", "To the memory, the note or the index that a finding is about"),
    Action("health.fix", "F", "fix", "Do what the finding says, where that is safe", writes=True),
    Action(
        "health.install", "i", "install hooks", "Put the hooks into a settings file, after showing how", writes=True
    ),
    Action("health.uninstall", "I", "", "Take the hooks out again, after showing how", writes=True),
    Action("health.edit", "e", "change", "Change a setting, or a project's mode"),
    Action("health.default", "x", "default", "Take a setting back to its default", writes=True),
    Action("health.filter", "slash", "filter", "Filter by the words of a line", listed=True),
    Action("health.attention", "exclamation_mark", "", "Show only what wants mending, or all", listed=True),
    Action("health.next_section", "right_curly_bracket", "", "To the next section", listed=True),
    Action("health.previous_section", "left_curly_bracket", "", "To the section before", listed=True),
    Action("health.trust", "u", "", "Trust the project's memories as they are now", writes=True),
    Action("health.settle", "C", "", "Settle guidance whose delivery is unproven", writes=True),
    Action("health.whole", "o", "", "Read it over the whole screen"),
)


def make(name: str) -> "Screen[Any]":
    """A screen by its name: memories, inbox, guidance, deliveries, health."""
    if name == "memories":
        from memtui.tui.screens.memories import Memories

        return Memories()
    if name == "inbox":
        from memtui.tui.screens.inbox import Inbox

        return Inbox()
    if name == "guidance":
        from memtui.tui.screens.guidance import Guidance

        return Guidance()
    if name == "deliveries":
        from memtui.tui.screens.deliveries import Deliveries

        return Deliveries()
    if name == "health":
        from memtui.tui.screens.health import Health

        return Health()
    raise KeyError(name)
