"""The safety net: an unexpected error stops the handler, worker or drawing that it happens in, not the application.

Textual 8 ends the application at the first one. Errors of workers, timers, callbacks and the layout pass through
`_handle_exception`; those of handlers and actions leave `_dispatch_message`; one while drawing comes at every paint."""

import asyncio
from collections.abc import Callable
from fractions import Fraction
from functools import partial, wraps
from typing import Any

from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.box_model import BoxModel
from textual.css.query import NoMatches
from textual.dom import DOMNode
from textual.geometry import Region, Spacing
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import ModalScreen, Screen
from textual.strip import Strip
from textual.visual import visualize
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import WorkerFailed, active_worker

from memtui.base.errors import MemtuiError
from memtui.base.storage import file_error
from memtui.deliver import error_log
from memtui.tui import terminal

FAILED = "That failed; the details are in log/errors.jsonl."
NOT_LOGGED = "That failed, and log/errors.jsonl can't be written: {}."
UNDRAWN = "This can't be drawn; the details are in log/errors.jsonl."
# What may fail again without a key: the functions of Textual that an error leaves then, and the groups of workers.
REPEATED = frozenset({"_tick", "_process_messages_loop", "_refresh_layout", "_display", "look", "read"})


class SafetyNet:
    """The safety net of an application, which must have it as `net`. It writes unexpected errors to the error log in
    `root`, and shows them in a line by `fail`. `broken`: why the application had to end."""

    def __init__(self, app: App[Any], root: str, fail: Callable[[MemtuiError], None]) -> None:
        App._handle_exception = _handle_exception  # type: ignore[method-assign]  # noqa: SLF001
        MessagePump._dispatch_message = _dispatch_message  # type: ignore[method-assign]  # noqa: SLF001
        for function in _DRAWING:
            setattr(Widget, function.__name__, function)
        self.app, self.root, self.fail = app, root, fail
        self._shown_since_key: set[str] = set()
        self._shown_ever: set[str] = set()
        self.broken: Exception | None = None
        self.leaving = False

    def report(self, where: str, error: BaseException, *, by_itself: bool = False) -> None:
        """Log and show an error, unless that was done since the last key; `by_itself`: unless it was done before. While
        the application ends it is only logged."""
        error = error.error if isinstance(error, WorkerFailed) else error
        if _is_from_removed_widget(error):
            return
        if self.leaving or not self.app.screen_stack:
            if not isinstance(error, NoMatches):  # Textual has removed the widgets
                error_log.add(self.root, f"tui: {where}, on the way out", error)
            return
        places = self._shown_ever if by_itself else self._shown_since_key
        frame = _frames(error)[-1:]
        place = f"{type(error).__name__} {[(each.f_code.co_filename, each.f_lineno) for each in frame]}"
        if place in places:
            return
        places.add(place)
        if isinstance(error, MemtuiError):  # its message says it all
            self.fail(error)
            return
        is_logged = error_log.add(self.root, f"tui: {where}", error)
        words = FAILED if is_logged else NOT_LOGGED.format(type(error).__name__)
        if isinstance(error, OSError) and error.strerror:
            words = f"{file_error(error).message}\n{words}"
        self.fail(MemtuiError(words))

    def give_up(self, error: Exception) -> None:
        """Log an error and end the application, which could not start."""
        self.broken = self.broken or error
        error_log.add(self.root, "tui: start", error)
        self.app.exit(return_code=1)

    def forget_failures(self) -> None:
        """Show errors again that were shown before: a key was pressed, which may have caused them."""
        self._shown_since_key.clear()

    def watch_loop(self) -> None:
        """Handle errors in tasks and callbacks of the event loop that nothing awaits."""

        def failed(_: object, context: dict[str, Any]) -> None:
            error = context.get("exception")
            if isinstance(error, Exception):
                self.handle(error)

        asyncio.get_running_loop().set_exception_handler(failed)

    def handle(self, error: Exception) -> None:
        """Log and show an error at which Textual would end the application."""
        if not self.leaving and not (self.app.is_running and self.app.screen_stack):
            self.give_up(error)
            return
        worker = active_worker.get(None) if isinstance(error, WorkerFailed) else None
        where = worker.group if worker is not None else "".join(frame.f_code.co_name for frame in _frames(error)[:1])
        self.report(where.strip("_") or "callback", error, by_itself=where in REPEATED)

    def terminal_gone(self) -> None:
        """Log that the terminal is gone, and end the process soon even if leaving hangs."""
        if self.broken is None:
            self.broken = OSError("the terminal is gone")
            error_log.add(self.root, "tui: terminal", self.broken)
        terminal.end_soon()


def composed(screen: Widget, body: Callable[[], ComposeResult]) -> ComposeResult:
    """Compose the `body` of a screen. If that fails, a line says so in its place, and a dialog is closed."""
    try:
        yield from body()
    except Exception as error:
        _report(screen, f"composing {type(screen).__name__}", error)
        yield Static(Text(UNDRAWN))
        _close_dialog(screen)


def undrawn(crop: Region) -> list[Strip]:
    first = Strip([Segment(UNDRAWN)]).adjust_cell_length(crop.width).crop(0, crop.width)
    return [first, *[Strip.blank(crop.width)] * (crop.height - 1)][: crop.height]


def _frames(error: BaseException) -> list[Any]:
    frames, trace = [], error.__traceback__
    while trace is not None:
        frames.append(trace.tb_frame)
        trace = trace.tb_next
    return frames


def _is_from_removed_widget(error: BaseException) -> bool:
    """Return whether something queried a widget that is being removed, or is not composed yet. Textual removes the
    children first, while keys, callbacks after the next paint and messages of workers may still arrive."""
    frames = _frames(error)
    node = frames[-1].f_locals.get("self") if frames and isinstance(error, NoMatches) else None
    if isinstance(node, Screen) and not (node.children and all(each.is_mounted for each in node.walk_children(Widget))):
        return True
    return isinstance(node, DOMNode) and (node._pruning or node._closing or node._closed)  # noqa: SLF001  nothing public


def _net(node: MessagePump) -> SafetyNet | None:
    return getattr(node.app, "net", None)


def _report(pump: MessagePump, where: str, error: Exception, *, by_itself: bool = False) -> None:
    """Report an error to the net of the application. Raises the error again if it has none."""
    net = _net(pump)
    if net is None:
        raise error
    net.report(where, error, by_itself=by_itself)


def _close_dialog(pump: MessagePump) -> None:
    """Close a dialog that could not be composed or mounted: it would catch all keys."""
    if isinstance(pump, ModalScreen):
        pump.app.call_later(pump.dismiss, None)


# Textual's own functions, and ours in their places.
_textual_handle_exception = App._handle_exception  # noqa: SLF001
_textual_dispatch_message = MessagePump._dispatch_message  # noqa: SLF001


def _handle_exception(self: App[Any], error: Exception) -> None:
    net = _net(self)
    if net is None:
        _textual_handle_exception(self, error)
    else:
        net.handle(error)


async def _dispatch_message(self: MessagePump, message: Message) -> None:
    try:
        await _textual_dispatch_message(self, message)
    except Exception as error:
        begins = isinstance(message, events.Load | events.Compose | events.Mount)
        net = _net(self)
        if begins and net is not None and self is net.app:
            net.give_up(error)
            return
        _report(self, f"{type(message).__name__} in {type(self).__name__}", error)
        if begins:
            _close_dialog(self)


def _drawing(function: Callable[..., Any], verb: str, instead: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of widgets that draws; a failure is reported, and what `instead` returns is drawn."""

    @wraps(function)
    def drawn(self: Widget, *args: Any, **kwargs: Any) -> Any:
        try:
            return function(self, *args, **kwargs)
        except Exception as error:
            _report(self, f"{verb} {type(self).__name__}", error, by_itself=True)
            return instead(self, *args)

    return drawn


# Also decorates a `render_lines` that does without Textual's.
drawing_lines = partial(_drawing, verb="drawing", instead=lambda _, crop: undrawn(crop))
_DRAWING = (
    _drawing(Widget._render, "drawing", lambda widget: visualize(widget, Text(UNDRAWN))),  # noqa: SLF001
    drawing_lines(Widget.render_lines),
    _drawing(
        Widget._get_box_model,  # noqa: SLF001
        "measuring",
        lambda *_: BoxModel(Fraction(len(UNDRAWN)), Fraction(1), Spacing()),
    ),
)
