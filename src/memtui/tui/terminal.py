"""The terminal: what Textual lacks or does otherwise. Its settings come back whatever ends the application; input that
can't be read ends neither the reading nor the application, for a terminal can send impossible keys, sizes and mouse
positions; and lines are drawn for terminals that lack characters, and for people who want no colours."""

import asyncio
import codecs
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
from textual import events, screen
from textual._compositor import ChopsUpdate, Compositor, CompositorMap, ReflowResult
from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.color import Color
from textual.drivers import linux_driver
from textual.drivers.linux_driver import LinuxDriver
from textual.filter import LineFilter
from textual.geometry import Size
from textual.keys import Keys
from textual.message import Message
from textual.widget import Widget

from memtui.views import glyphs

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


# A whole control sequence with parameters: a key, or a report that Textual reads itself: of the mouse, or of a mode.
_WHOLE = re.compile(r"\x1b\[[0-?]+[ -/]*[@-~]")
_REPORT = re.compile(r"\x1b\[(?:<?[\d;-]+[mM]|\?\d+;\d+\$y)")

# Columns and lines that a terminal may say it has: a larger screen would take gigabytes, and none has no cell.
_SIZES = range(1, 4097)


def _decoder(encoding: str) -> Callable[[], codecs.IncrementalDecoder]:
    """Return what `codecs.getincrementaldecoder` does, but with a replacement character for bytes that are not in the
    encoding: they come from a terminal that is not UTF-8, and with pasted text."""
    decoder = codecs.getincrementaldecoder(encoding)
    return lambda: decoder(errors="replace")


class _Parser(XTermParser):
    """Textual's parser, which goes on behind what it can't parse; `report` gets the error."""

    def __init__(self, report: Callable[[Exception], None], debug: bool = False) -> None:
        super().__init__(debug)
        self._report = report

    def feed(self, data: str) -> Iterable[Message]:
        """Yield what was read; the rest of a piece that can't be parsed is skipped."""
        return self._guard(super().feed(data))

    def tick(self) -> Iterable[Message]:
        return self._guard(super().tick())

    def _guard(self, messages: Iterable[Message]) -> Iterable[Message]:
        try:
            yield from messages
        except ParseError:  # the end
            raise
        except Exception as error:
            self._gen = self.parse(self._tokens.append)
            self._awaiting = next(self._gen)
            self._timeout_time = None
            self._report(error)

    def parse_mouse_code(self, code: str) -> Message | None:
        """Read a mouse position, always in cells. Textual divides pixels by a size that may be zero, absent, or that of
        a terminal which sends cells all the same (Textualize/textual#6706)."""
        self.mouse_pixels = False
        return super().parse_mouse_code(code)

    def _parse_extended_key(self, sequence: str) -> list[events.Key] | None:  # type: ignore[override]  # cached there
        try:
            return super()._parse_extended_key(sequence)
        except (ValueError, OverflowError):  # the code is no character, or no number: an unknown key
            return None

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        """Return the keys of a sequence. A whole one that is no key is ignored: Textual would take its characters for
        keys that were typed."""
        keys = list(super()._sequence_to_key_events(sequence, alt))
        if not keys and _WHOLE.fullmatch(sequence) and not _REPORT.fullmatch(sequence):
            keys = [events.Key(Keys.Ignore, sequence)]
        return keys


class TerminalDriver(LinuxDriver):
    """Textual's driver, except that it skips input that it can't read, and is not stopped while it ends."""

    def _sigtstp_application(self, *args: object) -> None:
        if not cast("Any", self._app).net.leaving:
            super()._sigtstp_application(*args)

    def _sigcont_application(self, *args: object) -> None:
        if not cast("Any", self._app).net.leaving:
            super()._sigcont_application(*args)

    def _enable_mouse_pixels(self) -> None:
        """Leave the mouse as it is: its positions are wanted in cells."""

    def process_message(self, message: Message) -> None:
        """Pass on what was read, but for a size that no terminal has."""
        if not isinstance(message, events.Resize) or (message.size.width in _SIZES and message.size.height in _SIZES):
            super().process_message(message)

    def run_input_thread(self) -> None:
        app = cast("Any", self._app)

        def report(error: Exception) -> None:
            app.call_later(app.net.report, "input", error)

        # The method below looks these names up in its module.
        vars(linux_driver).update(getincrementaldecoder=_decoder, XTermParser=partial(_Parser, report))
        super().run_input_thread()


class WholeCompositor(Compositor):
    """Textual's compositor, except that nothing stays on the screen where it was. Textual compares a new layout with
    the last places that it worked out: also those by the new styles, for who only asked where a widget is."""

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
    """Named colours (red, green …) replaced by the colour of text: Textual makes them gray, in which red is hard to
    read. Must run before Textual's own filters."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        return [Segment(text, _uncoloured(style), control) for text, style, control in segments]


@lru_cache(1024)
def _uncoloured(style: Style | None) -> Style | None:
    is_named = style is not None and style.color is not None and style.color.triplet is None
    return style + Style(color="default") if style is not None and is_named else style
