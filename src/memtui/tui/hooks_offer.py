"""The hooks in Claude Code's settings: installed or removed after a look at the diff, and offered on a first start."""

import os
from typing import TYPE_CHECKING

from memtui import actions
from memtui.hooks.installer import install
from memtui.present import hooks as hook_words
from memtui.tui.dialogs.plan import PlanScreen
from memtui.tui.model.remembered import State

if TYPE_CHECKING:
    from memtui.tui.services import Services

# The table of the remembered state that says that the hooks were offered.
TABLE = "offer"


async def change_hooks(services: "Services", action: install.Action, *, offer: bool = False) -> None:
    """Show what would be written and where; write what the person chooses. `offer`: nobody asked for it."""
    data = services.data
    plan = await services.ask(PlanScreen(action, data.env, data.cwd, offer=offer))
    if plan is None:
        if offer:
            services.say(actions.keyed("The hooks can be installed at any time: {app.health}, then {health.install}."))
        return
    install.apply(plan, by="tui", now=data.now)
    words = hook_words.done(plan)
    more = f" {hook_words.SERVED}" if action == "install" else ""
    services.say(f"{words[:1].upper()}{words[1:]}.{more} {actions.takes_back()}")
    services.read()


def is_first_start(services: "Services") -> bool:
    """Return whether to offer the hooks, and remember that: it is done once, where none are or ever were installed."""
    root = services.data.root
    if services.read_only or services.data.facts.hooks:
        return False
    state = State(root)
    if any(os.path.exists(f"{root}/{name}") for name in ("log", "installs.json")) or state.get(TABLE).get("done"):
        return False
    state.put(TABLE, {"done": True})
    return True
