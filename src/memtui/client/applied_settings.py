"""What Claude Code takes from its settings files: what it skips of them (a whole file for one value of a wrong type, or
a single hook), and whether and how it brings its own memory into sessions.

Without these files' hooks memtui delivers nothing, and the client says so only on its own screen, if at all. Keys that
it doesn't know, and those whose wrong value alone it leaves out, are not here."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memtui.base import fastjson, fs
from memtui.client import settings_files

MOST_BYTES = 1 << 21
LONGEST_INT = 4000  # digits; int() refuses more than 4300
# What the client's own schema asks for; `settings_schema.json` says of what and when.
_SCHEMA: dict[str, Any] = json.loads(Path(__file__).with_name("settings_schema.json").read_text("utf-8"))
TYPE_OF = {key: kind for kind, keys in _SCHEMA["types"].items() for key in keys}
NUMBERS, CHOICES, REQUIRED, HOOKS = (_SCHEMA[name] for name in ("numbers", "choices", "required", "hooks"))
EVENTS, GUARDS, OPTIONAL_STRINGS = (_SCHEMA[name] for name in ("events", "guards", "optional"))


class Fault(NamedTuple):
    """What the client skips: the `key` in the file, `why`, as it says, and the hook that is the `entry`."""

    key: str
    why: str
    entry: object = None


class Settings(NamedTuple):
    """A file as the client reads it: `value`, empty for its `faults`, and without the hooks that are `skipped`."""

    value: dict[str, Any]
    faults: Sequence[Fault] = ()
    skipped: Sequence[Fault] = ()


def read(path: str, managed: bool = False) -> Settings:
    """Read a settings file as the client does; a missing one is empty, a managed one loses no other value."""
    try:
        data = fs.read_bytes(path, MOST_BYTES + 1)
    except FileNotFoundError:
        return Settings({})
    except OSError as error:
        return _unread(f"Settings file could not be read: {error.strerror}")
    if len(data) > MOST_BYTES:
        return _unread("Settings file could not be read: File exceeds maxBytes limit")
    codec = "utf-16" if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8"
    text = data.decode(codec, "replace").removeprefix("\ufeff")
    if not text.strip():
        return Settings({})
    try:
        value = DECODER.decode(text)
    except ValueError as error:
        return _unread(f"Invalid or malformed JSON ({error})")
    except RecursionError:
        return _unread("Invalid or malformed JSON (nested too deeply)")
    if not isinstance(value, dict):
        return _unread(_expected("object", value))
    if managed:
        return Settings(value)
    malformed = list(_malformed_hooks(value.get("hooks")))
    faults = [*_wrong(value), *(fault for event, fault in malformed if event in GUARDS)]
    if faults:
        return Settings({}, faults)
    return Settings(_without(value, malformed), skipped=[fault for _, fault in malformed])


def _without(value: dict[str, Any], malformed: Iterable[tuple[str, Fault]]) -> dict[str, Any]:
    entry_ids = [id(fault.entry) for _, fault in malformed]
    if not entry_ids:
        return value
    hooks = {}
    for event, groups in value["hooks"].items():
        whole = [group for group in groups if id(group) not in entry_ids] if isinstance(groups, list) else groups
        hooks[event] = [
            {**group, "hooks": [hook for hook in group["hooks"] if id(hook) not in entry_ids]}
            if isinstance(group, dict) and isinstance(group.get("hooks"), list)
            else group
            for group in whole or ()
        ]
    return {**value, "hooks": hooks}


def _unread(why: str) -> Settings:
    return Settings({}, [Fault("", why)])


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _int(digits: str) -> float:
    return int(digits) if len(digits) < LONGEST_INT else float(digits)


# Reads JSON as Claude Code does: without NaN, and numbers of any length.
DECODER = json.JSONDecoder(parse_constant=_refuse, parse_int=_int)


def _wrong(value: dict[str, Any], above: str = "") -> Iterator[Fault]:
    for name in REQUIRED.get(above.rstrip("."), ()):
        if name not in value:
            yield Fault(above + name, "Required, but absent")
    of_record = TYPE_OF.get(above.rstrip(".")) == "record"
    for name, given in value.items():
        key = above + name
        if why := _why(above + "*" if of_record else key, given):
            yield Fault(key, why)
        elif isinstance(given, dict) and (TYPE_OF.get(key) in {"object", "record"} or key == "attribution"):
            yield from _wrong(given, key + ".")
        elif isinstance(given, list) and TYPE_OF.get(key) == "array of strings":
            wrong = [(at, item) for at, item in enumerate(given) if not isinstance(item, str)]
            yield from (Fault(f"{key}.{at}", _expected("string", item)) for at, item in wrong[:1])


def _why(key: str, value: object) -> str:
    if kind := TYPE_OF.get(key, "").partition(" ")[0]:
        return "" if _kind(value) == kind.replace("record", "object") else _expected(kind, value)
    if key in NUMBERS:
        return _why_number(key, value)
    if key in CHOICES:
        choices = ", ".join(f'"{choice}"' for choice in CHOICES[key])
        return "" if value in CHOICES[key] else f"Invalid value. Expected one of: {choices}"
    if key == "attribution":
        return "" if isinstance(value, (bool, dict)) else _expected("object", value)
    if key == "enabledPlugins.*":
        return "" if isinstance(value, (bool, list, dict)) else "Invalid input"
    return ""


def _why_number(key: str, value: object) -> str:
    least, most, whole = NUMBERS[key]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return _expected("number", value)
    if whole and not float(value).is_integer():
        return "Expected int, but received number"
    if least is not None and value < least:
        return f"Number must be greater than or equal to {least:g}" if whole else "Number is too small"
    return f"Too big: expected number to be <={most:g}" if most is not None and value > most else ""


def _expected(kind: str, value: object) -> str:
    return f"Expected {kind}, but received {_kind(value)}"


def _kind(value: object) -> str:
    kinds = {bool: "boolean", str: "string", list: "array", dict: "object", type(None): "null"}
    return kinds.get(type(value), "number")


def _malformed_hooks(hooks: object) -> Iterator[tuple[str, Fault]]:
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        if event not in EVENTS or groups is None:
            continue
        top = f"hooks.{event}"
        if not isinstance(groups, list):
            yield (
                event,
                Fault(top, f'Hook event "{event}" must be an array of matchers; received {_kind(groups)}', groups),
            )
            continue
        for at, group in enumerate(groups):
            if why := _why_group(group):
                yield event, Fault(f"{top}.{at}", why, group)
                continue
            for place, hook in enumerate(group["hooks"]):
                if why := _why_hook(hook):
                    yield event, Fault(f"{top}.{at}.hooks.{place}", why, hook)


def _why_group(group: object) -> str:
    if not isinstance(group, dict):
        return f"Hook matcher must be an object; received {_kind(group)}"
    if not isinstance(group.get("hooks"), list):
        return 'Hook matcher "hooks" must be an array of hook entries'
    if not isinstance(group.get("matcher", ""), str):
        return f"Invalid hook matcher (matcher: {_expected('string', group['matcher'])})"
    return ""


def _why_hook(hook: object) -> str:
    if not isinstance(hook, dict):
        return f"Hook entry must be an object; received {_kind(hook)}"
    if "type" not in hook:
        return 'Hook entry has no "type"'
    kind = hook["type"]
    if not isinstance(kind, str) or kind not in HOOKS:
        return f"Unknown hook type {json.dumps(kind)[:40]}"
    for name in HOOKS[kind]:
        if not isinstance(hook.get(name), str):
            return f"Invalid {kind} hook ({name}: Expected string)"
    for name in OPTIONAL_STRINGS:
        if name in hook and not isinstance(hook[name], str):
            return f"Invalid {kind} hook ({name}: {_expected('string', hook[name])})"
    timeout = hook.get("timeout", 1)
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or timeout <= 0:
        return f"Invalid {kind} hook (timeout: Expected a number greater than 0)"
    for name in ("once", "async") if kind == "command" else ("once",):
        if not isinstance(hook.get(name, True), bool):
            return f"Invalid {kind} hook ({name}: {_expected('boolean', hook[name])})"
    return ""


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
        (path, read(path, managed=scope == "managed").value) for scope, path in reversed(settings_files.every(env, cwd))
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
