"""What Textual 8 lacks, with its issue there, if any. A test fails when a newer version no longer needs a piece."""

import codecs
import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, cast

from textual import events, screen
from textual._compositor import ChopsUpdate, Compositor, CompositorMap, ReflowResult
from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver
from textual.drivers.linux_driver import LinuxDriver
from textual.geometry import Size
from textual.keys import Keys
from textual.message import Message
from textual.widget import Widget

# A whole control sequence with parameters: a key, or a report that Textual reads itself: of the mouse, or of a mode.
WHOLE = re.compile(r"\x1b\[[0-?]+[ -/]*[@-~]")
REPORT = re.compile(r"\x1b\[(?:<?[\d;-]+[mM]|\?\d+;\d+\$y)")
SIZES = range(1, 4097)  # columns and lines of a terminal: a larger one would take gigabytes, and none has no cell


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
