"""The terminal is given back as it was, whatever ends the application."""

import asyncio
import signal
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# No mouse, no paste brackets, no focus reports, the keyboard as before, wrapped lines, the first screen, the cursor.
RESET = "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?2004l\x1b[?1004l\x1b[<u\x1b[?7h\x1b[?1049l\x1b[?25h"
# A terminal that is gone takes no output, and who waits for it waits for ever.
LEAVE_SECONDS = 5
ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


@contextmanager
def kept() -> Iterator[None]:
    """Textual gives the terminal back itself. Only where its settings are still there, that failed."""
    before = _settings()
    try:
        yield
    finally:
        if before is not None and _settings() not in (None, before):
            termios.tcsetattr(0, termios.TCSANOW, before)
            print(RESET, end="", file=sys.__stderr__, flush=True)


def _settings() -> list[Any] | None:
    try:
        return termios.tcgetattr(0)
    except termios.error:
        return None


@contextmanager
def signals(leave: Callable[[int], None]) -> Iterator[None]:
    """Leave in order when the process is told to end; `leave` gets the exit code that a shell would report."""

    def told(number: int, _: object) -> None:
        end_soon()
        try:
            asyncio.get_running_loop().call_soon_threadsafe(leave, 128 + number)
        except RuntimeError:  # it does not run yet, or no more
            raise SystemExit(128 + number) from None

    before = {number: signal.signal(number, told) for number in ENDING}
    try:
        yield
    finally:
        signal.alarm(0)
        for number, handler in before.items():
            signal.signal(number, handler)


def end_soon() -> None:
    """End the process even if leaving in order hangs."""
    signal.alarm(LEAVE_SECONDS)
