"""The safety net: an error that nobody expected stops what it happened in, not the application.

Textual ends the application at the first exception that it did not expect. They all pass few places of it. What fails
in a worker, a timer, a callback or the layout is handed to the application's `_handle_exception`. What fails in a
handler or an action leaves `_dispatch_message`, and the widget would hear no more messages. What fails while something
is drawn would fail again at every paint, and nothing else be painted. So there is a net under these, also for textual's
own widgets.
"""

import asyncio
from collections.abc import Callable
from fractions import Fraction
from functools import wraps
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
from textual.visual import Visual, visualize
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import WorkerFailed, active_worker

from memtui.core.base.errors import MemtuiError
from memtui.core.deliveries import error_log
from memtui.tui import terminal

FAILED = "That failed; the details are in log/errors.jsonl."
UNNOTED = "That failed, and log/errors.jsonl can't be written: {}."
UNDRAWN = "This can't be drawn; the details are in log/errors.jsonl."
# By the function of textual that an error comes out of: what failed, and whether it does so by itself, key or not.
PLACES = {
    "_tick": ("timer", True),
    "_process_messages_loop": ("idle", True),
    "_refresh_layout": ("layout", True),
    "_display": ("painting", True),
    "_compose": ("composing", False),
    "_flush_next_callbacks": ("callback", False),
}
# Workers that no key has begun.
WATCHING = frozenset({"look", "read"})


class SafetyNet:
    """The net under an application, which has it as `net`: it notes in the error log of `root` what nobody expected,
    and tells it in one line by `fail`."""

    def __init__(self, app: App[Any], root: str, fail: Callable[[MemtuiError], None]) -> None:
        _install()
        self.app, self.root, self.fail = app, root, fail
        self._told: set[str] = set()
        self._told_once: set[str] = set()
        self.broken: Exception | None = None  # why it could not go on
        self.leaving = False

    def fell(self, where: str, error: BaseException, *, by_itself: bool = False) -> None:
        """Note an error and tell it, unless that was done since the last key; `by_itself`: unless it ever was."""
        if _in_vain(error):
            return
        if isinstance(error, WorkerFailed):
            error = error.error
        told = self._told_once if by_itself else self._told
        place = _place(error)
        if place in told:
            return
        told.add(place)
        if isinstance(error, MemtuiError):  # one of ours says it all
            self.fail(error)
            return
        noted = error_log.add(self.root, f"tui: {where}", error)
        words = FAILED if noted else UNNOTED.format(type(error).__name__)
        if isinstance(error, OSError) and error.strerror:
            words = f"{error.filename or 'A file'}: {error.strerror}\n{words}"
        self.fail(MemtuiError(words))

    def fell_at_the_end(self, where: str, error: BaseException) -> None:
        """Note an error on the way out, where nobody can be told. Textual mounts nothing then and has removed the rest,
        which is sought in vain."""
        cause = error.error if isinstance(error, WorkerFailed) else error
        if not isinstance(cause, NoMatches):
            error_log.add(self.root, f"tui: {where}", cause)

    def give_up(self, error: Exception) -> None:
        """Leave, since there is nothing to go on with: the application itself did not come up."""
        self.broken = self.broken or error
        error_log.add(self.root, "tui: start", error)
        self.app.exit(return_code=1)

    def forget_failures(self) -> None:
        """A key was pressed: what fails from now on fails because of it."""
        self._told.clear()

    def watch_loop(self) -> None:
        """Note what fails in a task or a callback of the loop that nobody waits for."""

        def fell(_: object, context: dict[str, Any]) -> None:
            error = context.get("exception")
            if isinstance(error, Exception):
                self.handle(error)

        asyncio.get_running_loop().set_exception_handler(fell)

    def handle(self, error: Exception) -> None:
        """Tell what Textual would end the application at."""
        app = self.app
        if _in_vain(error):
            return
        if self.leaving:
            self.fell_at_the_end("on the way out", error)
        elif not app.is_running or not app.screen_stack:
            self.give_up(error)
        elif isinstance(error, WorkerFailed):
            group = worker.group if (worker := active_worker.get(None)) is not None else ""
            self.fell(f"worker {group}", error, by_itself=group in WATCHING)
        else:
            trace = error.__traceback__
            where, by_itself = PLACES.get(trace.tb_frame.f_code.co_name if trace else "", ("callback", False))
            self.fell(where, error, by_itself=by_itself)

    def terminal_gone(self) -> None:
        """The thread that reads the terminal has ended."""
        self.broken = self.broken or OSError("the terminal is gone")
        terminal.end_soon()


def _net(node: MessagePump) -> SafetyNet | None:
    return getattr(node.app, "net", None)


def is_leaving(app: App[Any]) -> bool:
    """Whether an application is on its way out."""
    net = _net(app)
    return net is not None and net.leaving


def composed(screen: Widget, body: Callable[[], ComposeResult]) -> ComposeResult:
    """What a screen is made of. Where that can't be made a line says so; a dialog goes away again."""
    try:
        yield from body()
    except Exception as error:
        _fell(screen, f"composing {type(screen).__name__}", error)
        yield Static(Text(UNDRAWN))
        _close(screen)


def _in_vain(error: BaseException) -> bool:
    """Whether a part was sought of what is being removed: textual takes the parts away while keys, what was to be done
    after the next paint, or what a worker found are still to come."""
    cause = error.error if isinstance(error, WorkerFailed) else error
    trace = cause.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    node = trace.tb_frame.f_locals.get("self") if trace is not None else None
    gone = isinstance(node, DOMNode) and (node._pruning or node._closing or node._closed)  # noqa: SLF001  no other word
    empty = isinstance(node, Screen) and not node.children  # not there yet, as keys of one burst may find it
    return (gone or empty) and isinstance(cause, NoMatches)


def _place(error: BaseException) -> str:
    """What happened, and in which line."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    line = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace is not None else ""
    return f"{type(error).__name__} {line}"


def _fell(pump: MessagePump, where: str, error: Exception, *, by_itself: bool = False) -> None:
    """Tell the application. Raises the error again where that has no net."""
    net = _net(pump)
    if net is None:
        raise error
    if _in_vain(error):
        return
    if net.leaving or not net.app.screen_stack:
        net.fell_at_the_end(f"{where}, on the way out", error)
    else:
        net.fell(where, error, by_itself=by_itself)


def _close(pump: MessagePump) -> None:
    """A dialog that did not come up would catch all keys."""
    if isinstance(pump, ModalScreen):
        pump.app.call_later(pump.dismiss, None)


_handle = App._handle_exception  # noqa: SLF001
_dispatch = MessagePump._dispatch_message  # noqa: SLF001
_render_visual = Widget._render  # noqa: SLF001
_box_model = Widget._get_box_model  # noqa: SLF001
_render_lines = Widget.render_lines


def _handled(self: App[Any], error: Exception) -> None:
    net = _net(self)
    if net is None:
        _handle(self, error)
    else:
        net.handle(error)


async def _dispatched(self: MessagePump, message: Message) -> None:
    try:
        await _dispatch(self, message)
    except Exception as error:
        begins = isinstance(message, events.Load | events.Compose | events.Mount)
        net = _net(self)
        if begins and net is not None and self is net.app:
            net.give_up(error)
            return
        _fell(self, f"{type(message).__name__} in {type(self).__name__}", error)
        if begins:
            _close(self)


def _rendered(self: Widget) -> Visual:
    try:
        return _render_visual(self)
    except Exception as error:
        _fell(self, f"drawing {type(self).__name__}", error, by_itself=True)
        return visualize(self, Text(UNDRAWN))


def _lines(self: Widget, crop: Region) -> list[Strip]:
    try:
        return _render_lines(self, crop)
    except Exception as error:
        _fell(self, f"drawing {type(self).__name__}", error, by_itself=True)
        return undrawn(crop)


def undrawn(crop: Region) -> list[Strip]:
    """Lines that stand where a widget can't be drawn."""
    first = Strip([Segment(UNDRAWN)]).adjust_cell_length(crop.width).crop(0, crop.width)
    return [first, *[Strip.blank(crop.width)] * (crop.height - 1)][: crop.height]


@wraps(_box_model)
def _boxed(self: Widget, *args: Any, **kwargs: Any) -> BoxModel:
    try:
        return _box_model(self, *args, **kwargs)
    except Exception as error:
        _fell(self, f"measuring {type(self).__name__}", error, by_itself=True)
        return BoxModel(Fraction(len(UNDRAWN)), Fraction(1), Spacing())


def _install() -> None:
    App._handle_exception = _handled  # type: ignore[method-assign]  # noqa: SLF001
    MessagePump._dispatch_message = _dispatched  # type: ignore[method-assign]  # noqa: SLF001
    Widget._render = _rendered  # type: ignore[method-assign]  # noqa: SLF001
    Widget._get_box_model = _boxed  # type: ignore[method-assign]  # noqa: SLF001
    Widget.render_lines = _lines  # type: ignore[method-assign]
