"""The client's settings files that count for a session started in a directory, and what they set. Hook path;
client/applied_settings.py says which of them the client skips."""

import posix
import sys

from memtui.base import fastjson_hot, fs_hot, paths_hot

SHARED, LOCAL = "/.claude/settings.json", "/.claude/settings.local.json"
# Where an administrator's settings are, which override all others.
MANAGED = {"darwin": "/Library/Application Support/ClaudeCode"}.get(sys.platform, "/etc/claude-code")


def of_project(env: "dict[str, str]", cwd: str) -> "list[tuple[str, str]]":
    """List the project's files as (scope, path), later ones override; the local one is in the main work tree, too."""
    here = cwd.rstrip("/")
    files = [("project", here + SHARED), ("local", here + LOCAL)]
    root = paths_hot.project_root(cwd).rstrip("/")
    if root != here and paths_hot.real(root) != paths_hot.home(env) and _is_ours(root):
        files.append(("local", root + LOCAL))
    return files


def _is_ours(root: str) -> bool:
    """Return whether a main work tree, its `.git` and its `.claude` belong to this user, as the client asks for."""
    try:
        statuses = (posix.stat(root), posix.lstat(root + "/.git"), posix.lstat(root + "/.claude"))
    except OSError:
        return False  # without a `.claude` there is no file in it either
    return {stat_result.st_uid for stat_result in statuses} == {posix.geteuid()}


def managed() -> "list[str]":
    """List the administrator's files, each overriding the ones before it."""
    names = paths_hot.names_in(MANAGED)
    files = [MANAGED + "/managed-settings.json"] if "managed-settings.json" in names else []
    more = sorted(paths_hot.names_in(MANAGED + "/managed-settings.d")) if "managed-settings.d" in names else []
    own = [name for name in more if name.endswith(".json") and not name.startswith(".")]
    return files + [f"{MANAGED}/managed-settings.d/{name}" for name in own]


def every(env: "dict[str, str]", cwd: str) -> "list[tuple[str, str]]":
    """List all files as (scope: user, project, local or managed; path), each overriding the ones before it."""
    user = paths_hot.config_dir(env) + "/settings.json"
    ours = [(scope, path) for scope, path in of_project(env, cwd) if path != user]
    return [("user", user), *ours, *[("managed", path) for path in managed()]]


def read(path: str) -> "dict[str, object]":
    """Return what a file sets; nothing if it is missing, too large or not JSON, as the client does."""
    return fs_hot.read_table(path, "client")


def nearest(env: "dict[str, str]", cwd: str, key: str, kind: type) -> object:
    """Return the value of a setting in the last file that has one of the `kind`; None if none does."""
    for _, path in reversed(every(env, cwd)):
        value = read(path).get(key)
        if isinstance(value, kind):
            return value
    return None


def variables(env: "dict[str, str]", cwd: str) -> "list[tuple[str, str]]":
    """List the variables that the project's files set for sessions and what these start, as (file, variable)."""
    files = [path for _, path in of_project(env, cwd)]
    return [(path, variable) for path in files for variable in fastjson_hot.table(read(path), "env")]
