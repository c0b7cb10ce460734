"""The driver that reads the terminal. Input that it can't read ends neither the reading nor the application."""

import codecs
import re
from collections.abc import Callable, Iterable

from textual import events
from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver
from textual.drivers.linux_driver import LinuxDriver
from textual.keys import Keys

from memtui.tui.safety_net import is_leaving

# A whole control sequence with parameters: a key, or a report that Textual reads itself: of the mouse, or of a mode.
_WHOLE = re.compile(r"\x1b\[[0-?]+[ -/]*[@-~]")
_REPORT = re.compile(r"\x1b\[(?:<?[\d;-]+[mM]|\?\d+;\d+\$y)")


def _decoder(encoding: str) -> Callable[[], codecs.IncrementalDecoder]:
    """Return what `codecs.getincrementaldecoder` does, but with a replacement character for bytes that are not in the
    encoding: they come from a terminal that is not UTF-8, and with pasted text."""
    decoder = codecs.getincrementaldecoder(encoding)
    return lambda: decoder(errors="replace")


class _Parser(XTermParser):
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
    """Textual's driver, except that it skips input that it can't read, and ignores stop and continue signals while the
    application ends: continuing would take the terminal again."""

    def _sigtstp_application(self, *args: object) -> None:
        if not is_leaving(self._app):
            super()._sigtstp_application(*args)

    def _sigcont_application(self, *args: object) -> None:
        if not is_leaving(self._app):
            super()._sigcont_application(*args)

    def run_input_thread(self) -> None:
        """Read keys until the application ends."""
        # The method below looks these names up in its module.
        vars(linux_driver).update(getincrementaldecoder=_decoder, XTermParser=_Parser)
        super().run_input_thread()
