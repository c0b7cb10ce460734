"""Why no session would be told what a person leaves, and what changes that: on the command line, and in the TUI.

The codes are those of `Workspace.unheard`.
"""

from memtui import actions

WHY = {
    "hooks": "no hooks are installed",
    "disabled": "Claude Code runs no hooks here",
    "off": "the mode is off here",
    "whisper": "in the mode whisper no memories are told",
    "auto": "Claude Code's own memory is switched off here",
}
COMMANDS = {
    "hooks": "memtui hooks install",
    "disabled": "memtui hooks status",
    "off": "memtui config set mode full --project .",
    "whisper": "memtui config set mode full --project .",
    "auto": "memtui doctor",
}
# The action of the Health screen, and what it does; where that only tells more, no action.
KEYS = {
    "hooks": ("health.install", "installs them"),
    "disabled": ("", "names the file that says so"),
    "off": ("health.edit", "on mode changes it"),
    "whisper": ("health.edit", "on mode changes it"),
    "auto": ("", "names what does"),
}


def data(code: str) -> dict[str, str] | None:
    """For --json; None for no code."""
    return {"why": WHY[code], "do": COMMANDS[code]} if code else None


def keyed(code: str) -> str:
    """With the keys of the TUI: `no hooks are installed (5, then i installs them)`; empty for no code."""
    if not code:
        return ""
    action, verb = KEYS[code]
    screen = actions.key_of("app.health")
    then = f", then {actions.key_of(action)}" if action else ""
    return f"{WHY[code]} ({screen}{then} {verb})"
