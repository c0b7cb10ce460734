"""Codex as a program on this machine."""

from collections.abc import Iterator

from memtui.base import paths_hot
from memtui.client.agents.program import Env, Program


class CodexProgram(Program):
    """Codex."""

    name = "codex"
    title = "Codex"
    command = "codex"

    def home(self, env: Env) -> str:
        return env.get("CODEX_HOME") or paths_hot.home(env) + "/.codex"

    def hooks_file(self, env: Env) -> str:
        return self.home(env) + "/hooks.json"

    def sessions(self, env: Env) -> Iterator[str]:
        yield from ()


PROGRAM = CodexProgram()
