"""Copilot CLI as a program on this machine."""

import json
import os
from collections.abc import Callable, Iterator
from typing import Any

from memtui.base import fs_hot, paths_hot
from memtui.client.agents import copilot_hot
from memtui.client.agents.program import Env, Program, same_names

MAX_SETTINGS = 1 << 20
# The event whose hooks replace each other's text, by both of its names.
PROMPT_EVENTS = ("UserPromptSubmit", "userPromptSubmitted")


class CopilotProgram(Program):
    """Copilot CLI. Its hooks of one event run one after another, so each has little time."""

    name = "copilot"
    title = "Copilot CLI"
    command = "copilot"
    resumes = "copilot --resume={}"
    events = same_names(
        ("UserPromptSubmit", None, 5),
        ("PreToolUse", None, 5),
        ("PostToolUse", None, 5),
        ("PreCompact", None, 10),
        ("Stop", None, 10),
        ("SessionEnd", None, 10),
    )

    def home(self, env: Env) -> str:
        return copilot_hot.home(env)

    def hooks_file(self, env: Env) -> str:
        return self.home(env) + copilot_hot.HOOKS_FILE

    def whole_file(self, command: Callable[[str], str]) -> str | None:
        hooks = {
            event.own: [{"type": "command", "bash": command(event.name), "timeoutSec": event.timeout}]
            for event in self.events
        }
        return json.dumps({"version": 1, "hooks": hooks}, indent=2) + "\n"

    def notes(self, env: Env) -> list[str]:
        settings = self.home(env) + "/settings.json"
        if _read(settings).get("disableAllHooks") is True:
            return [f"disableAllHooks in {settings} keeps every hook of Copilot CLI from running."]
        return [
            f"{path} has a prompt hook behind memtui's: of several texts Copilot CLI gives the model only the last one."
            for path in self._behind(env)
        ]

    def _behind(self, env: Env) -> Iterator[str]:
        """Yield the user's files with a prompt hook that runs behind ours: files of hooks run in the reverse order of
        their names (1.0.102), then the settings."""
        directory, name = os.path.split(self.hooks_file(env))
        names = sorted(paths_hot.names_in(directory), reverse=True)
        later = [other for other in names if other.endswith(".json") and other < name]
        for path in [*(f"{directory}/{other}" for other in later), self.home(env) + "/settings.json"]:
            hooks = _read(path).get("hooks")
            if isinstance(hooks, dict) and any(hooks.get(event) for event in PROMPT_EVENTS):
                yield path

    def sessions(self, env: Env) -> Iterator[str]:
        top = self.home(env) + copilot_hot.SESSIONS
        for name in paths_hot.names_in(top):
            path = f"{top}/{name}{copilot_hot.EVENTS_FILE}"
            if os.path.isfile(path):
                yield path


def _read(path: str) -> dict[str, Any]:
    try:
        value = json.loads(fs_hot.read_bytes(path, MAX_SETTINGS))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


PROGRAM = CopilotProgram()
