"""The table of the TUI's actions: keys, footer, help, palette and the key map are all made from it.

The action `memories.edit` runs the command of that id on its screen (tui/services.py); where the command's `why_not`
gives a reason, that is shown instead. Keys are remapped by id in config.toml: `[keys] "memories.edit" = "E"`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

GLOBAL, LIST = "app", "list"
# An action's id in braces, which `keyed` replaces by its key.
PLACEHOLDER = re.compile(r"\{([a-z]+\.[a-z_]+)\}")
# The palette's title of an action, where its id would not be understood.
TITLES = {
    "app.memories": "go to: memories",
    "app.inbox": "go to: inbox",
    "app.activity": "go to: activity",
    "app.setup": "go to: setup",
    "app.note": "activity: write a note",
    "app.undo": "changes: undo",
    "app.redo": "changes: redo",
    "app.changes": "changes: list",
    "app.palette": "memtui: find an action",
    "app.help": "memtui: keys",
    "app.copy": "memtui: copy",
    "app.refresh": "memtui: read again",
    "app.theme": "memtui: next theme",
    "app.tour": "memtui: the tour",
    "app.quit": "memtui: quit",
    "list.filter": "list: filter",
    "list.mark_all": "list: mark all like this",
    "list.range": "list: mark a range",
    "list.attention": "list: what needs attention",
    "list.project": "list: this project, or all",
    "list.next": "list: read the next",
    "list.previous": "list: read the previous",
    "list.open": "list: read, whole screen",
    "memories.editor": "memories: edit in your editor",
    "memories.remove": "memories: to the trash",
    "memories.recall": "memories: recall, try a prompt",
    "memories.pin": "memories: pin or unpin",
    "memories.purge": "memories: delete for good",
    "memories.restore": "memories: open the trash",
    "memories.retype": "memories: type",
    "memories.import": "memories: import memories…",
    "memories.export": "memories: export this scope…",
    "memories.history": "memories: versions, restore one",
    "memories.follow": "memories: follow a link",
    "memories.sort": "memories: next order",
    "memories.left": "memories: pane to the left",
    "memories.right": "memories: pane to the right",
    "inbox.history": "inbox: versions of a changed memory",
    "inbox.later": "inbox: hide until …",
    "inbox.note": "inbox: turn into a note",
    "inbox.follow": "inbox: to the memory",
    "inbox.backfill": "inbox: past sessions",
    "activity.again": "activity: send a note again",
    "activity.fold": "activity: fold the session",
    "activity.unfold": "activity: unfold the session, or read",
    "setup.accept": "setup: fix, or install hooks",
    "setup.edit": "setup: change",
    "setup.remove": "setup: reset, or remove hooks",
}


# Where the help lists an action's key; the others do something.
_SECTIONS = {
    **dict.fromkeys(("app.memories", "app.inbox", "app.activity", "app.setup", "list.next", "list.previous"), "Move"),
    **dict.fromkeys(("memories.left", "memories.right", "activity.fold", "activity.unfold", "list.open"), "Move"),
    **dict.fromkeys(("list.filter", "list.mark", "list.mark_all", "list.range", "list.attention"), "Choose"),
    **dict.fromkeys(("list.project", "memories.sort"), "Choose"),
    **dict.fromkeys(("app.note", "app.copy"), "Do"),
}


@dataclass(frozen=True)
class Action:
    """An action: `id` is `group.verb`; `keys` as Textual writes them, comma-separated, empty for one that only the
    palette has; `footer` the short word in the
    footer, empty for none; `help` a sentence; `writes` whether `--read-only` forbids it; `listed` whether it acts on
    the list, so that it is off while one thing is read in the list's place; `title` its name in the palette, where that
    is neither in TITLES nor the id."""

    id: str
    keys: str
    footer: str
    help: str
    writes: bool = False
    listed: bool = False
    title: str = ""

    @property
    def group(self) -> str:
        """Return the screen it belongs to, or `app`."""
        return self.id.partition(".")[0]

    @property
    def section(self) -> str:
        """Return the group of the help in which its key stands: Move, Choose, Do or All."""
        return _SECTIONS.get(self.id) or ("All" if self.group == GLOBAL else "Do")

    @property
    def verb(self) -> str:
        """Return the second part of the id, with blanks for underscores."""
        return self.id.partition(".")[2].replace("_", " ")

    @property
    def name(self) -> str:
        """Return its title in the palette, such as `group: verb`."""
        return self.title or TITLES.get(self.id) or f"{self.group}: {self.verb}"


ACTIONS: tuple[Action, ...] = (
    Action("app.memories", "1", "", "Memories: what the agent remembers"),
    Action("app.inbox", "2", "", "Inbox: what waits for your decision"),
    Action("app.activity", "3", "", "Activity: notes that wait, what sessions got, whether it arrived"),
    Action("app.setup", "4", "", "Setup: problems, hooks, the mode, the model, settings"),
    Action("app.note", "c", "note", "Write a note, from any screen; on a session: to it", writes=True),
    Action("app.undo", "z", "undo", "Undo the last change", writes=True),
    Action("app.redo", "Z", "", "Redo what was undone last", writes=True),
    Action("app.changes", "U", "", "All changes: which, when, by whom; undo any of them"),
    Action("app.palette", "ctrl+p", "", "Find an action by name"),
    Action("app.help", "question_mark", "help", "All keys of this screen"),
    Action("app.copy", "y", "", "Copy what is shown to the clipboard"),
    Action("app.refresh", "", "", "Read everything again"),
    Action("app.theme", "", "", "The next theme"),
    Action("app.tour", "", "", "The tour: three things that you do"),
    Action("app.quit", "q,ctrl+q", "quit", "Quit memtui"),
    Action("list.filter", "slash", "filter", "Find words, and such as type:, scope:, is:problem, project:, session:"),
    Action("list.mark", "space", "mark", "Mark it; most actions work on all marked ones", listed=True),
    Action("list.mark_all", "A", "all like this", "Mark all like this that need no look, or none", listed=True),
    Action("list.range", "v", "", "Mark a range: once at its start, once at its end", listed=True),
    Action("list.attention", "exclamation_mark", "problems", "Show only what needs attention, or all", listed=True),
    Action("list.project", "p", "project", "This project only, or all", listed=True),
    Action("list.next", "J", "next", "The next one, also while one is read"),
    Action("list.previous", "K", "previous", "The previous one"),
    Action("list.open", "", "", "Read it over the whole screen"),
    Action("memories.edit", "e", "edit", "Edit its fields and text", writes=True),
    Action("memories.editor", "E", "", "Edit the file in $VISUAL or $EDITOR", writes=True),
    Action("memories.new", "n", "new", "Create a memory", writes=True),
    Action(
        "memories.remove",
        "x",
        "trash",
        "Move it to the trash",
        writes=True,
    ),
    Action("memories.purge", "", "", "Delete it for good", writes=True),
    Action("memories.restore", "", "", "The trash: restore, or delete for good", writes=True),
    Action("memories.recall", "r", "prompt", "Recall: type a prompt, and see which memories it would bring, and why"),
    Action("memories.retype", "t", "type", "Change its type", writes=True),
    Action("memories.pin", "P", "", "Pin it, so that recall counts it more, or unpin it", writes=True),
    Action("memories.move", "m", "move", "Move it to another scope", writes=True),
    Action("memories.copy", "", "", "Copy it to another scope", writes=True),
    Action("memories.history", "H", "", "Its versions: who wrote each and what it changed; restore one"),
    Action("memories.follow", "f", "follow", "To a memory that it links to, or that links to it; escape comes back"),
    Action("memories.sort", "s", "sort", "Sort by the next column", listed=True),
    Action("memories.left", "h,left", "", "One pane to the left, or where it has no room: choose a scope; there, fold"),
    Action("memories.right", "l,right", "", "One pane to the right; in the scopes, unfold"),
    Action("memories.import", "", "", "Import memories from a file or folder, as drafts", writes=True),
    Action("memories.export", "", "", "Export the memories of this scope to a folder", writes=True),
    Action("memories.trust", "a", "trust", "Trust a memory that came with the repository, or all", writes=True),
    Action("inbox.accept", "a", "accept", "Accept (the command: approve): do what is shown", writes=True),
    Action("inbox.edit", "e", "edit", "Edit it first, then it is accepted", writes=True),
    Action("inbox.reject", "x", "reject", "Reject it; again on its grey row: never draft it again", writes=True),
    Action("inbox.later", "w", "later", "Hide it until tomorrow, next week or a date", writes=True),
    Action("inbox.merge", "m", "merge", "Append a draft to an existing memory", writes=True),
    Action("inbox.history", "H", "versions", "The versions of a memory that others changed; restore one"),
    Action("inbox.follow", "f", "go to it", "To the memory that it is about"),
    Action("inbox.note", "", "", "Turn a draft or a todo into a note for the next prompt", writes=True),
    Action("inbox.backfill", "", "", "Read past sessions for drafts", writes=True),
    Action("activity.edit", "e", "edit", "Change a note that waits: text, for whom, until when", writes=True),
    Action("activity.withdraw", "x", "withdraw", "Withdraw a note before it is sent", writes=True),
    Action(
        "activity.again", "a", "send again", "Send a note again in a form; an expired or held one at once", writes=True
    ),
    Action("activity.plots", "P", "plots", "Plots: deliveries a day, receipts, hook time"),
    Action("activity.fold", "h,left", "fold", "Fold the session; back to the list"),
    Action("activity.unfold", "l,right", "unfold", "Unfold the session; else read the row"),
    Action("setup.accept", "a", "fix", "Do what is shown: fix it, install the hooks", writes=True),
    Action("setup.edit", "e", "change", "Change a setting", writes=True),
    Action("setup.remove", "x", "reset", "Reset a setting to its default; of the hooks: remove them", writes=True),
)


_BY_ID = {action.id: action for action in ACTIONS}


def of(group: str) -> tuple[Action, ...]:
    """Return the actions of one group."""
    return tuple(action for action in ACTIONS if action.group == group)


def offered(group: str = "", *, read_only: bool) -> tuple[Action, ...]:
    """Return the actions of one group, or all, without those that write if nothing may be written."""
    return tuple(each for each in ACTIONS if group in {"", each.group} and not (each.writes and read_only))


def get(action_id: str) -> Action:
    """Return an action by its id. Raises KeyError."""
    return _BY_ID[action_id]


def on_screen(group: str, verb: str) -> Action:
    """Return an action of a screen by its verb: its own, else that of all lists. Raises KeyError."""
    return _BY_ID.get(f"{group}.{verb}") or _BY_ID[f"{LIST}.{verb}"]


def defaults() -> dict[str, str]:
    """Map each action's id to its keys before any remapping."""
    return {action.id: action.keys for action in ACTIONS}


def keys_of(action: Action, remapped: Mapping[str, str]) -> str:
    """Return the keys of an action: the remapped ones, or its own."""
    return remapped.get(action.id, action.keys)


_remapped: dict[str, str] = {}


def use(remapped: Mapping[str, str]) -> None:
    """Name the keys of this key map in texts from now on. The application calls it when it starts."""
    _remapped.clear()
    _remapped.update(remapped)


def key_of(action_id: str) -> str:
    """Return the first key of an action as a text names it; of one without a key, how to find it in the palette."""
    keys = keys_of(get(action_id), _remapped)
    return key_word(keys) if keys else f"{key_of('app.palette')} “{get(action_id).name}”"


def takes_back() -> str:
    """Return the sentence that names the key of undo after a change."""
    return f"{key_of('app.undo')} undoes."


def keyed(text: str, *, read_only: bool = False) -> str:
    """Put keys into a text of ours, in the place of ids in braces: `{app.undo} undoes it`. With `read_only` lines that
    name an action that writes are left out."""
    if read_only:
        lines = text.split("\n")
        text = "\n".join(line for line in lines if not any(get(each).writes for each in PLACEHOLDER.findall(line)))
    return PLACEHOLDER.sub(lambda found: key_of(found[1]), text)


KEY_WORDS = {
    "question_mark": "?",
    "slash": "/",
    "exclamation_mark": "!",
    "equals_sign": "=",
    "less_than_sign": "<",
    "greater_than_sign": ">",
}


def key_word(keys: str) -> str:
    """Write the first of some comma-separated keys as a person reads it: `?`, `^p`, `space`."""
    first = keys.partition(",")[0]
    if first in KEY_WORDS:
        return KEY_WORDS[first]
    return "^" + first[5:] if first.startswith("ctrl+") else first
