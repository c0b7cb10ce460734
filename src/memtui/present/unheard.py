"""Words for why no session would get what a person leaves, and what to do: a command, or keys of the TUI.

The codes are those of `Workspace.unheard`.
"""

from memtui import actions

WHY = {
    "hooks": "no hooks are installed",
    "unreadable": "no hooks are found, and Claude Code skips a settings file",
    "disabled": "Claude Code runs no hooks here",
    "off": "the mode is off here",
    "notes": "mode notes delivers no memories",
    "auto": "Claude Code's own memory is off here",
}
COMMANDS = {
    "hooks": "memtui setup hooks",
    "unreadable": "memtui setup",
    "disabled": "memtui setup",
    "off": "memtui config set mode full --project .",
    "notes": "memtui config set mode full --project .",
    "auto": "memtui doctor",
}
# An action of Setup and the row that it is done on, or none where the screen only explains; and what that is for.
KEYS = {
    "hooks": ("setup.accept", "", "install them"),
    "unreadable": ("", "", "see which file"),
    "disabled": ("", "", "see which file says so"),
    "off": ("setup.edit", " on mode", "change it"),
    "notes": ("setup.edit", " on mode", "change it"),
    "auto": ("", "", "see what does"),
}


def data(code: str) -> dict[str, str] | None:
    """Return the reason and the command for --json; None for no code."""
    return {"why": WHY[code], "do": COMMANDS[code]} if code else None


def at_prompt(code: str) -> str:
    """Return why nothing was delivered, with a command; without a code that the next prompt brings what waits."""
    if not code:
        return "The hooks are installed: the next session or prompt gets what waits."
    return f"{WHY[code][:1].upper()}{WHY[code][1:]}: {COMMANDS[code]}"


def paragraph(code: str) -> str:
    """Give the reason and the keys for a list that is empty, for `actions.keyed`; begins with a blank line, empty for
    no code."""
    if not code:
        return ""
    action, row, aim = KEYS[code]
    then = f", then {{{action}}}{row}" if action else ""
    return f"\n\nSessions get nothing yet: {WHY[code]}.\nPress {{app.setup}}{then} to {aim}."


def keyed(code: str, *, read_only: bool = False) -> str:
    """Give the reason, and keys of the TUI unless it is read-only: `no hooks are installed (press 4, then a to
    install them)`; empty for no code."""
    if not code:
        return ""
    action, row, aim = KEYS[code]
    if read_only and action:
        return WHY[code]
    screen = actions.key_of("app.setup")
    then = f", then {actions.key_of(action)}{row}" if action else ""
    return f"{WHY[code]} (press {screen}{then} to {aim})"
