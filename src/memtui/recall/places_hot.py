"""Where recall looks for a session: the directories of its memories, and which of them need trust. Hook path."""

from memtui.base import paths_hot
from memtui.client import locate_hot

BY_CLIENT = "/run/client-recalls"  # a file, while the client recalls its own memories itself; workers write it


def of_session(env: "dict[str, str]", cwd: str, native: bool = True) -> "list[tuple[str, str]]":
    """List (scope, directory) of the memories that a session may recall: the project's, the global ones, `native` ones
    that Claude Code keeps (`auto`) or colleagues share there (`team`); with MEMTUI_AGENT those of that agent."""
    dirs = locate_hot.delivered_dirs(env, cwd)
    auto = locate_hot.auto_dir(env, cwd)
    if native and auto not in [directory for _, directory in dirs]:
        dirs.append(("project" if _has_files_of_repository(env, cwd, auto) else "auto", auto))
    if native and paths_hot.exists(f"{auto}/{locate_hot.TEAM}"):
        dirs.append((locate_hot.TEAM, f"{auto}/{locate_hot.TEAM}"))
    agent = env.get("MEMTUI_AGENT", "")
    if agent and "/" not in agent and not agent.startswith("."):
        dirs.append((f"agent:{agent}", f"{paths_hot.config_dir(env)}/agent-memory/{agent}"))
    return dirs


def of_prompt(env: "dict[str, str]", root: str, cwd: str, native: bool = True) -> "list[tuple[str, str]]":
    """List as `of_session` what a prompt may recall: where the client recalls its own memories itself, not these."""
    places = of_session(env, cwd, native)
    without = {"auto", locate_hot.TEAM} if paths_hot.exists(root + BY_CLIENT) else set()
    return [place for place in places if place[0] not in without]


def _has_files_of_repository(env: "dict[str, str]", cwd: str, auto: str) -> bool:
    """Tell whether the client's own memories may be files of the repository: its settings can name any directory."""
    if auto.startswith(paths_hot.config_dir(env) + "/projects/"):
        return False
    return any(
        paths_hot.inside(top, auto) or paths_hot.inside(auto, top) or paths_hot.resolve(auto) == paths_hot.resolve(top)
        for top in {cwd, locate_hot.worktree_top(cwd), paths_hot.project_root(cwd)}
    )
