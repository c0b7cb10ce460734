"""The table of the TUI's actions: keys, footer, help, palette and the key map are all made from it.

The action `memories.edit` runs the command of that id on its screen (tui/services.py); where the command's `why_not`
gives a reason, that is shown instead. Keys are remapped by id in config.toml: `[keys] "memories.edit" = "E"`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

GLOBAL, LIST = "app", "list"
# An action's id in braces, which `keyed` replaces by its key.
PLACEHOLDER = re.compile(r"\{([a-z]+\.[a-z_]+)\}")
SECTIONS = {"M": "Move", "C": "Choose", "D": "Do", "A": "All"}  # of the help, by the first letter of the marks
# One line an action: id | keys | footer | marks | title in the palette, where it is not the verb | help. Marks: the
# section, `w` if it writes, `l` if it acts on the list, `r` if it changes the row under the cursor.
_TABLE = """\
app.memories | 1 | | M | go to: memories | Memories: what the agent remembers
app.inbox | 2 | | M | go to: inbox | Inbox: what waits for your decision
app.activity | 3 | | M | go to: activity | Activity: notes that wait, what sessions got
app.setup | 4 | | M | go to: setup | Setup: problems, hooks, model, settings
app.note | c | note | Dw | memtui: write a note | Write a note: to a session, or the next prompt
app.undo | z | undo | Aw | changes: undo | Undo the last change
app.redo | Z | | Aw | changes: redo | Redo what was undone last
app.changes | U | | A | changes: list | All changes; undo any of them
app.palette | ctrl+p | | A | memtui: find an action | Find an action by name
app.help | question_mark | keys | A | memtui: keys | All keys of this screen
app.copy | y | | D | memtui: copy text | Copy what is shown to the clipboard
app.refresh | | | A | memtui: reload the files | Read all again from the disk
app.tour | | | A | memtui: the tour | The tour: three things that you do
app.quit | q,ctrl+q | quit | A | memtui: quit | Leave memtui
list.filter | slash | filter | C | | Filter: words, and terms of each place
list.mark | space | mark | Cl | | Mark several, to act on all of them
list.mark_all | A | all like this | Cl | mark all like this | Mark all like this that need no look
list.range | v | | Cl | mark a range | Mark a range: at its start and its end
list.attention | exclamation_mark | problems | Cl | problems | Show only what needs attention
list.project | p | project | Cl | this project, or all | This project, or all: whose rows you see
list.left | h,left | | M | left pane, or fold | Go left, or close the fold
list.right | l,right | | M | right pane, or unfold | Go right, or open the fold
list.next | J | | M | read the next | The next one, also while you read
list.previous | K | | M | read the previous | The previous one in the list
memories.edit | e | edit | Dwr | | Edit its fields and text
memories.editor | E | | Dwr | edit in your editor | Edit the file in $VISUAL or $EDITOR
memories.new | n | new | Dw | | Create a memory
memories.restore | | | Dw | open the trash | Open the trash, and restore from it
memories.remove | x | remove | Dwr | remove this memory | Move it to the trash
memories.purge | | | Dwr | delete for good | Delete for good: no undo brings it back
memories.recall | r | prompt | D | try a prompt | Try a prompt: what it brings and why; mute one
memories.retype | t | type | Dwr | type | Change its type
memories.pin | P | | Dwr | pin or unpin | Pin or unpin: sessions begin with a pinned one
memories.move | m | move | Dwr | | Move to another scope
memories.history | H | | D | versions, restore one | See who changed what, and restore
memories.follow | f | follow | D | follow a link | Follow a link: to or from it; escape comes back
memories.sort | s | sort | Cl | sort | Sort by the next column
memories.import | | | Dw | import memories… | Import memories from a file or folder, as drafts
memories.export | | | Dwr | export this scope… | Export this scope: to a folder
inbox.approve | a | approve | Dwr | | Approve: do what is shown
inbox.edit | e | edit | Dwr | | Edit, then approve it
inbox.reject | x | reject | Dwr | | Reject; on the grey row: never again
inbox.later | w | later | Dwr | | Hide it for a day, three or a week
inbox.merge | m | merge | Dwr | | Merge a draft into a memory
inbox.history | H | versions | D | versions | Versions of the memory; restore one
inbox.follow | f | go to it | D | to the memory | To the memory that it is about
inbox.backfill | | | Dw | past sessions | Read past sessions for drafts
activity.edit | e | edit | Dwr | | Edit a note that waits
activity.withdraw | x | withdraw | Dwr | | Withdraw a note before it is sent
activity.again | a | send again | Dwr | send a note again | Send a note again: in a form; expired or held: at once
activity.plots | P | plots | D | | Plots: deliveries, receipts, hook time
setup.approve | a | fix | Dwr | fix, change, add hooks | Fix, install hooks, open a setting
setup.edit | e | change | Dwr | change | Change a setting
setup.remove | x | reset | Dwr | reset, or remove hooks | Reset a setting, or remove hooks
"""


@dataclass(frozen=True)
class Action:
    """An action of the TUI, run by the command of its id, which is `group.verb`."""

    id: str
    keys: str  # as Textual writes them, by commas; empty for the palette's alone
    footer: str  # a short word; empty for none
    section: str  # the group of the help
    name: str  # in the palette: `group: verb`
    help: str  # a sentence
    writes: bool = False  # `--read-only` forbids it
    listed: bool = False  # it acts on the list, and is off while a detail covers that
    of_row: bool = False  # it changes the row under the cursor

    @property
    def group(self) -> str:
        return self.id.partition(".")[0]

    @property
    def verb(self) -> str:
        return self.id.partition(".")[2]


def _read(line: str) -> Action:
    action_id, keys, footer, marks, title, about = (part.strip() for part in line.split("|"))
    group, _, verb = action_id.partition(".")
    name = title if ":" in title else f"{group}: {title or verb.replace('_', ' ')}"
    return Action(action_id, keys, footer, SECTIONS[marks[0]], name, about, *(mark in marks for mark in "wlr"))


ACTIONS = tuple(map(_read, _TABLE.splitlines()))
_BY_ID = {action.id: action for action in ACTIONS}


def of(group: str) -> tuple[Action, ...]:
    return tuple(action for action in ACTIONS if action.group == group)


def offered(group: str = "", *, read_only: bool) -> tuple[Action, ...]:
    """Return the actions of one group, or all, without those that write if nothing may be written."""
    return tuple(command for command in ACTIONS if group in {"", command.group} and not (command.writes and read_only))


def get(action_id: str) -> Action:
    return _BY_ID[action_id]


def on_screen(group: str, verb: str) -> Action:
    """Return an action of a screen by its verb: its own, else that of all lists. Raises KeyError."""
    return _BY_ID.get(f"{group}.{verb}") or _BY_ID[f"{LIST}.{verb}"]


def defaults() -> dict[str, str]:
    """Map each action's id to its keys before any remapping."""
    return {action.id: action.keys for action in ACTIONS}


_remapped: dict[str, str] = {}


def use(remapped: Mapping[str, str]) -> None:
    """Name the keys of this key map in texts from now on. The application calls it when it starts."""
    _remapped.clear()
    _remapped.update(remapped)


def keys_of(action: Action) -> str:
    return _remapped.get(action.id, action.keys)


def key_of(action_id: str) -> str:
    """Return the first key of an action as a text names it; of one without a key, how to find it in the palette."""
    keys = keys_of(get(action_id))
    return key_word(keys) if keys else f"{key_of('app.palette')} “{get(action_id).name}”"


def takes_back() -> str:
    """Return the sentence that names the key of undo after a change."""
    return f"{key_of('app.undo')} undoes."


def keyed(text: str, *, read_only: bool = False) -> str:
    """Put keys in the place of ids in braces; with `read_only` leave out lines of actions that write."""
    if read_only:
        lines = text.split("\n")
        text = "\n".join(line for line in lines if not any(get(name).writes for name in PLACEHOLDER.findall(line)))
    return PLACEHOLDER.sub(lambda match: key_of(match[1]), text)


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
