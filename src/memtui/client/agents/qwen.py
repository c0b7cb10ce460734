"""Qwen Code as a program on this machine."""

from collections.abc import Iterator

from memtui.base import paths_hot
from memtui.client.agents.program import Env, Program


class QwenProgram(Program):
    """Qwen Code."""

    name = "qwen"
    title = "Qwen Code"
    command = "qwen"

    def home(self, env: Env) -> str:
        return paths_hot.home(env) + "/.qwen"

    def hooks_file(self, env: Env) -> str:
        return self.home(env) + "/settings.json"

    def sessions(self, env: Env) -> Iterator[str]:
        yield from ()


PROGRAM = QwenProgram()
