"""The first start: the hooks are offered, then a first note, then the screen that shows whether it arrived. Where there
are earlier sessions, reading these for drafts is offered once, whatever was answered, or installed before."""

import os
from typing import TYPE_CHECKING

from memtui import actions
from memtui.present import hooks as hook_words
from memtui.tui.dialogs import backfill
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.dialogs.guidance_subject import GuidanceSubject, blank
from memtui.tui.hooks_offer import change_hooks
from memtui.tui.model.remembered import State

if TYPE_CHECKING:
    from memtui.tui.services import Services

# The table of the remembered state that says that the person has answered the offer of the hooks.
TABLE = "offer"
EXAMPLE = "I am trying memtui. Begin your next answer with the words “memtui works”."
NOTICE = "The hooks are installed. Now send Claude a note: enter sends this one, or type your own, then ^s."
NO_HOOKS = "No hooks were installed. To install them later: {app.setup}, then {setup.accept}."
NO_NOTE = "{app.note} writes a note at any time."


def is_due(services: "Services") -> bool:
    """Return whether there is something to offer that no earlier start has offered."""
    return _is_first(services) or backfill.is_due(services)


def _is_first(services: "Services") -> bool:
    """Return whether this is a first start: no hooks are or were ever installed, and no offer was answered."""
    root = services.data.root
    if services.read_only or services.data.facts.hooks:
        return False
    ran = any(os.path.exists(f"{root}/{name}") for name in ("log", "installs.json"))
    return not ran and not State(root).get(TABLE).get("done")


async def begin(services: "Services") -> None:
    """Offer the hooks and a first note at a first start, then reading earlier sessions."""
    if _is_first(services):
        await _begin(services)
    if backfill.is_due(services):
        await backfill.begin(services)


async def _begin(services: "Services") -> None:
    """Offer the hooks. Where they are installed now, open the form with a first note, then show what becomes of it."""
    data = services.data
    installed = await change_hooks(services, "install", offer=True)
    State(data.root).put(TABLE, {"done": True})
    if not installed:
        services.say(actions.keyed(NO_HOOKS))
        return
    held = data.not_served()
    notice = " ".join(["The hooks are installed, but:", *hook_words.outcome(held)]) if held else NOTICE
    subject = GuidanceSubject(data, blank(data, EXAMPLE), notice=notice)
    if await services.ask(DraftForm(subject, services)) is None:
        services.say(actions.keyed(NO_NOTE))
        return
    services.go("activity")
    services.read()
