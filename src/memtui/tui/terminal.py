"""The terminal, which gets its settings back whatever ends the application, and what it and the person see: colours."""

import asyncio
import codecs
import dataclasses
import re
import signal
import sys
import termios
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any, cast

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from textual import events, screen
from textual._compositor import ChopsUpdate, Compositor, CompositorMap, ReflowResult
from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.color import Color
from textual.css.stylesheet import Stylesheet
from textual.drivers import linux_driver
from textual.drivers.linux_driver import LinuxDriver
from textual.filter import LineFilter
from textual.geometry import Size
from textual.keys import Keys
from textual.message import Message
from textual.theme import BUILTIN_THEMES, Theme
from textual.widget import Widget

from memtui.views import glyphs

# A whole control sequence with parameters: a key, or a report that Textual reads itself: of the mouse, or of a mode.
WHOLE = re.compile(r"\x1b\[[0-?]+[ -/]*[@-~]")
REPORT = re.compile(r"\x1b\[(?:<?[\d;-]+[mM]|\?\d+;\d+\$y)")
# Columns and lines that a terminal may say it has: a larger screen would take gigabytes, and none has no cell.
SIZES = range(1, 4097)

# Mouse, bracketed paste and focus reports off, keyboard as before; line wrap on, main screen, cursor shown.
RESET = "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?2004l\x1b[?1004l\x1b[<u\x1b[?7h\x1b[?1049l\x1b[?25h"
# How long leaving in order may take: writing to a terminal that is gone may block for ever.
LEAVE_SECONDS = 5
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
        return {
            "rule": "ansi_bright_black",
            "rule-over": "ansi_bright_black",
            "cursor-row": "ansi_blue",
            "cursor-text": "ansi_bright_white",
            "cursor-left": "ansi_bright_black",
            "scrollbar": "ansi_bright_black",
            "scrollbar-background": "ansi_default",
        }
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
        self._current = variables
        self._changed = False

    def set_variables(self, variables: dict[str, str]) -> None:
        if variables != self._current:
            self._current, self._changed = variables, True
            super().set_variables(variables)

    def reparse(self) -> None:
        """Parse all styles again if the variables have changed. What was added else is parsed when it is needed."""
        if self._changed:
            super().reparse()
            self._changed = False


# What Textual 8 lacks, with its issue there, if any. A test fails when a newer version no longer needs a piece.


class TerminalParser(XTermParser):
    """Textual's parser, which goes on behind what it can't parse; `report` gets the error (no issue)."""

    def __init__(self, report: Callable[[Exception], None], debug: bool = False) -> None:
        super().__init__(debug)
        self._report = report

    def feed(self, data: str) -> Iterable[Message]:
        return self._guard(super().feed(data))

    def tick(self) -> Iterable[Message]:
        return self._guard(super().tick())

    def _guard(self, messages: Iterable[Message]) -> Iterable[Message]:
        try:
            yield from messages
        except ParseError:  # the end
            raise
        except Exception as error:  # the rest of this piece is skipped
            self._gen = self.parse(self._tokens.append)
            self._awaiting = next(self._gen)
            self._timeout_time = None
            self._report(error)

    def parse_mouse_code(self, code: str) -> Message | None:
        """Read a mouse position in cells: Textual divides pixels by a size that may be zero (textual#6706)."""
        self.mouse_pixels = False
        return super().parse_mouse_code(code)

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        """Return the keys of a sequence; none of one that is no key, whose characters Textual takes (textual#3742)."""
        try:
            keys = list(super()._sequence_to_key_events(sequence, alt))
        except (ValueError, OverflowError):  # the code is no character, or no number
            keys = []
        if not keys and WHOLE.fullmatch(sequence) and not REPORT.fullmatch(sequence):
            keys = [events.Key(Keys.Ignore, sequence)]
        return keys


class TerminalDriver(LinuxDriver):
    """Textual's driver, which skips input that it can't read, and sizes that no terminal has (no issue)."""

    def _enable_mouse_pixels(self) -> None:
        """Leave the mouse as it is: its positions are wanted in cells."""

    def process_message(self, message: Message) -> None:
        if not isinstance(message, events.Resize) or (message.size.width in SIZES and message.size.height in SIZES):
            super().process_message(message)

    def run_input_thread(self) -> None:
        """Read the terminal with our parser; bytes that are not in the encoding become a sign (textual#6456)."""
        app = cast("Any", self._app)
        parser = partial(TerminalParser, lambda error: app.call_later(app.net.report, "input", error))
        decoder = lambda encoding: partial(codecs.getincrementaldecoder(encoding), errors="replace")
        vars(linux_driver).update(getincrementaldecoder=decoder, XTermParser=parser)  # where the method finds them
        super().run_input_thread()


class WholeCompositor(Compositor):
    """Textual's compositor, which compares a layout with the one on the screen, not with one asked for (no issue)."""

    def __init__(self) -> None:
        super().__init__()
        self._laid_out: CompositorMap = {}

    def reflow(self, parent: Widget, size: Size) -> ReflowResult:
        asked_for = self._full_map if self._visible_map is None else self._visible_map
        self._full_map = self._laid_out
        changed = super().reflow(parent, size)
        self._laid_out = self._full_map
        self._dirty_regions |= {place.visible_region for _, place in asked_for.items() ^ self._full_map.items()}
        return changed

    def render_partial_update(self) -> ChopsUpdate | None:
        """Render what changed; nothing for places without a cell, of which alone Textual makes an update that fails."""
        self._dirty_regions = set(filter(None, self._dirty_regions))
        return super().render_partial_update()


vars(screen).update(Compositor=WholeCompositor)
