"""Why no session would be told what a person leaves, and which keys change that."""

from typing import TYPE_CHECKING

from memtui.core import guide
from memtui.tui import actions

if TYPE_CHECKING:
    from memtui.tui.data import Data

DO = {"hooks": ("health.install", "installs them"), "off": ("health.edit", "changes it"), "whisper": ("", "")}


def words(data: "Data", *, memories: bool = False) -> str:
    """Empty where sessions are told. Else as `no hooks are installed (5, then i installs them)`."""
    found = guide.unheard(data.setting("mode"), data.facts.hooks, memories=memories)
    if not found:
        return ""
    action, verb = DO[found] if DO[found][0] else DO["off"]
    screen, key = map(actions.key_of, ("app.health", action))
    where = " on mode" if action == "health.edit" else ""
    return f"{guide.UNHEARD[found][0]} ({screen}, then {key}{where} {verb})"
