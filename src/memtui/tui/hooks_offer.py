"""The hooks, installed or removed once the diff was seen; a first start offers them, a note, past sessions."""

import os
from typing import TYPE_CHECKING

from rich.text import Text

from memtui import actions
from memtui.base.errors import MemtuiError
from memtui.hooks.install import installation as install
from memtui.tui.dialogs import backfill
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.dialogs.guidance_subject import GuidanceSubject, blank
from memtui.tui.model.remembered import State
from memtui.views import safe_text
from memtui.views import setup as setup_words

if TYPE_CHECKING:
    from memtui.tui.services import Services

WHOSE = {"user": "all projects", "local": "this project, you alone", "project": "this project, everyone"}
COLOURS = {"+": "green", "-": "red", "@": "dim"}
WELCOME = (
    "memtui is not connected to Claude Code yet. Its hooks give your sessions your memories and notes, and record what"
    " arrived. enter adds the lines below to the file under the cursor. Before that, nothing is written."
)
EXPLAINED = """\
The hooks run on this machine. They open no network connection and call no
model. If one fails or is late, your prompt goes on without it.
memtui setup hooks --remove restores the settings file byte for byte; if the
file was changed meanwhile, only memtui's lines are removed."""

# The table of the remembered state that says that the person has answered the offer of the hooks.
TABLE = "offer"
EXAMPLE = "I am trying memtui. Begin your next answer with the words “memtui works”."
NOTICE = "The hooks are installed. Now send Claude a note: enter sends this one, or type your own, then ^s."
NO_HOOKS = "No hooks were installed. To install them later: {app.setup}, then {setup.approve}."
NO_NOTE = "{app.note} writes a note at any time."

PlanOrError = install.SettingsPlan | MemtuiError


async def change_hooks(services: "Services", action: install.Action, *, offer: bool = False) -> bool:
    """Show and write what the person chooses; return whether they did. `offer`: nobody asked for it."""
    data = services.data
    plans = {scope: _plan(services, action, scope) for scope in WHOSE}
    if action != "install":
        plans = {scope: plan for scope, plan in plans.items() if isinstance(plan, MemtuiError) or plan.changed}
    ways = [(scope, f"{WHOSE[scope]:<24} {_place(services, plan)}") for scope, plan in plans.items()]
    idle = "Nothing is written." if plans else "No settings file has hooks of memtui's."
    question = Choice(
        "Install the hooks" if action == "install" else "Remove the hooks",
        [*ways, ("", "Not now" if offer else "Cancel")],
        start=next(iter(plans), ""),
        about=lambda scope: _drawn(plans[scope]) if scope else Text(idle),
        lead=WELCOME if offer else "",
        marks=EXPLAINED,
        verb="install" if action == "install" else "remove",
        fixed=True,
    )
    scope = await services.ask(question)
    plan = plans[scope] if scope else None
    if isinstance(plan, MemtuiError):
        raise plan
    if plan is None or not plan.changed:
        return False
    install.apply(plan, by="tui", now=data.now)
    if not offer:
        lines = setup_words.outcome(data.not_served()) if action == "install" else []
        sentence = "Hooks installed." if action == "install" else "Hooks removed."
        services.say(" ".join([sentence, *lines, actions.takes_back()]))
    services.read()
    return True


def _plan(services: "Services", action: install.Action, scope: str) -> PlanOrError:
    env, cwd = services.data.env, services.data.cwd
    try:
        return install.plan(install.settings_path(env, cwd, scope), action, env=env, scope=scope)
    except MemtuiError as error:
        return error


def _place(services: "Services", plan: PlanOrError) -> str:
    if isinstance(plan, MemtuiError):
        return "can't be done"
    top = install.working_tree(services.data.cwd).rstrip("/") + "/"
    return services.data.tilde(plan.settings_path).removeprefix(top)


def _drawn(plan: PlanOrError) -> Text:
    text = Text()
    if isinstance(plan, MemtuiError):
        return text.append(safe_text.clean(f"{plan.message}\n{plan.hint}"), style="yellow")
    if not plan.changed:
        return text.append("The hooks are in this file already: nothing to change.")
    for heading, events in setup_words.effects(plan):
        text.append(f"{heading}\n", "bold")
        for event in events:
            text.append(f"  {event:<16}  ", "dim").append(f"{setup_words.DOES[event]}\n")
    text.append("\nThe exact change of the file\n", "bold")
    for line in plan.diff.splitlines():
        text.append(safe_text.line(line) + "\n", style=COLOURS.get(line[:1], ""))
    for note in setup_words.notes(plan):
        text.append(f"note: {safe_text.clean(note)}\n", style="yellow")
    if pasted := setup_words.to_paste(plan):
        text.append(safe_text.clean(pasted) + "\n")
    return text


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
        await _offer(services)
    if backfill.is_due(services):
        await backfill.begin(services)


async def _offer(services: "Services") -> None:
    """Offer the hooks. Where they are installed now, open the form with a first note, then show what becomes of it."""
    data = services.data
    installed = await change_hooks(services, "install", offer=True)
    State(data.root).put(TABLE, {"done": True})
    if not installed:
        services.say(actions.keyed(NO_HOOKS))
        return
    findings = data.not_served()
    notice = " ".join(["The hooks are installed, but:", *setup_words.outcome(findings)]) if findings else NOTICE
    if await services.ask(DraftForm(GuidanceSubject(data, blank(data, EXAMPLE), notice=notice), services)) is None:
        services.say(actions.keyed(NO_NOTE))
        return
    services.go("activity")
    services.read()
