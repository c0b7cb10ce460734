"""A limit of time for what the standard library limits only piece by piece, or not at all: resolving, reading."""

from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, call: Callable[[], T], otherwise: T) -> T:
    """Return what a call returns; `otherwise` if it takes longer, or raises. Its thread ends when it can."""
    values = [otherwise]

    def run() -> None:
        with suppress(Exception):
            values.append(call())

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    return values[-1]
