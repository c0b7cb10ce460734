"""The environment that a hook believes, since a repository's settings can set variables for the hooks of its sessions;
and which of two hooks serves a session that has one of the plugin and one of a settings file.

Variables that say where memtui's files are would let a repository speak as the user; those that silence hooks would
mute memtui; the one that says what kind of session it is would give a person's note to a script. Installed hooks name
both directories themselves."""

import posix

from memtui.base import fastjson_hot, fs_hot, paths_hot
from memtui.client import settings_files_hot
from memtui.client.process_hot import ATTENDED, ENTRYPOINT, PERSONAL

# Variables that no repository may set.
ROOTS = ("MEMTUI_HOME", "CLAUDE_CONFIG_DIR")
MUTES = ("MEMTUI_INSIDE", "CLAUDE_HEADLESS")
HOOKS = (*ROOTS, *MUTES, ENTRYPOINT, ATTENDED, *paths_hot.MOVING)
# How the path of the script ends that a hook of ours starts.
LAUNCHER_TAIL = "/memtui/hooks/launch.py"


class NotBelievedError(Exception):
    """The variables of the environment that were ignored; for the log, never raised."""


def believed(env: "dict[str, str]", root: str, config: str) -> "tuple[dict[str, str], NotBelievedError | None]":
    """Return the environment without the variables that are not believed, and an error that names them."""
    project = env.get("CLAUDE_PROJECT_DIR")  # set by every known client
    here = paths_hot.normal(project or posix.getcwd())
    doubts = {name: path for path, name in set_by_project(env, here) if name in env}
    trusted = {name: value for name, value in env.items() if name not in doubts}
    if root and config:
        named = (paths_hot.followed(root), paths_hot.followed(config))
        if (paths_hot.root(trusted), paths_hot.config_dir(trusted)) != named:
            doubts.update({name: "the installed hooks" for name in ROOTS if name in trusted})
            trusted |= {"MEMTUI_HOME": root, "CLAUDE_CONFIG_DIR": config}
    elif project and any(name in trusted for name in ROOTS) and _within_project(trusted, here):
        doubts.update({name: "the directory of this project" for name in ROOTS if name in trusted})
        trusted = {name: value for name, value in trusted.items() if name not in ROOTS}
    words = ", ".join([f"{name} (because of {path})" for name, path in doubts.items()])
    return trusted, NotBelievedError(f"not believed: {words}; see memtui doctor") if doubts else None


def set_by_project(env: "dict[str, str]", directory: str) -> "list[tuple[str, str]]":
    """List memtui's and the client's variables that a project's settings set, as (settings file, variable)."""
    return [(path, name) for path, name in settings_files_hot.variables(env, directory) if name in HOOKS]


def personal(env: "dict[str, str]", directory: str) -> bool:
    """Return whether the client says that a person runs the session, and no settings of the project made it say so."""
    attended = env.get(ATTENDED)
    if attended != "1" and (attended or env.get(ENTRYPOINT) not in PERSONAL):
        return False
    return all(name not in {ENTRYPOINT, ATTENDED} for _, name in set_by_project(env, directory))


def _within_project(env: "dict[str, str]", here: str) -> bool:
    project = paths_hot.project_root(here)
    if paths_hot.real(project) == paths_hot.home(env):
        return False
    return paths_hot.inside(project, paths_hot.root(env)) or paths_hot.inside(project, paths_hot.config_dir(env))


def settings_install_active(root: str, env: "dict[str, str]", cwd: str, event: str) -> bool:
    """Tell whether the hook of a settings file serves an event of this session: the client would run it and the
    plugin's, which then stays silent. The client reads project settings where it was started alone. Never raises."""
    try:
        directory = paths_hot.started_in(env, cwd)
        user_file = paths_hot.real(paths_hot.config_dir(env) + "/settings.json")
        files = fastjson_hot.table(fs_hot.read_table(root + "/installs.json", "settings"), "files")
        return any(_serves(path, record, directory, user_file, event) for path, record in files.items())
    except (OSError, ValueError, KeyError, RecursionError):
        return False


def _serves(path: str, record: "object", directory: str, user_file: str, event: str) -> bool:
    """Tell whether a settings file applies, by its record in installs.json, and has a command that can start."""
    if not isinstance(record, dict):
        return False
    applies = directory in fastjson_hot.rows(record, "projects")
    if record.get("scope") == "user":
        applies = paths_hot.real(path) == user_file
    if not applies or not all(paths_hot.exists(str(record.get(key))) for key in ("interpreter", "launcher")):
        return False
    groups = fastjson_hot.rows(fastjson_hot.table(settings_files_hot.read(path), "hooks"), event)
    hooks = [hook for group in groups if isinstance(group, dict) for hook in fastjson_hot.rows(group, "hooks")]
    return any(isinstance(hook, dict) and LAUNCHER_TAIL in str(hook.get("command")) for hook in hooks)
