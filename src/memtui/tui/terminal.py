"""The terminal, which gets its settings back whatever ends the application, and what it and the person see: colours."""

import asyncio
import dataclasses
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
from rich.terminal_theme import TerminalTheme
from textual.color import Color
from textual.css.stylesheet import Stylesheet
from textual.filter import LineFilter
from textual.theme import BUILTIN_THEMES, Theme

from memtui.views import glyphs

# Mouse, bracketed paste and focus reports off, keyboard as before; line wrap on, main screen, cursor shown.
RESET = "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?2004l\x1b[?1004l\x1b[<u\x1b[?7h\x1b[?1049l\x1b[?25h"
LEAVE_SECONDS = 5  # how long leaving in order may take: writing to a terminal that is gone may block for ever
BLACK = (0, 0, 0)
# Textual's own, with a red, blue and magenta that can be read on the cursor's row too.
DARK_NAMED = [(26, 26, 26), (255, 107, 133), (152, 224, 36), (253, 151, 31), (150, 185, 255), (255, 140, 210)]
ON_DARK = TerminalTheme((12, 12, 12), (217, 217, 217), [*DARK_NAMED, (88, 209, 235), (196, 197, 181)])
# Textual's yellow and green can't be read on a light background.
LIGHT_NAMED = [BLACK, (143, 20, 20), (15, 81, 34), (107, 65, 0), (31, 63, 153), (107, 31, 122), (0, 74, 102)]
ON_LIGHT = TerminalTheme((247, 247, 247), BLACK, [*LIGHT_NAMED, (90, 90, 90)])
LIGHT = dataclasses.replace(
    BUILTIN_THEMES["textual-light"],
    foreground="#080808",
    accent="#8a4b00",
    warning="#8a4b00",
    error="#a1203f",
    success="#1e6b34",
)
# How much of the primary colour the cursor's row has, in percent: less than usual where a named colour could not be
# read on it, by WCAG's contrast of 3 for large letters and signs.
CURSOR_DARK, CURSOR_LIGHT = 35, 20
CURSORS = {
    **dict.fromkeys(("nord", "catppuccin-frappe"), 20),
    **dict.fromkeys(("catppuccin-mocha", "catppuccin-macchiato", "atom-one-dark"), 25),
    **dict.fromkeys(("gruvbox", "dracula", "rose-pine-moon"), 30),
}


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


def theme_variables(theme: Theme) -> dict[str, str]:
    """Return the CSS variables for rules, the cursor's row and scroll bars: visible but quiet in any theme."""
    if theme.ansi:
        gray = dict.fromkeys(("rule", "rule-over", "cursor-left", "scrollbar"), "ansi_bright_black")
        cursor_row = {"cursor-row": "ansi_blue", "cursor-text": "ansi_bright_white"}
        return {**gray, **cursor_row, "scrollbar-background": "ansi_default"}
    ink = theme.foreground or ("#e0e0e0" if theme.dark else "#080808")
    cursor = CURSORS.get(theme.name, CURSOR_DARK if theme.dark else CURSOR_LIGHT)
    return {
        "rule": f"{ink} 45%",
        "rule-over": f"{ink} 55%",
        "cursor-row": f"{theme.primary} {cursor}%",
        "cursor-text": ink,
        "cursor-left": f"{ink} {12 if theme.dark else 6}%",
        **dict.fromkeys(("scrollbar", "scrollbar-hover", "scrollbar-active"), f"{ink} 55%"),
        **dict.fromkeys((f"scrollbar-background{state}" for state in ("", "-hover", "-active")), f"{ink} 8%"),
    }


def theme_named(setting: object) -> str:
    """Return Textual's name of a theme, that of the dark theme if this version of Textual does not have it."""
    name = f"textual-{setting}" if setting in {"dark", "light"} else str(setting)
    return name if name in BUILTIN_THEMES else "textual-dark"


class KeptStylesheet(Stylesheet):
    """Keeps its rules while its variables stay the same: Textual parses all again when a screen is first shown."""

    def __init__(self, variables: dict[str, str]) -> None:
        super().__init__(variables=variables)
        self._current, self._changed = variables, False

    def set_variables(self, variables: dict[str, str]) -> None:
        if variables != self._current:
            self._current, self._changed = variables, True
            super().set_variables(variables)

    def reparse(self) -> None:
        """Parse all styles again if the variables have changed. What was added else is parsed when it is needed."""
        if self._changed:
            super().reparse()
            self._changed = False
