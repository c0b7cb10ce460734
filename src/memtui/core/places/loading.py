"""How Claude Code brings its own memory into sessions, and the settings that keep it from that."""

from memtui.core.places import settings_faults, settings_files

VARIABLE = "CLAUDE_CODE_DISABLE_AUTO_MEMORY"
TRUE, FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
# What `way` returns; and of a single memory, that its line in MEMORY.md is behind what is loaded of that, or that
# MEMORY.md keeps it from being loaded.
LOADED, RECALLED, OFF, CUT, RECALL_ONLY = "loaded", "recalled", "off", "cut", "recall only"
# The variable that has the client recall memories.
STORES = "CLAUDE_MEMORY_STORES"


def auto_memory_off(env: dict[str, str], cwd: str) -> str:
    """Return what switches Claude Code's own memory off in a directory: the path of a settings file, or a variable;
    empty if nothing does. The variable overrides the setting, both ways; of each the nearest file decides."""
    files = [
        (path, settings_faults.read(path, managed=scope == "managed").value)
        for scope, path in reversed(settings_files.every(env, cwd))
    ]
    switches = [(path, value["env"][VARIABLE]) for path, value in files if VARIABLE in (value.get("env") or ())]
    for by, switch in [*switches, (VARIABLE, env.get(VARIABLE, ""))][:1]:
        if str(switch).strip().lower() in TRUE:
            return by
        if str(switch).strip().lower() in FALSE:
            return ""
    setting = next(((path, value["autoMemoryEnabled"]) for path, value in files if "autoMemoryEnabled" in value), None)
    return setting[0] if setting and setting[1] is False else ""


def way(env: dict[str, str], cwd: str) -> str:
    """Return how sessions of a directory get Claude Code's own memory: LOADED, with its MEMORY.md; RECALLED, without
    that, single memories with the prompts that they fit; OFF, not at all."""
    if auto_memory_off(env, cwd):
        return OFF
    return RECALLED if env.get(STORES, "").strip() else LOADED
