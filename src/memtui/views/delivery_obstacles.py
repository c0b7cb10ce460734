"""Words for why no session would get what a person leaves (a code of `Workspace.unheard`), and what to do."""

from typing import NamedTuple

from memtui import actions


class Unheard(NamedTuple):
    """Why no session gets anything, a command for it, an action of Setup with its row, and its aim."""

    why: str
    do: str
    action: str
    row: str
    aim: str


MODE = "memtui config set mode full --project ."
REASONS = {
    "hooks": Unheard("no hooks are installed", "memtui setup hooks", "setup.approve", "", "install them"),
    "unreadable": Unheard(
        "no hooks are found, and Claude Code skips a settings file", "memtui setup", "", "", "see which file"
    ),
    "disabled": Unheard("Claude Code runs no hooks here", "memtui setup", "", "", "see which file says so"),
    "off": Unheard("the mode is off here", MODE, "setup.edit", " on mode", "change it"),
    "notes": Unheard("mode notes delivers no memories", MODE, "setup.edit", " on mode", "change it"),
    "auto": Unheard("Claude Code's own memory is off here", "memtui doctor", "", "", "see what does"),
}


def data(code: str) -> dict[str, str] | None:
    """Return the reason and the command for --json; None for no code."""
    return {"why": REASONS[code].why, "do": REASONS[code].do} if code else None


def at_prompt(code: str) -> str:
    """Return why nothing was delivered, with a command; without a code that the next prompt brings what waits."""
    if not code:
        return "The hooks are installed: the next session or prompt gets what waits."
    return f"{REASONS[code].why[:1].upper()}{REASONS[code].why[1:]}: {REASONS[code].do}"


def before(code: str, keys: str) -> str:
    """Give the reason and what cures it before the `keys` of an empty list; `{once}` is when a note can arrive."""
    if not code:
        return keys.replace("{once}", "")
    unheard = REASONS[code]
    then = f", then {{{unheard.action}}}{unheard.row}" if unheard.action else ""
    cure = f"Sessions get nothing yet: {unheard.why}.\nPress {{app.setup}}{then} to {unheard.aim}."
    return f"{cure}\n\n{keys.replace('{once}', ' once hooks are installed' * (code == 'hooks'))}"


def keyed(code: str, *, read_only: bool = False) -> str:
    """Give the reason with keys of the TUI: `no hooks are installed (press 4, then a to install them)`."""
    if not code:
        return ""
    unheard = REASONS[code]
    if read_only and unheard.action:
        return unheard.why
    then = f", then {actions.key_of(unheard.action)}{unheard.row}" if unheard.action else ""
    return f"{unheard.why} (press {actions.key_of('app.setup')}{then} to {unheard.aim})"
