"""The file that a tool of the client is about."""

from memtui.base import paths
from memtui.hooks.runner import Hook

# How tools of the client name the file that they are about; those in MEMORY_TOOLS name it by a store and a path in it.
PATH_KEYS = ("file_path", "notebook_path", "path")
MEMORY_TOOLS = {"memory_read", "memory_write"}


def path_of(hook: Hook) -> str:
    """Return the absolute path of the file that the tool is about; empty if it names none on this machine."""
    tool_input = hook.payload.get("tool_input")
    if not isinstance(tool_input, dict):
        return ""
    if hook.text("tool_name") in MEMORY_TOOLS:
        from memtui.client import locate

        return locate.stored(hook.env, hook.started_in, tool_input.get("store"), tool_input.get("path"))
    for key in PATH_KEYS:
        path = tool_input.get(key)
        if isinstance(path, str) and path:
            path = hook.env.get("HOME", "") + path[1:] if path.startswith("~/") else path
            return _by_our_names(hook, paths.normal(paths.join(hook.text("cwd") or hook.project_root, path)))
    return ""


def _by_our_names(hook: Hook, path: str) -> str:
    """Return a path by memtui's names for the client's and the session's directories, if a symlink leads into one."""
    names = [name.rstrip("/") for name in (paths.config_dir(hook.env), hook.started_in, hook.project_root)]
    if not path.endswith(".md") or any(path.startswith(name + "/") for name in names):
        return path
    target = paths.real(path)
    tops = ((name, paths.real(name) + "/") for name in names)
    return next((f"{name}/{target[len(top) :]}" for name, top in tops if target.startswith(top)), path)
