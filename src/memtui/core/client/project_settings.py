"""What the settings in a project's directory set: they may have come with a repository."""

from memtui.core.base import fastjson, fs

FILES = ("/.claude/settings.json", "/.claude/settings.local.json")
SETTINGS_BYTES = 1 << 20


def variables(directory: str) -> "list[tuple[str, str]]":
    """List the variables that they set for sessions, hooks and what these start, as (settings file, variable)."""
    found = []
    for name in FILES:
        path = directory.rstrip("/") + name
        try:
            given = fastjson.loads_dict(fs.read_bytes(path, SETTINGS_BYTES)).get("env")
        except OSError:
            continue
        if isinstance(given, dict):
            found += [(path, variable) for variable in given]
    return found
