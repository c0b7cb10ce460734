"""Words for who gets a note and when, and for why nobody would (a code of `Workspace.unheard`)."""

from typing import TYPE_CHECKING, NamedTuple

from memtui import keymap
from memtui.views.safe_text import line

if TYPE_CHECKING:
    from memtui.deliver.sessions import Stranger

WIDEST = 60  # characters of a name or a pattern
SHORT = 8  # characters of a session's id


def kinds(addressees: str) -> dict[str, str]:
    """Return the names in a note's field `for` by kind: `{"agent": "reviewer", "path": "src/**"}`."""
    parts = [part.strip().partition(":") for part in addressees.split(",") if part.strip()]
    return {kind: line(name, WIDEST) for kind, _, name in parts}


def recipient(addressees: str, *, urgent: bool, project: str, title: str = "") -> str:
    """Say who gets a note: `the next prompt in shop`, `the next tool of the agent reviewer that touches src/**`."""
    names_by_kind = kinds(addressees)
    agent = names_by_kind.get("agent")
    whose = f" of the agent {agent}" if agent else " of a person" * ("people" in names_by_kind)
    where = f" in {project}"
    if session := names_by_kind.get("session", ""):
        where = f" of “{title}”" if title else f" of session {session[:8]}"
    where += f" on {names_by_kind['machine']}" if "machine" in names_by_kind else ""
    if "path" in names_by_kind:
        return f"the next tool{whose}{where} that touches {names_by_kind['path']}"
    return f"the next prompt{' or tool use' * urgent}{whose}{where}"


def way(addressees: str, resume: str) -> str:
    """Say what a person does to get a note; empty if it is for an agent. `resume`: the command of its session."""
    names_by_kind = kinds(addressees)
    if "session" in names_by_kind:
        return resume and f"go on there, or {resume}"
    return "" if "agent" in names_by_kind else "start claude there, or go on in a session that runs"


def why(stranger: "Stranger") -> str:
    """Say why nobody may get a note: `No session “zzzz” is known yet; the note waits for it.`"""
    name = line(stranger.name, 60)
    if stranger.project:
        return f"Session {name[:SHORT]} belongs to {line(stranger.project, 200)}, and gets no notes of this project."
    if stranger.kind == "agent":
        return f"Nothing was delivered to an agent “{name}” yet; the note waits for one."
    return f"No session “{name}” is known yet; the note waits for it."


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


def unheard(code: str) -> dict[str, str] | None:
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
    reason = REASONS[code]
    then = f", then {{{reason.action}}}{reason.row}" if reason.action else ""
    cure = f"Sessions get nothing yet: {reason.why}.\nPress {{app.setup}}{then} to {reason.aim}."
    return f"{cure}\n\n{keys.replace('{once}', ' once hooks are installed' * (code == 'hooks'))}"


def keyed(code: str, *, read_only: bool = False) -> str:
    """Give the reason with keys of the TUI: `no hooks are installed (press 4, then a to install them)`."""
    if not code:
        return ""
    reason = REASONS[code]
    if read_only and reason.action:
        return reason.why
    then = f", then {keymap.key_of(reason.action)}{reason.row}" if reason.action else ""
    return f"{reason.why} (press {keymap.key_of('app.setup')}{then} to {reason.aim})"
