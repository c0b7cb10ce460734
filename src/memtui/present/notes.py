"""Words for when a note goes: with which prompt or tool use, of which sessions."""

from memtui.core.base.shell import shell_word
from memtui.present.safe_text import line

WIDEST = 60  # characters of a name or a pattern


def kinds(addressees: str) -> dict[str, str]:
    """Return the names in a note's field `for` by kind: `{"agent": "reviewer", "path": "src/**"}`."""
    given = [each.strip().partition(":") for each in addressees.split(",") if each.strip()]
    return {kind: line(name, WIDEST) for kind, _, name in given}


def moment(addressees: str, *, urgent: bool, waits: bool = False) -> str:
    """Say what brings a note: `with the next prompt of the agent reviewer`. `waits`: in words that follow “queued”."""
    named = kinds(addressees)
    agent = named.get("agent", "")
    whose = f" of the agent {agent}" if agent else ""
    if "path" in named:
        return ("until " if waits else "when ") + f"a tool{whose} touches {named['path']}"
    if urgent:
        return f"{'for' if waits else 'before'} the next tool use{whose}"
    return f"{'for' if waits else 'with'} the next prompt{whose}"


def first_session(addressees: str, where: str) -> str:
    """Say how to get a note in a project without sessions yet: `Start claude in /shop: your next prompt there gets this
    note.` Empty if it is for one session."""
    named = kinds(addressees)
    if "session" in named:
        return ""
    agent, path = named.get("agent", ""), named.get("path", "")
    start = f"Start claude in {line(where)}" + (f" with MEMTUI_AGENT={shell_word(agent)}" if agent else "")
    gets = f"this note comes when a tool touches {path}" if path else "your next prompt there gets this note"
    return f"{start}: {gets}."
