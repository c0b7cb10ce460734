"""The safety net: an unexpected error stops the handler, worker or drawing that it happens in, not the application."""

import asyncio
from collections.abc import Callable
from functools import wraps
from traceback import walk_tb
from typing import Any

from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.css.query import NoMatches
from textual.dom import DOMNode
from textual.geometry import Region
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
from memtui.deliver import error_log_hot

UNDRAWN = "This can't be drawn; the details are in log/errors.jsonl."
FAILED = "That failed; the details are in log/errors.jsonl."
NOT_LOGGED = "That failed, and log/errors.jsonl can't be written: {}."
# What may fail again without a key: the functions of Textual that an error leaves then, and the groups of workers.
REPEATED = frozenset({"_tick", "_process_messages_loop", "_refresh_layout", "_display", "look", "read"})


class SafetyNet:
    """The net of an application, its `net`: unexpected errors are logged in `root` and shown by `fail`."""

    def __init__(self, app: App[Any], root: str, fail: Callable[[MemtuiError], None]) -> None:
        self.app, self.root, self.fail = app, root, fail
        self.shown_since_key: set[str] = set()
        self._shown_ever: set[str] = set()
        self.broken: Exception | None = None
        self.leaving = False

    def report(self, where: str, error: BaseException, *, by_itself: bool = False) -> None:
        """Log and show an error once since the last key; `by_itself`: once ever. On the way out only log it."""
        error = error.error if isinstance(error, WorkerFailed) else error
        if _is_from_removed_widget(error):
            return
        if self.leaving or not self.app.screen_stack:
            if not isinstance(error, NoMatches):  # Textual has removed the widgets
                error_log_hot.add(self.root, f"tui: {where}, on the way out", error)
            return
        places = self._shown_ever if by_itself else self.shown_since_key
        place = f"{type(error).__name__} {[(frame.f_code, line) for frame, line in walk_tb(error.__traceback__)][-1:]}"
        if place in places:
            return
        places.add(place)
        if isinstance(error, MemtuiError):  # its message says it all
            self.fail(error)
            return
        is_logged = error_log_hot.add(self.root, f"tui: {where}", error)
        words = FAILED if is_logged else NOT_LOGGED.format(type(error).__name__)
        if isinstance(error, OSError) and error.strerror:
            words = f"{file_error(error).message}\n{words}"
        self.fail(MemtuiError(words))

    def give_up(self, error: Exception, where: str = "start") -> None:
        """Log an error and end the application, which could not start, or has no terminal any more."""
        if self.broken is None:
            self.broken = error
            error_log_hot.add(self.root, f"tui: {where}", error)
        self.app.exit(return_code=1)

    def watch_loop(self) -> None:
        """Handle errors in tasks and callbacks of the event loop that nothing awaits."""

        def failed(_: object, context: dict[str, Any]) -> None:
            if isinstance(error := context.get("exception"), Exception):
                self.handle(error)

        asyncio.get_running_loop().set_exception_handler(failed)

    def handle(self, error: Exception) -> None:
        """Log and show an error at which Textual would end the application."""
        if not self.leaving and not (self.app.is_running and self.app.screen_stack):
            self.give_up(error)
            return
        worker = active_worker.get(None) if isinstance(error, WorkerFailed) else None
        functions = [frame.f_code.co_name for frame, _ in walk_tb(error.__traceback__)]
        where = worker.group if worker is not None else "".join(functions[:1])
        self.report(where.strip("_") or "callback", error, by_itself=where in REPEATED)


# At an error in a handler or a drawing Textual ends the application, and no hook stands between.
textual_dispatch_message = MessagePump._dispatch_message  # noqa: SLF001


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
        if begins and self is self.app and hasattr(self, "net"):
            self.net.give_up(error)
            return
        report(self, f"{type(message).__name__} in {type(self).__name__}", error)
        if begins:
            close_dialog(self)


def undrawn(_: Widget, crop: Region) -> list[Strip]:
    first = Strip([Segment(UNDRAWN)]).adjust_cell_length(crop.width).crop(0, crop.width)
    return [first, *[Strip.blank(crop.width)] * (crop.height - 1)][: crop.height]


def guard_drawing(draw: Callable[..., Any], instead: Callable[..., Any] = undrawn) -> Any:
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


def composed(screen: Widget, body: Callable[[], ComposeResult]) -> ComposeResult:
    """Compose the `body` of a screen. If that fails, a line says so in its place, and a dialog is closed."""
    try:
        yield from body()
    except Exception as error:
        report(screen, f"composing {type(screen).__name__}", error)
        yield Static(Text(UNDRAWN))
        close_dialog(screen)


def _is_from_removed_widget(error: BaseException) -> bool:
    """Return whether something queried a widget that Textual is removing, or has not composed yet."""
    if not isinstance(error, NoMatches):
        return False
    node = next((frame.f_locals.get("self") for frame, _ in reversed([*walk_tb(error.__traceback__)])), None)
    if isinstance(node, Screen) and not (
        node.children and all(widget.is_mounted for widget in node.walk_children(Widget))
    ):
        return True
    return isinstance(node, DOMNode) and (node._pruning or node._closing or node._closed)  # noqa: SLF001  nothing public
