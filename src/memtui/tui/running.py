"""The start of a command that asks questions: it runs at once up to the first, so that the next key goes to the
dialog."""

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
    """Run a coroutine until it first waits. Return the rest, to be awaited in a worker; None if it has ended. A task
    alone would begin only after the keys that were typed ahead."""
    try:
        waited = command.send(None)
    except StopIteration:
        return None
    return _rest(command, waited)
