"""The coding agents that memtui serves: by their names, by the environment of a hook, by a session's file. Hot path."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.client.agents.agent_hot import Agent

# In the order in which people see them; a new agent is a name here. The first one's ways are the defaults of `Agent`.
NAMES = ("claude", "codex", "gemini", "qwen", "opencode", "copilot")
# What other agents set in the environment of the hooks that they run from Claude Code's settings.
MARKS = {"COPILOT_CLI": "copilot"}


def load(name: str) -> "Agent":
    """Return an agent by its name; Claude Code for one that is unknown, or empty."""
    module = f"memtui.client.agents.{name}_hot" if name in NAMES[1:] else "memtui.client.agents.agent_hot"
    __import__(module)  # also waits for a thread that is importing it
    agent: Agent = sys.modules[module].AGENT
    return agent


def of_hook(argv: "list[str]", env: "dict[str, str]") -> str:
    """Return the name of the agent that runs a hook: the one that its command names with `--agent`, or that says in the
    environment that it runs the hooks of Claude Code; empty for Claude Code itself."""
    if argv[5:6] == ["--agent"] and len(argv) > 6:
        return argv[6]
    return next((name for mark, name in MARKS.items() if mark in env), "")


def of_session(path: str) -> "Agent | None":
    """Return the agent whose session a file is; None for Claude Code, and for a file of nobody."""
    if load("").owns(path):
        return None
    return next((agent for agent in map(load, NAMES[1:]) if agent.owns(path)), None)


def name_of(path: str) -> str:
    """Return the name of the agent whose session a file is; Claude Code's for a file of nobody."""
    return (of_session(path) or load("")).name


def session_id(path: str) -> str:
    """Return the session that a file belongs to, as `Agent.session_id`."""
    return (of_session(path) or load("")).session_id(path)


def status(path: str) -> "tuple[int, float]":
    """Return the size and the time of last change of a session file, as `Agent.status`. Raises OSError."""
    return (of_session(path) or load("")).status(path)


def exists(path: str) -> bool:
    """Tell whether a session is where a path says."""
    try:
        return status(path)[0] >= 0
    except OSError:
        return False
