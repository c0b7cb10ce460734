"""The terminal's input: what can't be read of it ends neither the input nor the application."""

import codecs
from collections.abc import Callable

from textual import events
from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver
from textual.drivers.linux_driver import LinuxDriver

from memtui.tui.safety_net import is_leaving


def _decoder(encoding: str) -> Callable[[], codecs.IncrementalDecoder]:
    """As `codecs.getincrementaldecoder`, but bytes of another encoding become a replacement character: from a terminal
    that is not UTF-8, and pasted."""
    found = codecs.getincrementaldecoder(encoding)
    return lambda: found(errors="replace")


class _Parser(XTermParser):
    def _parse_extended_key(self, sequence: str) -> list[events.Key] | None:  # type: ignore[override]  # cached there
        try:
            return super()._parse_extended_key(sequence)
        except (ValueError, OverflowError):  # a code that is no character, or no number: no key that anybody knows
            return None


class TerminalDriver(LinuxDriver):
    """Textual's driver, which passes over what it can't read, and is not stopped any more once it ends: it would
    take the terminal again."""

    def _sigtstp_application(self, *args: object) -> None:
        if not is_leaving(self._app):
            super()._sigtstp_application(*args)

    def _sigcont_application(self, *args: object) -> None:
        if not is_leaving(self._app):
            super()._sigcont_application(*args)

    def run_input_thread(self) -> None:
        """Read keys until the application ends."""
        # The names that the method below looks up.
        vars(linux_driver).update(getincrementaldecoder=_decoder, XTermParser=_Parser)
        super().run_input_thread()
