"""What Textual 8 lacks. `tests/tui/test_textual_gaps.py` tells what a newer version no longer needs."""

import codecs
import re
from collections.abc import Callable, Iterable
from functools import partial, wraps
from typing import Any, cast

from rich.segment import Segment
from rich.text import Text
from textual import events, screen
from textual._compositor import ChopsUpdate, Compositor, CompositorMap, ReflowResult
from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver
from textual.drivers.linux_driver import LinuxDriver
from textual.geometry import Region, Size
from textual.keys import Keys
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.visual import visualize
from textual.widget import Widget

UNDRAWN = "This can't be drawn; the details are in log/errors.jsonl."
# A whole control sequence with parameters: a key, or a report that Textual reads itself: of the mouse, or of a mode.
WHOLE = re.compile(r"\x1b\[[0-?]+[ -/]*[@-~]")
REPORT = re.compile(r"\x1b\[(?:<?[\d;-]+[mM]|\?\d+;\d+\$y)")
# Columns and lines that a terminal may say it has: a larger screen would take gigabytes, and none has no cell.
SIZES = range(1, 4097)
textual_dispatch_message = MessagePump._dispatch_message  # noqa: SLF001  no hook stands between a handler and the end


def report(pump: MessagePump, where: str, error: Exception, *, by_itself: bool = False) -> None:
    """Report an error to the net of the application. Raises the error again if it has none."""
    net = getattr(pump.app, "net", None)
    if net is None:
        raise error
    net.report(where, error, by_itself=by_itself)


def close_dialog(pump: MessagePump) -> None:
    """Close a dialog that could not be composed or mounted: it would catch all keys."""
    if isinstance(pump, ModalScreen):
        pump.app.call_later(pump.dismiss, None)


async def dispatch_message(self: MessagePump, message: Message) -> None:
    """Handle a message as Textual does; an error ends the handler alone."""
    try:
        await textual_dispatch_message(self, message)
    except Exception as error:
        begins = isinstance(message, events.Load | events.Compose | events.Mount)
        net = getattr(self.app, "net", None)
        if begins and net is not None and self is self.app:
            net.give_up(error)
            return
        report(self, f"{type(message).__name__} in {type(self).__name__}", error)
        if begins:
            close_dialog(self)


def undrawn(crop: Region) -> list[Strip]:
    first = Strip([Segment(UNDRAWN)]).adjust_cell_length(crop.width).crop(0, crop.width)
    return [first, *[Strip.blank(crop.width)] * (crop.height - 1)][: crop.height]


def guard_drawing(draw: Callable[..., Any], instead: Callable[..., Any] = lambda _, crop: undrawn(crop)) -> Any:
    """Return a method that draws a widget; a failure is reported, and what `instead` returns is drawn."""

    @wraps(draw)
    def drawn(self: Widget, *args: Any, **kwargs: Any) -> Any:
        try:
            return draw(self, *args, **kwargs)
        except Exception as error:
            report(self, f"drawing {type(self).__name__}", error, by_itself=True)
            return instead(self, *args)

    return drawn


MessagePump._dispatch_message = dispatch_message  # type: ignore[method-assign]  # noqa: SLF001
Widget._render = guard_drawing(Widget._render, lambda widget: visualize(widget, Text(UNDRAWN)))  # type: ignore[method-assign]  # noqa: SLF001
Widget.render_lines = guard_drawing(Widget.render_lines)  # type: ignore[method-assign]


class TerminalParser(XTermParser):
    """Textual's parser, which goes on behind what it can't parse; `report` gets the error."""

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
        """Return the keys of a sequence. One that is no key is ignored: Textual takes its characters for keys."""
        try:
            keys = list(super()._sequence_to_key_events(sequence, alt))
        except (ValueError, OverflowError):  # the code is no character, or no number
            keys = []
        if not keys and WHOLE.fullmatch(sequence) and not REPORT.fullmatch(sequence):
            keys = [events.Key(Keys.Ignore, sequence)]
        return keys


class TerminalDriver(LinuxDriver):
    """Textual's driver, which skips input that it can't read and sizes that no terminal has."""

    def _enable_mouse_pixels(self) -> None:
        """Leave the mouse as it is: its positions are wanted in cells."""

    def process_message(self, message: Message) -> None:
        if not isinstance(message, events.Resize) or (message.size.width in SIZES and message.size.height in SIZES):
            super().process_message(message)

    def run_input_thread(self) -> None:
        app = cast("Any", self._app)
        parser = partial(TerminalParser, lambda error: app.call_later(app.net.report, "input", error))
        # The method below looks these names up in its module. Bytes that are not in the encoding become a sign.
        decoder = lambda encoding: partial(codecs.getincrementaldecoder(encoding), errors="replace")
        vars(linux_driver).update(getincrementaldecoder=decoder, XTermParser=parser)
        super().run_input_thread()


class WholeCompositor(Compositor):
    """Textual's compositor, which compares a layout with the one on the screen, not with one only asked for."""

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
