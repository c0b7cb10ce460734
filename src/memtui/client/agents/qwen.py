"""Qwen Code as a program on this machine."""

import os
from collections.abc import Iterator

from memtui.base import fastjson_hot, fs_hot, paths_hot
from memtui.client.agents.program import Env, Program, event_table

OFF = "{path} switches hooks off (disableAllHooks)."


class QwenProgram(Program):
    """Qwen Code."""

    name = "qwen"
    title = "Qwen Code"
    command = "qwen"
    allows_comments = True
    resumes = "qwen --resume {}"
    # Milliseconds for 0.15; newer versions read numbers from 1,000 on so, and smaller ones as seconds.
    events = event_table(1000)

    def home(self, env: Env) -> str:
        return paths_hot.normal(env.get("QWEN_HOME") or paths_hot.home(env) + "/.qwen")

    def hooks_file(self, env: Env) -> str:
        return self.home(env) + "/settings.json"

    def notes(self, env: Env) -> list[str]:
        return [OFF.format(path=self.hooks_file(env))] if self._settings(env).get("disableAllHooks") is True else []

    def sessions(self, env: Env) -> Iterator[str]:
        advanced = fastjson_hot.table(self._settings(env), "advanced")
        place = env.get("QWEN_RUNTIME_DIR") or fastjson_hot.text(advanced, "runtimeOutputDir")
        top = paths_hot.normal(os.path.expanduser(place)) if place.startswith(("/", "~")) else self.home(env)
        for project in paths_hot.names_in(top + "/projects"):
            for directory in ("chats", "chats/archive"):
                path = f"{top}/projects/{project}/{directory}"
                yield from (f"{path}/{name}" for name in paths_hot.names_in(path) if name.endswith(".jsonl"))

    def _settings(self, env: Env) -> dict[str, object]:
        try:
            return fastjson_hot.loads_dict(fs_hot.read(self.hooks_file(env), "settings"))
        except OSError:
            return {}


PROGRAM = QwenProgram()
