"""The client as a person meets it: in a terminal."""

import contextlib
import re
import subprocess
import time
from types import TracebackType

import pytest

from waiting import PATIENCE

from .client import World
from .screen import MemtuiTerminal, without_escapes


class Terminal(MemtuiTerminal):
    """An interactive session of the client, which asks before it uses a tool. What counts is what it painted since the last
    line that was typed, and not where."""

    def __init__(self, world: World, *args: str) -> None:
        asking = ("--permission-mode", "default")
        super().__init__(world, *asking, *args, size=(150, 50), program=(str(world.binary),))
        self.see(r"for\s*(shortcuts|agents)")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.say("/exit")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(3)
        super().__exit__(kind, error, trace)

    def see(self, pattern: str, seconds: float = PATIENCE) -> str:
        """Wait until something that matches is painted after the last key; fails if it is not. A blank in the pattern
        stands for any blanks or none: a newer client moves over them instead of painting them."""
        pattern = pattern.replace(" ", r"\s*")
        deadline = time.monotonic() + seconds
        with self._more:
            while not (match := re.search(pattern, text := without_escapes(self.painted))):
                if time.monotonic() > deadline or not self.running:
                    pytest.fail(f"the terminal never showed {pattern!r}: {text[-1500:]}")
                self._more.wait(0.1)
        return match[0]

    def say(self, text: str) -> None:
        """Type a line and press Enter. What was painted before is forgotten."""
        super().press(text)
        time.sleep(0.4)  # keys that come in one burst count as a paste, Enter included
        self._enter()

    def refuse(self, why: str) -> None:
        """Go to the last answer of a permission dialog, No, and say why."""
        self.press("\x1b[A", "\t", why)
        time.sleep(0.5)
        self._enter()

    def approve(self, more: str) -> None:
        """Say more to the first answer of a permission dialog, Yes, and choose it."""
        self.press("\t", more)
        time.sleep(0.5)
        self._enter()

    def press(self, *keys: str) -> None:
        """Press keys one by one."""
        for key in keys:
            time.sleep(0.5)
            super().press(key)

    def _enter(self) -> None:
        with self._more:
            self.painted = ""
        super().press("\r")
