"""Find memories that deliveries tell are of no use: never delivered while others were, or delivered often and never
opened. Only for the scopes that memtui's hooks deliver, and by the newest records of the log."""

from collections.abc import Iterator

from memtui.core.base import clock
from memtui.core.base.finding import Finding, note
from memtui.core.health import memory_checks
from memtui.core.memories import status
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.core.memories.status import Row, Usage

# So often another memory of the scope must have been delivered, since this one was there.
OFTEN_ENOUGH = 10
OFTEN = 30


def of_scope(root: str, scope: Scope, usage: Usage, known: dict[str, Memory]) -> Iterator[Finding]:
    """Find the memories of a delivered scope that are never delivered, or never opened."""
    if not scope.delivered or not usage.memories:
        return
    rows = [row for row in status.of_scope(root, scope, usage, known) if row.memory.broken is None]
    waiting = set(status.not_trusted(root, scope))
    for row in rows:
        facts = memory_checks.about(scope, row.memory)
        subject = f"memory:{row.memory.path}"
        most = _since(rows, row.memory.mtime)
        if not row.deliveries and most >= OFTEN_ENOUGH and row.file not in waiting:
            yield note("memories.never", subject, most=most, **facts)
        elif row.deliveries >= OFTEN and not row.uses and any(other.uses for other in rows):
            yield note("memories.unused", subject, count=row.deliveries, **facts)


def _since(rows: list[Row], time: float) -> int:
    """Return how often the most delivered memory was delivered, if all its newest deliveries are after a time."""
    most = max(rows, key=lambda row: row.deliveries)
    times = [clock.parse(each.record.get("time")) or 0.0 for each in most.newest]
    return most.deliveries if times and min(times) > time else 0
