"""Run a command that asks questions: at once as far as the first of them, so that the next key meets the dialog."""

from collections.abc import Coroutine, Generator
from types import coroutine
from typing import Any


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


def begin(command: Coroutine[Any, Any, object]) -> Coroutine[Any, Any, None] | None:
    """Run a coroutine until it waits; what is left of it, to be awaited in a worker, None if that is nothing. A task
    alone would begin after the keys that were typed ahead."""
    try:
        waited = command.send(None)
    except StopIteration:
        return None
    return _rest(command, waited)
