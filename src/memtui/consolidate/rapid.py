"""rapidfuzz, imported when it is needed, because that takes a while, and in one place: two threads that begin with
different parts of it at once can each find the other's half imported."""

import threading
from functools import cache
from typing import Any, NamedTuple

_IMPORTING = threading.Lock()


class RapidFuzz(NamedTuple):
    """What memtui uses of rapidfuzz, by the names that it has there."""

    fuzz: Any
    process: Any
    utils: Any
    LCSseq: Any


@cache
def load() -> RapidFuzz:
    """Return rapidfuzz, imported by one thread at a time."""
    with _IMPORTING:
        from rapidfuzz import fuzz, process, utils
        from rapidfuzz.distance import LCSseq

    return RapidFuzz(fuzz, process, utils, LCSseq)
