"""memtui in tmux: a terminal that others wrote, between memtui and what is seen."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from types import TracebackType
from typing import Self

import pytest

from waiting import PATIENCE

from .client import SOURCES, World
from .screen import COLUMNS, LINES

PAUSE = 0.1


def tmux_or_skip() -> str:
    """The program; a failure in CI if it is missing, else a skip that says so."""
    found = shutil.which("tmux")
    if found:
        return found
    if os.environ.get("CI"):
        pytest.fail("tmux is missing")
    pytest.skip("needs tmux")


class TmuxTerminal:
    """`memtui …` in a tmux server of its own. As `MemtuiTerminal`, but seen through `capture-pane`."""

    def __init__(
        self, world: World, *args: str, size: tuple[int, int] = (COLUMNS, LINES), in_shell: bool = False
    ) -> None:
        self._tmux = tmux_or_skip()
        # A socket's path has at most 107 bytes, and the world's own can be longer.
        self._sockets = tempfile.TemporaryDirectory(prefix="tmux-")
        self._env = world.environment({"PYTHONPATH": str(SOURCES), "TMUX_TMPDIR": self._sockets.name})
        command = shlex.join([sys.executable, "-m", "memtui", *args])
        start = ["new-session", "-d", "-s", "t", "-x", str(size[0]), "-y", str(size[1]), "-c", str(world.project)]
        self._run("-f", "/dev/null", *start, "bash --norc --noprofile" if in_shell else command)
        if in_shell:
            self.press(command + "\n")

    def _run(self, *words: str) -> str:
        return subprocess.run(
            [self._tmux, "-L", "memtui", *words], env=self._env, capture_output=True, text=True
        ).stdout

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._run("kill-server")
        self._sockets.cleanup()

    @property
    def text(self) -> str:
        """What is on the screen now."""
        return self._run("capture-pane", "-p", "-t", "t")

    @property
    def running(self) -> bool:
        """Whether memtui has not ended."""
        return bool(self._run("list-sessions").strip())

    def see(self, *patterns: str, seconds: float = PATIENCE) -> str:
        """Wait until the screen shows all of these at once; returns the screen."""
        deadline = time.monotonic() + seconds
        while missing := [p for p in patterns if not re.search(p, text := self.text)]:
            if time.monotonic() > deadline or not self.running:
                pytest.fail(f"never seen: {missing}; the screen:\n{text}")
            time.sleep(PAUSE)
        return self.text

    def press(self, keys: str) -> None:
        """Type, byte by byte as a person does."""
        for byte in keys.encode():
            self._run("send-keys", "-t", "t", "-H", f"{byte:02x}")

    def resize(self, columns: int, lines: int) -> None:
        """Give the window another size."""
        self._run("resize-window", "-t", "t", "-x", str(columns), "-y", str(lines))
