"""Copilot CLI as a program on this machine."""

from collections.abc import Iterator

from memtui.base import paths_hot
from memtui.client.agents.program import Env, Program


class CopilotProgram(Program):
    """Copilot CLI."""

    name = "copilot"
    title = "Copilot CLI"
    command = "copilot"

    def home(self, env: Env) -> str:
        return paths_hot.home(env) + "/.copilot"

    def hooks_file(self, env: Env) -> str:
        return self.home(env) + "/hooks/memtui.json"

    def sessions(self, env: Env) -> Iterator[str]:
        yield from ()


PROGRAM = CopilotProgram()
