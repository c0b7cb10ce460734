"""OpenCode as a program on this machine."""

from collections.abc import Iterator

from memtui.base import paths_hot
from memtui.client.agents.program import Env, Program


class OpencodeProgram(Program):
    """OpenCode."""

    name = "opencode"
    title = "OpenCode"
    command = "opencode"

    def home(self, env: Env) -> str:
        return paths_hot.home(env) + "/.config/opencode"

    def hooks_file(self, env: Env) -> str:
        return self.home(env) + "/plugins/memtui.js"

    def sessions(self, env: Env) -> Iterator[str]:
        yield from ()


PROGRAM = OpencodeProgram()
