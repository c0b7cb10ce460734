"""The safety net: an unexpected error stops the handler, worker or drawing that it happens in, not the application."""

import asyncio
from collections.abc import Callable
from traceback import walk_tb
from typing import Any

from rich.text import Text
from textual.app import App, ComposeResult
from textual.css.query import NoMatches
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import WorkerFailed, active_worker

from memtui.base.errors import MemtuiError
from memtui.base.storage import file_error
from memtui.deliver import error_log
from memtui.tui import textual_gaps

FAILED = "That failed; the details are in log/errors.jsonl."
NOT_LOGGED = "That failed, and log/errors.jsonl can't be written: {}."
# What may fail again without a key: the functions of Textual that an error leaves then, and the groups of workers.
REPEATED = frozenset({"_tick", "_process_messages_loop", "_refresh_layout", "_display", "look", "read"})


class SafetyNet:
    """The net of an application, its `net`: unexpected errors are logged in `root` and shown by `fail`."""

    def __init__(self, app: App[Any], root: str, fail: Callable[[MemtuiError], None]) -> None:
        self.app, self.root, self.fail = app, root, fail
        self._shown_since_key: set[str] = set()
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
                error_log.add(self.root, f"tui: {where}, on the way out", error)
            return
        places = self._shown_ever if by_itself else self._shown_since_key
        place = f"{type(error).__name__} {[(frame.f_code, line) for frame, line in walk_tb(error.__traceback__)][-1:]}"
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

    def give_up(self, error: Exception, where: str = "start") -> None:
        """Log an error and end the application, which could not start, or has no terminal any more."""
        if self.broken is None:
            self.broken = error
            error_log.add(self.root, f"tui: {where}", error)
        self.app.exit(return_code=1)

    def forget_failures(self) -> None:
        """Show errors again that were shown before: a key was pressed, which may have caused them."""
        self._shown_since_key.clear()

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


def composed(screen: Widget, body: Callable[[], ComposeResult]) -> ComposeResult:
    """Compose the `body` of a screen. If that fails, a line says so in its place, and a dialog is closed."""
    try:
        yield from body()
    except Exception as error:
        textual_gaps.report(screen, f"composing {type(screen).__name__}", error)
        yield Static(Text(textual_gaps.UNDRAWN))
        textual_gaps.close_dialog(screen)


def _is_from_removed_widget(error: BaseException) -> bool:
    """Return whether something queried a widget that Textual is removing, or has not composed yet."""
    if not isinstance(error, NoMatches):
        return False
    node = next((frame.f_locals.get("self") for frame, _ in reversed([*walk_tb(error.__traceback__)])), None)
    if isinstance(node, Screen) and not (node.children and all(each.is_mounted for each in node.walk_children(Widget))):
        return True
    return isinstance(node, DOMNode) and (node._pruning or node._closing or node._closed)  # noqa: SLF001  nothing public
