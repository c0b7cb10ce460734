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
    """Read a line of keymap.txt."""
    action_id, keys, footer, marks, title, about = (part.strip() for part in line.split("|"))
    group, _, verb = action_id.partition(".")
    name = title if ":" in title else f"{group}: {title or verb.replace('_', ' ')}"
    return Action(action_id, keys, footer, SECTIONS[marks[0]], name, about, *(mark in marks for mark in "wlr"))


with open(__file__.removesuffix("py") + "txt", encoding="utf-8") as _table:
    ACTIONS = tuple(_read(line) for line in _table if not line.startswith("#"))
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
