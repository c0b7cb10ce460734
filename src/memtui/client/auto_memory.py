"""How Claude Code brings its own memory into sessions, and the settings that keep it from that."""

from memtui.base import fastjson, fs
from memtui.client import settings_faults, settings_files

VARIABLE = "CLAUDE_CODE_DISABLE_AUTO_MEMORY"
TRUE, FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
# What `way` returns; and of a single memory, that its line in MEMORY.md is behind what is loaded of that, or that
# MEMORY.md keeps it from being loaded.
LOADED, RECALLED, OFF, CUT, RECALL_ONLY = "loaded", "recalled", "off", "cut", "recall only"
# What has the client recall memories: a variable, and a feature that its vendor switches on; and what keeps it from
# looking for such features, unless SILENT_READS is set.
STORES, FLAG = "CLAUDE_MEMORY_STORES", "tengu_moth_copse"
SILENT = ("DISABLE_TELEMETRY", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC")
SILENT_READS = "CLAUDE_CODE_GB_DISK_CACHE_WHEN_TELEMETRY_OFF"
CLIENT_BYTES = 64 << 20


def auto_memory_off(env: dict[str, str], cwd: str) -> str:
    """Return the file or variable that switches the client's memory off; empty if none. The variable goes first."""
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
    """Return how sessions get the client's memory: LOADED with its MEMORY.md, RECALLED by prompt, or OFF."""
    if auto_memory_off(env, cwd):
        return OFF
    return RECALLED if env.get(STORES, "").strip() or _is_switched_on(env) else LOADED


def _is_switched_on(env: dict[str, str]) -> bool:
    """Tell whether the vendor switched on that the client recalls, which it looks up only with telemetry."""
    silent = any(env.get(name, "").lower() not in {"", *FALSE} for name in SILENT)
    if silent and env.get(SILENT_READS, "").lower() in {"", *FALSE}:
        return False
    path = (env.get("CLAUDE_CONFIG_DIR", "").rstrip("/") or env.get("HOME", "").rstrip("/")) + "/.claude.json"
    try:
        state = fastjson.loads_dict(fs.read_bytes(path, CLIENT_BYTES))
    except OSError:
        return False
    flags = state.get("cachedGrowthBookFeatures")
    flags = state.get("cachedFeatureFlags") if flags is None else flags
    return isinstance(flags, dict) and flags.get(FLAG) is True
