"""Where recall looks for a session: the directories of its memories, and which of them need trust. Hook path."""

from memtui.core.base import paths
from memtui.core.places import locate


def of_session(env: "dict[str, str]", cwd: str) -> "list[tuple[str, str]]":
    """List (scope, directory) of the memories that a session may recall: the project's, the global ones, those that the
    client keeps itself (`auto`), and with MEMTUI_AGENT those of that agent."""
    found = locate.delivered_dirs(env, cwd)
    auto = locate.auto_dir(env, cwd)
    # A repository's settings can name any directory as the client's: what lies in the project needs trust.
    found.append(("project" if paths.inside(cwd, auto) else "auto", auto))
    agent = env.get("MEMTUI_AGENT", "")
    if agent and "/" not in agent and not agent.startswith("."):
        found.append((f"agent:{agent}", f"{paths.config_dir(env)}/agent-memory/{agent}"))
    return found


def needs_trust(scope: str) -> bool:
    """Tell whether memories of a scope are delivered only if a person has trusted their present bytes."""
    return scope == "project"
