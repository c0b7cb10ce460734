"""The driver that reads the terminal. Input that it can't read ends neither the reading nor the application.

A terminal is trusted with nothing: keys, sizes and mouse positions can be impossible.
"""

import codecs
import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, cast

from textual import events
from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver
from textual.drivers.linux_driver import LinuxDriver
from textual.keys import Keys
from textual.message import Message

if TYPE_CHECKING:
    from memtui.tui.services import Services

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
    """Textual's driver, except that it skips input that it can't read."""

    def _sigcont_application(self, *args: object) -> None:
        """Take the terminal again when the process continues, unless the application ends."""
        if not cast("Services", self._app).net.leaving:
            super()._sigcont_application(*args)

    def _enable_mouse_pixels(self) -> None:
        """Leave the mouse as it is: its positions are wanted in cells."""

    def process_message(self, message: Message) -> None:
        """Pass on what was read, but for a size that no terminal has."""
        if not isinstance(message, events.Resize) or (message.size.width in _SIZES and message.size.height in _SIZES):
            super().process_message(message)

    def run_input_thread(self) -> None:
        app = cast("Services", self._app)

        def report(error: Exception) -> None:
            app.call_later(app.net.report, "input", error)

        # The method below looks these names up in its module.
        vars(linux_driver).update(getincrementaldecoder=_decoder, XTermParser=partial(_Parser, report))
        super().run_input_thread()
