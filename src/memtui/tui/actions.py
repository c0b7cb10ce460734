"""Every action of the TUI in one table: keys, footer, help, palette and the key map are all made from it.

An action `memories.edit` on a screen runs the screen's method `do_memories_edit`; the screen's `why_not` may say why it
can't be done now, which is then told instead. Keys are remapped by id in config.toml: `[keys] "memories.edit" = "E"`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the command line knows the actions too, and has no textual
    from textual.binding import Binding

GLOBAL = "app"


@dataclass(frozen=True)
class Action:
    """`id` is `group.verb`; `keys` as textual writes them, comma-separated; `footer` is the short word in the footer,
    empty for none; `help` a sentence; `writes` whether `--read-only` forbids it; `words` how the palette names it where
    its id would not do."""

    id: str
    keys: str
    footer: str
    help: str
    writes: bool = False
    words: str = ""

    @property
    def group(self) -> str:
        """The screen it belongs to, or `app`."""
        return self.id.partition(".")[0]

    @property
    def verb(self) -> str:
        """What it does, in words: the palette shows `group: verb`."""
        return self.id.partition(".")[2].replace("_", " ")

    @property
    def name(self) -> str:
        """`group: verb`, as the palette names it."""
        return self.words or f"{self.group}: {self.verb}"

    @property
    def method(self) -> str:
        """The name of the method that does it."""
        return "do_" + self.id.replace(".", "_")


ACTIONS: tuple[Action, ...] = (
    Action("app.memories", "1", "", "Memories: what the agent remembers"),
    Action("app.inbox", "2", "", "Inbox: what wants your decision"),
    Action("app.guidance", "3", "", "Guidance: what the agent will be told"),
    Action("app.deliveries", "4", "", "Deliveries: what it was told, and whether it arrived"),
    Action("app.health", "5", "", "Health: hooks, findings, budgets, settings"),
    Action("app.settings", "comma", "", "Settings: of memtui, and the mode of each project", words="health: settings"),
    Action("app.guide", "g", "guide", "Leave guidance, from anywhere", writes=True),
    Action("app.undo", "z", "undo", "Take back the last change", writes=True),
    Action("app.redo", "Z", "", "Do again what was taken back last", writes=True),
    Action("app.changes", "U", "", "All changes: which, when, by whom; take back any of them"),
    Action("app.palette", "ctrl+p", "", "Find an action by name"),
    Action("app.help", "question_mark", "help", "All keys of this screen"),
    Action("app.next_pane", "tab", "", "The next pane"),
    Action("app.previous_pane", "shift+tab", "", "The previous pane"),
    Action("app.copy", "y", "", "Copy what is shown to the clipboard"),
    Action("app.refresh", "ctrl+r", "", "Read everything again"),
    Action("app.theme", "ctrl+t", "", "The next theme"),
    Action("app.quit", "q,ctrl+q", "quit", "Leave memtui"),
)


def table() -> tuple[Action, ...]:
    """All actions: the global ones and each screen's."""
    from memtui.tui import screens

    return ACTIONS + screens.ACTIONS


def of(group: str) -> tuple[Action, ...]:
    """The actions of one group."""
    return tuple(action for action in table() if action.group == group)


def get(action_id: str) -> Action:
    """An action by its id. Raises KeyError."""
    for action in table():
        if action.id == action_id:
            return action
    raise KeyError(action_id)


def defaults() -> dict[str, str]:
    """Action id to its keys, where nobody remapped them."""
    return {action.id: action.keys for action in table()}


def keys_of(action: Action, remapped: Mapping[str, str]) -> str:
    """The keys of an action, as the person's key map has them."""
    return remapped.get(action.id, action.keys)


def key_of(action_id: str, remapped: Mapping[str, str]) -> str:
    """The first key of an action as a person reads it."""
    return key_word(keys_of(get(action_id), remapped))


def bindings(group: str, remapped: Mapping[str, str]) -> "list[Binding]":
    """Textual bindings for the actions of a group."""
    from textual.binding import Binding

    return [
        Binding(keys_of(a, remapped), f"run('{a.id}')", a.footer or a.verb, show=False, id=a.id, tooltip=a.help)
        for a in of(group)
    ]


KEY_WORDS = {
    "question_mark": "?",
    "slash": "/",
    "exclamation_mark": "!",
    "space": "space",
    "comma": ",",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "ctrl+": "^",
    "shift+tab": "shift+tab",
}


def key_word(keys: str) -> str:
    """The first of some keys as a person reads it: `?`, `^p`, `space`."""
    first = keys.partition(",")[0]
    if first in KEY_WORDS:
        return KEY_WORDS[first]
    return "^" + first[5:] if first.startswith("ctrl+") else first
