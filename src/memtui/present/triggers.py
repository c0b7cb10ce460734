"""How both user interfaces say where a trigger comes from."""

from memtui.core.base.phrasing import age
from memtui.core.memories.triggers import Trigger

ORIGINS = {
    "file": "in its file",
    "person": "yours",
    "draft": "asked when you corrected",
    "use": "asked before it was opened",
    "model": "by the model",
}


def origin(trigger: Trigger, now: float) -> str:
    """Say where a trigger comes from and how old it is: `yours · 3d`, `asked before it was opened · 2× · 1d`."""
    times = f"{round(trigger.uses)}×" if trigger.origin == "use" and trigger.uses >= 1.5 else ""
    old = age(trigger.time, now) if trigger.time else ""
    return " · ".join(filter(None, [ORIGINS[trigger.origin], times, old]))
