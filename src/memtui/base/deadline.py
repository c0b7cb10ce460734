"""A limit of time for what the standard library limits only piece by piece, or not at all: the name of a host that
nobody resolves, an answer that comes byte by byte."""

from collections.abc import Callable
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, call: Callable[[], T], late: T) -> T:
    """Return what a call returns, or `late` if it takes longer, or fails. Its thread ends by itself, or with the
    process."""
    values = [late]
    thread = Thread(target=lambda: values.append(call()), daemon=True)
    thread.start()
    thread.join(seconds)
    return values[-1]
