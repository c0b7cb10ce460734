"""What keeps guidance from being delivered, as findings."""

from collections.abc import Iterator
from functools import partial

from memtui.core.base import clock
from memtui.core.base.finding import Finding, problem
from memtui.core.inbox import claims, deliverable
from memtui.core.inbox.format import Entry


def findings(entry: Entry, directory: str, now: float, budget: int) -> Iterator[Finding]:
    """List what is wrong with an entry of the inbox at `directory`, the plainest first. `budget` is the room of a
    delivery."""
    inbox = directory.rpartition("/")[2]  # global, or the project's slug
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
    if deliverable.over(budget, now, entry, directory) > 0:
        yield told("inbox.long")
