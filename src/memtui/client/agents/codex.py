"""Codex as a program on this machine.

Trust (0.171.0): config.toml has for each hook, by file, event and places in the lists, a hash of what a person saw. A
hook without it, or with another one, is skipped in silence. So ours come behind the person's and rarely change."""

import hashlib
import json
import os
import tomllib
from collections.abc import Iterator
from typing import Any

from memtui.base import fastjson_hot, fs_hot
from memtui.client.agents import codex_hot
from memtui.client.agents.program import Env, Event, Program, event_table

LAUNCHER_TAIL = "/memtui/hooks/launch.py"
# Tokens, of four bytes each, of a hook's text that arrive whole; a longer one loses its middle. The default is 2,500.
CONTEXT_TOKENS = 8000
# Events whose hooks may say something to the model. Only there the limit is part of the hash.
WITH_CONTEXT = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse")
# Events of which a matcher counts.
MATCHED = ("SessionStart", "PreToolUse", "PostToolUse", "PreCompact", "SessionEnd")
REVIEW = "not trusted yet: start codex and choose “Trust all and continue”, or open /hooks in it"
CHANGED = "changed since you trusted them: open /hooks in codex"
DISABLED = "switched off: open /hooks in codex"
SKIPPED = "codex skips the file as a whole: it does not know {what} in it"
KEYS = {"hooks", "description"}
OTHERS = "{path} has hooks, too. They run beside memtui's, and stay as they are."
OFF = "{path} switches hooks off (features.hooks)."
UNREADABLE = "{path} can't be read: {error}."


class CodexProgram(Program):
    """Codex."""

    name = "codex"
    title = "Codex"
    command = "codex"
    resumes = "codex resume {}"
    # Seconds. More than 3 at the end of a session are cut, with a warning in each run.
    events = (*event_table(without="SessionEnd", PostToolUse="apply_patch"), Event("SessionEnd", "SessionEnd", None, 3))

    def home(self, env: Env) -> str:
        return codex_hot.home(env)

    def hooks_file(self, env: Env) -> str:
        return self.home(env) + "/hooks.json"

    def group(self, event: Event, command: str) -> dict[str, Any]:
        group = super().group(event, command)
        if event.name in WITH_CONTEXT:
            group["hooks"][0]["additionalContextLimit"] = CONTEXT_TOKENS
        return group

    def sessions(self, env: Env) -> Iterator[str]:
        for top in ("sessions", "archived_sessions"):
            for directory, names, files in os.walk(f"{self.home(env)}/{top}"):
                names.sort()
                paths = [f"{directory}/{name}" for name in sorted(files)]
                yield from (path for path in paths if codex_hot.AGENT.owns(path) and not codex_hot.is_subagents(path))

    def trust(self, env: Env) -> str:
        table = fs_hot.read_table(self.hooks_file(env), "settings")
        strange = _strange(table)
        if strange:
            return SKIPPED.format(what=strange)
        states = list(self._states(env, fastjson_hot.table(table, "hooks")))
        words = (REVIEW, CHANGED, DISABLED)
        return next((word for word in words if word in states), "")

    def notes(self, env: Env) -> list[str]:
        path = self._config_file(env)
        try:
            config = _config(path)
        except (OSError, ValueError) as error:
            return [UNREADABLE.format(path=path, error=error)]
        hooks = fastjson_hot.table(config, "hooks")
        notes = [OTHERS.format(path=path)] if hooks.keys() - {"state"} else []
        return notes + ([OFF.format(path=path)] if fastjson_hot.table(config, "features").get("hooks") is False else [])

    def _config_file(self, env: Env) -> str:
        return self.home(env) + "/config.toml"

    def _states(self, env: Env, hooks: dict[str, Any]) -> Iterator[str]:
        """Yield for each of our hooks what keeps Codex from running it; empty for nothing."""
        path = self.hooks_file(env)
        try:
            trusted = fastjson_hot.table(fastjson_hot.table(_config(self._config_file(env)), "hooks"), "state")
        except (OSError, ValueError):
            return
        for event, group, place, hook in _handlers(hooks):
            if LAUNCHER_TAIL in str(hook.get("command")):
                keys = [f"{name}:{_snake(event)}:{place}" for name in (path, os.path.realpath(path))]
                states = [state for key in keys if isinstance(state := trusted.get(key), dict)]
                yield _state(states[0] if states else {}, _hash(event, group, hook))


def _handlers(hooks: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], str, dict[str, Any]]]:
    """Yield each hook: its event, its group, their places in the lists, and itself."""
    for event, groups in hooks.items():
        for at, group in enumerate(groups if isinstance(groups, list) else []):
            for number, hook in enumerate(fastjson_hot.rows(group, "hooks") if isinstance(group, dict) else []):
                if isinstance(hook, dict):
                    yield event, group, f"{at}:{number}", hook


def _strange(table: dict[str, Any]) -> str:
    """Return what makes Codex skip a hooks file as a whole; empty for nothing that is looked for here."""
    keys = sorted(table.keys() - KEYS)
    for _, _, _, hook in _handlers(fastjson_hot.table(table, "hooks")):
        keys += [key for key in ("timeout", "additionalContextLimit") if not isinstance(hook.get(key, 0), int)]
    return f"“{keys[0]}”" if keys else ""


def _state(state: dict[str, Any], wanted: str) -> str:
    if state.get("enabled") is False:
        return DISABLED
    if "trusted_hash" not in state:
        return REVIEW
    return "" if state["trusted_hash"] == wanted else CHANGED


def _config(path: str) -> dict[str, Any]:
    """Return what config.toml says; raises OSError, and ValueError if it is no TOML."""
    try:
        return tomllib.loads(fs_hot.read(path, "settings").decode())
    except FileNotFoundError:
        return {}


def _snake(event: str) -> str:
    return "".join(["_" + sign.lower() if sign.isupper() else sign for sign in event]).lstrip("_")


def _hash(event: str, group: dict[str, Any], hook: dict[str, Any]) -> str:
    """Return the hash by which Codex knows a hook that a person trusted."""
    seen: dict[str, Any] = {"type": "command", "command": hook.get("command"), "async": False}
    seen["timeout"] = hook.get("timeout", 600)
    limit = hook.get("additionalContextLimit")
    if event in WITH_CONTEXT and limit is not None:
        seen["additionalContextLimit"] = limit
    whole: dict[str, Any] = {"event_name": _snake(event), "hooks": [seen]}
    if event in MATCHED and group.get("matcher") is not None:
        whole["matcher"] = group["matcher"]
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


PROGRAM = CodexProgram()
