"""What keeps guidance from being delivered, as findings."""

from collections.abc import Callable, Iterator
from functools import partial

from memtui.core.base import clock
from memtui.core.base.finding import Finding, problem
from memtui.core.inbox import claims
from memtui.core.inbox.format import Entry


def findings(entry: Entry, inbox: str, now: float, fits: Callable[[], bool]) -> Iterator[Finding]:
    """What is wrong with an entry of an inbox (its name), the plainest first. `fits`: whether a delivery has room."""
    told = partial(problem, subject=f"note:{entry.id}", inbox=inbox, id=entry.id[-6:])
    expires = entry.fields.get("expires")
    if whom := claims.no_addressee(entry):
        yield told("inbox.nobody", whom=whom)
    if expires and clock.parse(expires) is None:
        yield told("inbox.endless", expires=expires)
    elif entry.expired(now):
        yield told("inbox.expired")
    if entry.count("attempts") >= claims.MAX_ATTEMPTS:
        yield told("inbox.held", attempts=entry.count("attempts"))
    if "\0" in entry.text:
        yield told("inbox.binary")
    if not fits():
        yield told("inbox.long")
