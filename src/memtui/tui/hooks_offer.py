"""The hooks in Claude Code's settings: installed or removed once the person has seen the diff."""

from typing import TYPE_CHECKING

from memtui import actions
from memtui.hooks.installer import install
from memtui.present import hooks as hook_words
from memtui.tui.dialogs.plan import PlanScreen

if TYPE_CHECKING:
    from memtui.tui.services import Services


async def change_hooks(services: "Services", action: install.Action, *, offer: bool = False) -> bool:
    """Show what would be written and where; write what the person chooses. Return whether they chose a file. `offer`:
    nobody asked for it, and who called says what was done."""
    data = services.data
    plan = await services.ask(PlanScreen(action, data.env, data.cwd, offer=offer))
    if plan is None:
        return False
    install.apply(plan, by="tui", now=data.now)
    if not offer:
        words = hook_words.done(plan)
        more = hook_words.outcome(data.not_served()) if action == "install" else []
        services.say(" ".join([f"{words[:1].upper()}{words[1:]}.", *more, actions.takes_back()]))
    services.read()
    return True
