"""The client as a person meets it: in a terminal."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from types import TracebackType
from typing import Self

import pytest

from waiting import PATIENCE

from .client import World

_ESCAPES = re.compile(r"\x1b\[[0-9;?<>=]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[=>78()][AB0]?")


class Terminal:
    """An interactive session, which asks before it uses a tool, in a pseudo-terminal of 150 x 50. `text` is all that
    was ever painted, without escapes."""

    def __init__(self, world: World, *args: str) -> None:
        self.painted = b""
        self._pid, self._fd = pty.fork()
        if self._pid == 0:
            try:
                os.chdir(world.project)
                asking = [str(world.binary), "--permission-mode", "default"]
                os.execve(world.binary, [*asking, *args], world.environment())
            finally:
                os._exit(127)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 150, 0, 0))
        self.see(r"for\s*(shortcuts|agents)")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def text(self) -> str:
        return _ESCAPES.sub("", self.painted.decode("utf-8", "replace"))

    def see(self, pattern: str, seconds: float = PATIENCE) -> str:
        """Wait until something that matches is painted after the last key; fails if it is not. A blank in the pattern
        stands for any blanks or none: a newer client moves over them instead of painting them."""
        pattern = pattern.replace(" ", r"\s*")
        deadline = time.monotonic() + seconds
        while not (found := re.search(pattern, self.text)):
            if time.monotonic() > deadline or not self._pump(0.1):
                pytest.fail(f"the terminal never showed {pattern!r}: {self.text[-1500:]}")
        return found[0]

    def say(self, text: str) -> None:
        """Type a line and press Enter. What was painted before is forgotten."""
        os.write(self._fd, text.encode())
        self._wait(0.4)  # keys that come in one burst count as a paste, Enter included
        self.painted = b""
        os.write(self._fd, b"\r")

    def refuse(self, why: str) -> None:
        """Go to the last answer of a permission dialog, No, and say why."""
        for key in [b"\x1b[A", b"\t", why.encode()]:
            os.write(self._fd, key)
            self._wait(0.5)
        self.painted = b""
        os.write(self._fd, b"\r")

    def approve(self, more: str) -> None:
        """Say more to the first answer of a permission dialog, Yes, and choose it."""
        self._wait(0.5)
        for key in [b"\t", more.encode()]:
            os.write(self._fd, key)
            self._wait(0.5)
        self.painted = b""
        os.write(self._fd, b"\r")

    def press(self, *keys: str) -> None:
        """Press keys one by one."""
        for key in keys:
            self._wait(0.4)
            os.write(self._fd, key.encode())

    def close(self) -> None:
        """End the session, by force if `/exit` does not."""
        if self._pid == 0:
            return
        try:
            self.say("/exit")
            self._wait(3)
            os.kill(self._pid, signal.SIGKILL)
        except OSError:
            pass
        os.waitpid(self._pid, 0)
        os.close(self._fd)
        self._pid = 0

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self._pump(0.05):
            pass

    def _pump(self, seconds: float) -> bool:
        """Take what was painted; False when the client is gone."""
        if select.select([self._fd], [], [], seconds)[0]:
            try:
                data = os.read(self._fd, 1 << 16)
            except OSError:
                return False
            self.painted += data
            return bool(data)
        return True
