"""The running of commands: at once up to their first question, the rest in a worker. Errors are shown."""

import inspect
from collections.abc import Coroutine, Generator, Iterator
from contextlib import contextmanager
from types import coroutine
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from memtui.core.base.errors import MemtuiError
from memtui.core.base.storage import file_error
from memtui.tui.services import BUSY, COMMAND, READ_ONLY, Command, Services

if TYPE_CHECKING:
    from memtui.actions import Action
    from memtui.tui.safety_net import SafetyNet
    from memtui.tui.screens.list_screen import ListScreen


class Runner:
    """Runs the commands of actions, and other coroutines that ask questions."""

    def __init__(self, services: Services, net: "SafetyNet") -> None:
        self.services, self.net = services, net

    def run(self, screen: "ListScreen[Any]", action: "Action", command: Command) -> None:
        """Run the command of an action on a screen, or show why it can't be run."""
        reason = self._why_not(screen, action) or command.why_not()
        if reason:
            self.services.warn(reason)
            return
        with self._showing_errors(action.id):
            result = command.run()
            if inspect.iscoroutine(result):
                self.start(screen, result, action.id)

    def _why_not(self, screen: "ListScreen[Any]", action: "Action") -> str:
        if action.writes and self.services.at_work:
            return BUSY
        if action.writes and self.services.read_only:
            return READ_ONLY
        if action.listed and screen.detail_covers_list:
            return "The list is hidden while you read: escape goes back to it."
        return ""

    def start(self, node: Screen[Any], command: Coroutine[Any, Any, object], what: str) -> None:
        """Run a coroutine at once until it first waits, the rest in a worker of `node`. `what` names it in the error
        log."""

        async def to_the_end(rest: Coroutine[Any, Any, None]) -> None:
            with self._showing_errors(what):
                await rest

        with self._showing_errors(what):
            rest = _begin(command)
            if rest is not None:
                node.run_worker(to_the_end(rest), group=COMMAND)

    @contextmanager
    def _showing_errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except MemtuiError as error:
            self.services.fail(error)
        except OSError as error:
            self.services.fail(file_error(error))
        except Exception as error:
            self.net.report(f"action {what}", error)


def _begin(command: Coroutine[Any, Any, object]) -> Coroutine[Any, Any, None] | None:
    """Run a coroutine until it first waits. Return the rest, to be awaited in a worker; None if it has ended. The next
    key goes to the dialog that it shows: a task alone would begin only after the keys that were typed ahead."""
    try:
        waited = command.send(None)
    except StopIteration:
        return None
    return _rest(command, waited)


@coroutine
def _rest(begun: Coroutine[Any, Any, object], waited: Any) -> Generator[Any, Any, None]:
    try:
        while True:
            try:
                answer = yield waited
            except BaseException as error:
                waited = begun.throw(error)
            else:
                waited = begun.send(answer)
    except StopIteration:
        return
