"""Why no session would be told what a person leaves, and which keys change that."""

from typing import TYPE_CHECKING

from memtui import actions
from memtui.core.inbox import guidance
from memtui.core.places import loading

if TYPE_CHECKING:
    from memtui.tui.model.data import Data

DO = {
    "hooks": ("health.install", "installs them"),
    "disabled": ("", "names the file that says so"),
    "off": ("health.edit", "changes it"),
    "whisper": ("health.edit", "changes it"),
    "auto": ("", "names what does"),
}


def words(data: "Data", *, memories: bool = False) -> str:
    """Empty where sessions are told. Else as `no hooks are installed (5, then i installs them)`."""
    facts = data.facts
    found = guidance.unheard(data.setting("mode"), facts.hooks, disabled=facts.disabled, memories=memories)
    return _with_remedy(found) if found else ""


def unloaded(data: "Data", label: str) -> str:
    """As `words`, for a memory that is, or will be, in the scope of this label."""
    if label == "auto":
        return _with_remedy("auto") if loading.auto_memory_off(data.env, data.cwd) else ""
    return words(data, memories=True) if loading.loader(label) else ""


def _with_remedy(found: str) -> str:
    action, verb = DO[found]
    screen = actions.key_of("app.health")
    if not action:
        return f"{guidance.UNHEARD[found][0]} ({screen} {verb})"
    where = " on mode" if action == "health.edit" else ""
    return f"{guidance.UNHEARD[found][0]} ({screen}, then {actions.key_of(action)}{where} {verb})"
