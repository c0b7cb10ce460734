"""The terminal: it gets its settings back, whatever ends the application, and lines as it and the person want them."""

import asyncio
import signal
import sys
import termios
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from memtui.views import glyphs

# Mouse, bracketed paste and focus reports off, keyboard as before; line wrap on, main screen, cursor shown.
RESET = "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?2004l\x1b[?1004l\x1b[<u\x1b[?7h\x1b[?1049l\x1b[?25h"
# How long leaving in order may take: writing to a terminal that is gone may block for ever.
LEAVE_SECONDS = 5


@contextmanager
def guarded(leave: Callable[[int], None]) -> Iterator[None]:
    """Leave in order, with an exit code, when a signal ends the process; restore the terminal after the block."""

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


def filters(env: Mapping[str, str], setting: object, *, no_color: bool) -> list[LineFilter]:
    """Return the filters for a terminal. `setting` is the value of `glyphs` in the settings."""
    line_filters: list[LineFilter] = [Uncoloured()] if no_color else []
    if glyphs.plain(env, setting):
        line_filters.append(Ascii(whole=glyphs.only_ascii(env)))
    return line_filters


class Ascii(LineFilter):
    """ASCII in place of the characters that memtui and Textual draw with; with `whole`, in place of all others too."""

    def __init__(self, *, whole: bool) -> None:
        super().__init__()
        self.replace = _as_ascii if whole else lambda char: glyphs.PLAIN.get(char, char)

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        return [Segment("".join(map(self.replace, text)), style, control) for text, style, control in segments]


@lru_cache(4096)
def _as_ascii(char: str) -> str:
    from unicodedata import normalize

    if char.isascii():
        return char
    bare = normalize("NFKD", char)[:1]
    width = cell_len(char)
    return glyphs.PLAIN.get(char) or (bare if bare.isascii() and width == 1 else "?" * width)


class Uncoloured(LineFilter):
    """Named colours as the colour of text, before Textual makes them gray, in which red is hard to read."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        return [Segment(text, _uncoloured(style), control) for text, style, control in segments]


@lru_cache(1024)
def _uncoloured(style: Style | None) -> Style | None:
    is_named = style is not None and style.color is not None and style.color.triplet is None
    return style + Style(color="default") if style is not None and is_named else style
