"""Find memories that deliveries tell are of no use: never delivered while others were, delivered often and never
opened, violated, or delivered to a session in which the person then corrected Claude on the same. Only for the scopes
that memtui's hooks deliver, and by the newest records of the log."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile

from memtui.consolidate import similar
from memtui.core.base import clock
from memtui.core.base.finding import Finding, note
from memtui.core.health import memory_checks
from memtui.core.memories import status
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.core.memories.status import Row, Usage
from memtui.core.review.waiting import Waiting

# So often another memory of the scope must have been delivered, since this one was there.
OFTEN_ENOUGH = 10
OFTEN = 30
# The least likeness (of 1) of a correction and the memory that it is about.
SAME = 0.65


def of_scope(
    root: str,
    scope: Scope,
    usage: Usage,
    known: dict[str, Memory],
    drafts: Sequence[Waiting],
    go_on: Callable[[], bool] = lambda: True,
) -> Iterator[Finding]:
    """Find the memories of a delivered scope that are never delivered, never opened, or corrected again by one of the
    `drafts` that wait. `go_on` is asked before each memory and each draft; False ends the search."""
    if not scope.delivered or not usage.memories:
        return
    rows = [row for row in status.of_scope(root, scope, usage, known, go_on) if row.memory.broken is None]
    if not go_on():
        return
    waiting = set(status.not_trusted(root, scope))
    for row in takewhile(lambda _: go_on(), rows):
        facts = memory_checks.about(scope, row.memory)
        subject = f"memory:{row.memory.path}"
        most = _since(rows, row.memory.mtime)
        if not row.deliveries and most >= OFTEN_ENOUGH and row.file not in waiting:
            yield note("memories.never", subject, most=most, **facts)
        elif row.recalls.corrected:
            violated = {"count": row.recalls.corrected, "last": row.recalls.corrected_last}
            yield note("memories.violated", subject, **violated, **facts)
        elif row.deliveries >= OFTEN and not row.uses and any(other.uses for other in rows):
            yield note("memories.unused", subject, count=row.deliveries, **facts)
    yield from _corrected(scope, rows, takewhile(lambda _: go_on(), drafts))


def _corrected(scope: Scope, rows: Sequence[Row], drafts: Iterable[Waiting]) -> Iterator[Finding]:
    """Find the memories that a session got before the correction in it that a draft comes from."""
    for draft in drafts:
        fields = draft.entry.fields
        session, time = fields.get("session", ""), clock.parse(fields.get("time"))
        if fields.get("kind") != "correction" or not session or time is None:
            continue
        got = [row.memory for row in rows if _had(row, session, time)]
        for found in similar.to_draft(fields.get("name", ""), draft.text, got)[:1]:
            if found.score >= SAME:
                facts = {"session": session[:4], "draft": draft.id[-6:], "words": draft.text.partition("\n")[0]}
                subject = f"memory:{found.memory.path}"
                yield note("memories.corrected", subject, **facts, **memory_checks.about(scope, found.memory))


def _had(row: Row, session: str, time: float) -> bool:
    return any(
        each.record.get("session_id") == session and (clock.parse(each.record.get("time")) or time) < time
        for each in row.newest
    )


def _since(rows: list[Row], time: float) -> int:
    """Return how often the most delivered memory was delivered, if all its newest deliveries are after a time."""
    most = max(rows, key=lambda row: row.deliveries)
    times = [clock.parse(each.record.get("time")) or 0.0 for each in most.newest]
    return most.deliveries if times and min(times) > time else 0
