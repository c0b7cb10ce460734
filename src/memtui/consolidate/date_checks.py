"""Find the relative dates in memories, each with the date that it meant when it was written."""

from collections.abc import Iterator
from datetime import UTC, date, datetime

from memtui.consolidate.git import Repository
from memtui.core.base import clock
from memtui.core.base.finding import Finding, note
from memtui.core.health import memory_checks
from memtui.core.memories.memory import Memory, text_of
from memtui.core.memories.relative_dates import RELATIVE, relative_dates
from memtui.core.memories.scopes import Scope

WRITTEN = ("created", "createdAt", "created_at", "date", "modified", "updated", "updatedAt", "updated_at")


def of_memory(scope: Scope, memory: Memory, repository: Repository | None) -> Iterator[Finding]:
    """Find the relative dates in a memory's text. `repository`: the one that the memory is in, whose last commit of it
    tells when it was written; the file's time tells when it was checked out. None: the file's time tells.

    A date is `certain` only if the memory itself says that it was written on one day.
    """
    if not RELATIVE.search(memory.body):
        return
    day, certain = written(memory)
    if day is None and repository is not None:
        day = repository.committed(memory.path, memory.raw)
    day = day or datetime.fromtimestamp(memory.mtime).astimezone().date()
    try:
        found = list(relative_dates(memory.body, day))
    except (OverflowError, ValueError):  # a year that no calendar has
        return
    for each in found:
        at = {"line": memory_checks.line_of(memory, each.start), "start": each.start, "end": each.end}
        facts = {"words": each.words, "proposed": each.absolute, "written": day.isoformat(), "certain": certain}
        yield note("memories.date", f"memory:{memory.path}", **at, **facts, **memory_checks.about(scope, memory))


def written(memory: Memory) -> tuple[date | None, bool]:
    """Return the day on which a memory was written by its own fields, the last if it names several, and whether it
    names only one."""
    times = [clock.parse(text_of(memory.fields, key)) for key in WRITTEN]
    days = {datetime.fromtimestamp(time, UTC).date() for time in times if time is not None}
    return (max(days), len(days) == 1) if days else (None, False)
