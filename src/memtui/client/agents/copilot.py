"""Copilot CLI as a program on this machine."""

import json
import os
from collections.abc import Callable, Iterator
from typing import Any

from memtui.base import fastjson_hot, fs_hot, paths_hot
from memtui.client.agents import copilot_hot
from memtui.client.agents.program import Env, Program, event_table

MAX_SETTINGS = 1 << 20
OURS = "/memtui/hooks/launch.py"  # in the commands of our hooks
# The event whose hooks replace each other's text, by both of its names.
PROMPT_EVENTS = ("UserPromptSubmit", "userPromptSubmitted")


class CopilotProgram(Program):
    """Copilot CLI. Its hooks of one event run one after another, so each has little time."""

    name = "copilot"
    title = "Copilot CLI"
    command = "copilot"
    resumes = "copilot --resume={}"
    events = event_table(without="SessionStart")

    def home(self, env: Env) -> str:
        return copilot_hot.home(env)

    def hooks_file(self, env: Env) -> str:
        return self.home(env) + copilot_hot.HOOKS_FILE

    def whole_file(self, command: Callable[[str], str]) -> str | None:
        hooks = {}
        for event in self.events:
            hooks[event.own] = [{"type": "command", "bash": command(event.name), "timeoutSec": event.timeout}]
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
        """Yield the files with a prompt hook of others that runs behind ours: the user's files of hooks run in the
        reverse order of their names (1.0.102), then the settings, then what the project has."""
        directory, name = os.path.split(self.hooks_file(env))
        project = paths_hot.project_root(env.get("PWD", "/"))
        files = [path for path in _files(directory) if path < f"{directory}/{name}"]
        files += [self.home(env) + "/settings.json", *_files(project + "/.github/hooks")]
        files += [f"{project}/.claude/{name}.json" for name in ("settings", "settings.local")]
        for path in files:
            hooks = fastjson_hot.table(_read(path), "hooks")
            rows = [json.dumps(row) for event in PROMPT_EVENTS for row in fastjson_hot.rows(hooks, event)]
            if any(OURS not in row for row in rows):
                yield path

    def sessions(self, env: Env) -> Iterator[str]:
        top = self.home(env) + copilot_hot.SESSIONS
        for name in paths_hot.names_in(top):
            path = f"{top}/{name}{copilot_hot.EVENTS_FILE}"
            if os.path.isfile(path):
                yield path


def _files(directory: str) -> list[str]:
    """List the files of hooks in a directory in the order in which they run."""
    names = sorted(paths_hot.names_in(directory), reverse=True)
    return [f"{directory}/{name}" for name in names if name.endswith(".json")]


def _read(path: str) -> dict[str, Any]:
    try:
        value = json.loads(fs_hot.read_bytes(path, MAX_SETTINGS))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


PROGRAM = CopilotProgram()
