"""What Claude Code takes from its settings files: what it skips of them (a whole file for one value of a wrong type, or
a single hook), and whether and how it brings its own memory into sessions. Keys that it doesn't know, and those whose
wrong value alone it leaves out, are not here."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memtui.base import fastjson_hot, fs_hot
from memtui.base.phrasing_hot import some
from memtui.client import settings_files_hot

MOST_BYTES = 1 << 21
LONGEST_INT = 4000  # digits; int() refuses more than 4300
# What the client's own schema asks for; `settings_schema.json` says of what and when.
_SCHEMA: dict[str, Any] = json.loads(Path(__file__).with_name("settings_schema.json").read_text("utf-8"))
TYPE_OF = {key: kind for kind, keys in _SCHEMA["types"].items() for key in keys}
NUMBERS, CHOICES, REQUIRED, HOOKS = (_SCHEMA[name] for name in ("numbers", "choices", "required", "hooks"))
EVENTS, GUARDS, OPTIONAL_STRINGS = (_SCHEMA[name] for name in ("events", "guards", "optional"))
KINDS: dict[str, type] = {"boolean": bool, "string": str, "array": list, "object": dict, "record": dict}


class Settings(NamedTuple):
    """A file as the client reads it: its `value`, without the hooks at the keys `skipped`; or why it skips all."""

    value: dict[str, Any]
    why: str = ""
    skipped: Sequence[tuple[str, object]] = ()


def read(path: str, managed: bool = False) -> Settings:
    """Read a settings file as the client does; a missing one is empty, a managed one loses no other value."""
    try:
        data = fs_hot.read_bytes(path, MOST_BYTES + 1)
    except FileNotFoundError:
        return Settings({})
    except OSError as error:
        return Settings({}, f"it could not be read: {error.strerror}")
    if len(data) > MOST_BYTES:
        return Settings({}, "it is too large")
    codec = "utf-16" if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8"
    text = data.decode(codec, "replace").removeprefix("\ufeff")
    if not text.strip():
        return Settings({})
    try:
        value = DECODER.decode(text)
    except ValueError as error:
        return Settings({}, f"malformed JSON ({error})")
    except RecursionError:
        return Settings({}, "malformed JSON (nested too deeply)")
    if not isinstance(value, dict):
        return Settings({}, "it is no JSON object")
    if managed:
        return Settings(value)
    malformed = list(_malformed_hooks(value.get("hooks")))
    wrong = [*_wrong(value), *(key for event, key, _ in malformed if event in GUARDS)]
    if wrong:
        return Settings({}, f"it does not take the value of {some([f'`{key}`' for key in wrong])}")
    return Settings(_without(value, [entry for *_, entry in malformed]), skipped=[row[1:] for row in malformed])


def _without(value: dict[str, Any], entries: Sequence[object]) -> dict[str, Any]:
    entry_ids = set(map(id, entries))
    if not entry_ids:
        return value
    hooks = {}
    for event, groups in value["hooks"].items():
        whole = [group for group in groups if id(group) not in entry_ids] if isinstance(groups, list) else ()
        hooks[event] = [
            {**group, "hooks": [hook for hook in group["hooks"] if id(hook) not in entry_ids]}
            if isinstance(group, dict) and isinstance(group.get("hooks"), list)
            else group
            for group in whole
        ]
    return {**value, "hooks": hooks}


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


# Reads JSON as Claude Code does: without NaN, and numbers of any length.
_int = lambda digits: int(digits) if len(digits) < LONGEST_INT else float(digits)
DECODER = json.JSONDecoder(parse_constant=_refuse, parse_int=_int)


def _wrong(value: dict[str, Any], above: str = "") -> Iterator[str]:
    """Yield the keys that lack, or have a value that the client does not take."""
    for name in REQUIRED.get(above.rstrip("."), ()):
        if name not in value:
            yield above + name
    is_record = TYPE_OF.get(above.rstrip(".")) == "record"
    for name, part in value.items():
        key = above + name
        if not _takes(above + "*" if is_record else key, part):
            yield key
        elif isinstance(part, dict) and (TYPE_OF.get(key) in {"object", "record"} or key == "attribution"):
            yield from _wrong(part, key + ".")
        elif isinstance(part, list) and TYPE_OF.get(key) == "array of strings":
            yield from [f"{key}.{at}" for at, item in enumerate(part) if not isinstance(item, str)][:1]


def _takes(key: str, value: object) -> bool:
    if kind := TYPE_OF.get(key, "").partition(" ")[0]:
        return isinstance(value, KINDS[kind])
    if key in NUMBERS:
        least, most, whole = NUMBERS[key]
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        fits = (least is None or value >= least) and (most is None or value <= most)
        return fits and (not whole or float(value).is_integer())
    if key in CHOICES:
        return value in CHOICES[key]
    if key == "attribution":
        return isinstance(value, (bool, dict))
    return key != "enabledPlugins.*" or isinstance(value, (bool, list, dict))


def _malformed_hooks(hooks: object) -> Iterator[tuple[str, str, object]]:
    """Yield what the client does not take for hooks: the event, the key, the entry."""
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        if event not in EVENTS or groups is None:
            continue
        key = f"hooks.{event}"
        if not isinstance(groups, list):
            yield event, key, groups
            continue
        for at, group in enumerate(groups):
            entries = group.get("hooks") if isinstance(group, dict) else None
            if not isinstance(entries, list) or not isinstance(group.get("matcher", ""), str):
                yield event, f"{key}.{at}", group
                continue
            for place, hook in enumerate(entries):
                if not _is_hook(hook):
                    yield event, f"{key}.{at}.hooks.{place}", hook


def _is_hook(hook: object) -> bool:
    if not isinstance(hook, dict) or not isinstance(hook.get("type"), str) or hook["type"] not in HOOKS:
        return False
    kind, timeout = hook["type"], hook.get("timeout", 1)
    texts = [*(hook.get(name) for name in HOOKS[kind]), *(hook[name] for name in OPTIONAL_STRINGS if name in hook)]
    switches = [hook.get(name, True) for name in ("once", "async")[: 2 if kind == "command" else 1]]
    if not all(isinstance(text, str) for text in texts) or not all(isinstance(switch, bool) for switch in switches):
        return False
    return isinstance(timeout, (int, float)) and not isinstance(timeout, bool) and timeout > 0


VARIABLE = "CLAUDE_CODE_DISABLE_AUTO_MEMORY"
TRUE, FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
# What `way` returns; and of a single memory, that its line in MEMORY.md is behind what is loaded of that, or that
# MEMORY.md keeps it from being loaded.
LOADED, RECALLED, OFF, CUT, RECALL_ONLY = "loaded", "recalled", "off", "cut", "recall only"
# What has the client recall memories, a variable and a feature of its vendor's; and what keeps it from looking.
STORES, FLAG = "CLAUDE_MEMORY_STORES", "tengu_moth_copse"
SILENT = ("DISABLE_TELEMETRY", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC")
SILENT_READS = "CLAUDE_CODE_GB_DISK_CACHE_WHEN_TELEMETRY_OFF"
CLIENT_BYTES = 64 << 20


def auto_memory_off(env: dict[str, str], cwd: str) -> str:
    """Return the file or variable that switches the client's memory off; empty if none. The variable goes first."""
    places = reversed(settings_files_hot.every(env, cwd))
    files = [(path, read(path, managed=scope == "managed").value) for scope, path in places]
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
    state = fastjson_hot.loads_dict(fs_hot.head(path, CLIENT_BYTES))
    flags = state.get("cachedGrowthBookFeatures")
    flags = state.get("cachedFeatureFlags") if flags is None else flags
    return isinstance(flags, dict) and flags.get(FLAG) is True
