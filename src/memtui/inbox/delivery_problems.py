"""The findings on guidance that is not delivered: what keeps it from being delivered."""

from collections.abc import Iterator

from memtui.base import clock
from memtui.base.finding import Finding, problem
from memtui.base.phrasing import cut
from memtui.inbox import claims, note_block
from memtui.inbox.format import Entry
from memtui.redact import redact

# The most characters of a note that a finding names it by.
TEXT_SHOWN = 40


def findings(entry: Entry, directory: str, now: float, budget: int) -> Iterator[Finding]:
    """Yield what keeps an entry of an inbox from being delivered. `budget`: the UTF-16 units of a delivery."""
    inbox = directory.rpartition("/")[2]  # global, or the project's slug

    def finding(code: str, **data: object) -> Finding:
        text = cut(" ".join(redact.redact(entry.text)[0].split()), TEXT_SHOWN)
        return problem(code, f"note:{entry.id}", inbox=inbox, id=entry.id[-6:], text=text, **data)

    expires = entry.fields.get("expires")
    if whom := claims.no_addressee(entry):
        yield finding("inbox.nobody", whom=whom)
    if expires and clock.parse(expires) is None:
        yield finding("inbox.endless", expires=expires)
    elif entry.expired(now) and entry.fields.get("kind") != note_block.WHISPER:  # its session has ended
        yield finding("inbox.expired")
    if entry.count("attempts") >= claims.MAX_ATTEMPTS:
        yield finding("inbox.held", attempts=entry.count("attempts"))
    if "\0" in entry.text:
        yield finding("inbox.binary")
    if note_block.over(budget, now, entry, directory) > 0:
        yield finding("inbox.long")
