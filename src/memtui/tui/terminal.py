"""The terminal's settings and the process's signals: the terminal is given back as it was, whatever ends the
application."""

import asyncio
import signal
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# Mouse, bracketed paste and focus reports off, keyboard as before; line wrap on, main screen, cursor shown.
RESET = "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?2004l\x1b[?1004l\x1b[<u\x1b[?7h\x1b[?1049l\x1b[?25h"
# How long leaving in order may take: writing to a terminal that is gone may block for ever.
LEAVE_SECONDS = 5


@contextmanager
def guarded(leave: Callable[[int], None]) -> Iterator[None]:
    """Leave in order when a signal ends the process; `leave` gets the exit code that a shell would report. Restore the
    terminal after the block, if Textual failed to do so itself: its settings are still in place then."""

    def handle(number: int, _: object) -> None:
        end_soon()
        try:
            asyncio.get_running_loop().call_soon_threadsafe(leave, 128 + number)
        except RuntimeError:  # the event loop does not run yet, or has ended
            raise SystemExit(128 + number) from None

    before = _settings()
    handlers = {number: signal.signal(number, handle) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)}
    try:
        yield
    finally:
        signal.alarm(0)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if before is not None and _settings() not in (None, before):
            termios.tcsetattr(0, termios.TCSANOW, before)
            print(RESET, end="", file=sys.__stderr__, flush=True)


def _settings() -> list[Any] | None:
    try:
        return termios.tcgetattr(0)
    except termios.error:
        return None


def end_soon() -> None:
    """End the process after `LEAVE_SECONDS`, in case leaving in order hangs."""
    signal.alarm(LEAVE_SECONDS)
