"""The palette: every action with its key, those of the screen on top first, and the themes, found by what is typed."""

import re
from typing import TYPE_CHECKING, Any

from rich.text import Text

from memtui import actions
from memtui.settings import config
from memtui.tui.dialogs.ask import Choice

if TYPE_CHECKING:
    from memtui.tui.screens.list_screen import ListScreen
    from memtui.tui.services import Services

THEME = "theme: "
NAME_WIDTH, KEY_WIDTH = 33, 7
# The action that opens the palette; and the words by which a help adds something to a name.
OWN, WORD = "app.palette", re.compile(r"\w{4,}")


async def show(services: "Services", screen: "ListScreen[Any]") -> None:
    """Let an action or a theme be chosen, and run it on `screen`."""
    possible = _possible(services, screen)
    options = [(action.id, f"{action.name:<{NAME_WIDTH}}") for action in possible]
    options += [(f"{THEME}{theme}", f"{THEME}{theme}") for theme in config.CHOICES["theme"]]
    beside = {action.id: _about(action, services.remapped) for action in possible}
    answer = await services.ask(Choice("Actions and themes", options, beside=beside, verb="run"))
    if answer and answer.startswith(THEME):
        services.choose_theme(answer.removeprefix(THEME))
    elif answer:
        services.action_run(answer)


def _possible(services: "Services", screen: "ListScreen[Any]") -> list[actions.Action]:
    """Return the actions that can be run: those of the screen, then those that work everywhere, then the others."""
    order, own = {screen.group: 0, actions.LIST: 1, actions.GLOBAL: 2}, screen.commands
    offered = actions.offered(read_only=services.read_only)
    possible = [action for action in offered if action.id in own or action.group != actions.LIST]
    possible = [own[action.id].named(action) if action.id in own else action for action in possible if action.id != OWN]
    groups = [action.name.partition(": ")[0] for action in possible]
    return sorted(
        possible,
        key=lambda action: (order.get(action.group, len(order)), groups.index(action.name.partition(": ")[0])),
    )


def _about(action: actions.Action, remapped: dict[str, str]) -> Text:
    """Return the key of an action, and what its help adds to its name."""
    name = action.name.partition(": ")[2].rstrip("…")
    rest = re.sub(rf"^{re.escape(name)}\b[ ,:;]*", "", action.help, flags=re.IGNORECASE)
    adds = {*WORD.findall(rest.casefold())} - {*WORD.findall(name.casefold())}
    key = actions.key_word(actions.keys_of(action, remapped))
    return Text(f"{key:<{KEY_WIDTH}}", "bold").append(rest[:1].upper() + rest[1:] if adds else "", "not bold dim")
