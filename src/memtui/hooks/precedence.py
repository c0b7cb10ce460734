"""Precedence: where the plugin's hooks and those of a settings file are both on, the plugin's do nothing.

The client runs both, and everything would be delivered twice: the plugin's stay silent while a settings file that
memtui wrote to (`installs.json`) applies to the session and has a command of ours that can start."""

from memtui.base import paths

LAUNCHER_TAIL = "/memtui/hooks/launch.py"


def settings_install_active(root: str, env: "dict[str, str]", cwd: str, event: str = "") -> bool:
    """Return whether hooks of a settings file serve this session, or only its `event` if one is given. Never raises.
    The client reads project settings in the directory that it was started in, and not above it."""
    if not paths.exists(root + "/installs.json"):
        return False
    try:
        return _any_active(root, env, paths.started_in(env, cwd), event)
    except (OSError, ValueError, KeyError, RecursionError):
        return False


def _any_active(root: str, env: "dict[str, str]", directory: str, event: str) -> bool:
    from memtui.base import fastjson, fs

    files = fastjson.loads_dict(fs.read(root + "/installs.json", "settings")).get("files")
    user_file = paths.real(paths.config_dir(env) + "/settings.json")
    for path, record in files.items() if isinstance(files, dict) else ():
        if not isinstance(record, dict):
            continue
        projects = record.get("projects")
        if record.get("scope") == "user":
            applies = paths.real(path) == user_file
        else:
            applies = isinstance(projects, list) and directory in projects
        can_start = all(paths.exists(str(record.get(key))) for key in ("interpreter", "launcher"))
        if applies and can_start and _has_our_command(path, event):
            return True
    return False


def _has_our_command(path: str, event: str) -> bool:
    from memtui.base import fastjson, fs

    try:
        hooks = fastjson.loads_dict(fs.read(path, "client")).get("hooks")
    except OSError:
        return False
    for name, groups in hooks.items() if isinstance(hooks, dict) else ():
        if event and name != event:
            continue
        for group in groups if isinstance(groups, list) else ():
            commands = group.get("hooks") if isinstance(group, dict) else None
            for hook in commands if isinstance(commands, list) else ():
                if isinstance(hook, dict) and LAUNCHER_TAIL in str(hook.get("command")):
                    return True
    return False
