"""The hooks in a settings file: installed or taken out after a look at the diff, and offered on a first start."""

import os
from typing import TYPE_CHECKING

from memtui import actions
from memtui.core.base.errors import MemtuiError
from memtui.hooks.installer import install
from memtui.tui.dialogs.plan import PlanScreen
from memtui.tui.model.remembered import State

if TYPE_CHECKING:
    from memtui.tui.app import MemtuiApp

TABLE = "offer"


def change_hooks(app: "MemtuiApp", action: install.Action, *, offer: bool = False) -> None:
    """Show what would be written and where, ask, and do it."""

    def then(plan: install.Plan | None) -> None:
        if plan is None:
            if offer:
                app.say(actions.keyed("The hooks can be installed at any time: {app.health}, then {health.install}."))
            return
        try:
            install.apply(plan, by="tui", now=app.data.now)
        except MemtuiError as error:
            app.fail(error)
            return
        word = "installed in" if action == "install" else "removed from"
        more = " Sessions started from now on are served." if action == "install" else ""
        app.say(f"Hooks {word} {plan.settings_path}.{more} {actions.takes_back()}")
        app.read()

    app.push_screen(PlanScreen(action, app.data.env, app.data.cwd, offer=offer), then)


def on_first_start(app: "MemtuiApp") -> None:
    """Offer the hooks, once, where none are installed and none ever were."""
    root = app.data.root
    if (
        app.read_only
        or app.data.facts.hooks
        or any(os.path.exists(f"{root}/{name}") for name in ("log", "installs.json"))
    ):
        return
    state = State(root)
    if not state.get(TABLE).get("done"):
        state.put(TABLE, {"done": True})
        change_hooks(app, "install", offer=True)
