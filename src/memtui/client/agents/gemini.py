"""Gemini CLI as a program on this machine."""

from collections.abc import Iterator

from memtui.base import paths_hot
from memtui.client.agents.program import Env, Program


class GeminiProgram(Program):
    """Gemini CLI."""

    name = "gemini"
    title = "Gemini CLI"
    command = "gemini"

    def home(self, env: Env) -> str:
        return paths_hot.home(env) + "/.gemini"

    def hooks_file(self, env: Env) -> str:
        return self.home(env) + "/settings.json"

    def sessions(self, env: Env) -> Iterator[str]:
        yield from ()


PROGRAM = GeminiProgram()
