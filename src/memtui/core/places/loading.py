"""The settings that keep Claude Code's own memory from being loaded."""

from memtui.core.base import fastjson, fs
from memtui.core.places import locate

VARIABLE = "CLAUDE_CODE_DISABLE_AUTO_MEMORY"
FALSE = ("", "0", "false", "no", "off")
SETTINGS_BYTES = 1 << 20


def auto_memory_off(env: dict[str, str], cwd: str) -> str:
    """Return what switches Claude Code's own memory off in a directory: the path of a settings file, or a variable;
    empty if nothing does. Local settings come before the project's, these before the user's."""
    if env.get(VARIABLE, "").lower() not in FALSE:
        return VARIABLE
    for path in locate.settings_files(env, cwd):
        try:
            found = fastjson.loads_dict(fs.read_bytes(path, SETTINGS_BYTES))
        except OSError:
            continue
        given = found.get("env")
        if isinstance(given, dict) and str(given.get(VARIABLE, "")).lower() not in FALSE:
            return path
        if isinstance(found.get("autoMemoryEnabled"), bool):
            return "" if found["autoMemoryEnabled"] else path
    return ""
