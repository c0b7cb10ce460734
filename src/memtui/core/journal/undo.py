"""Undo and redo: the last operation with all that was made together with it, or the one named, is taken back or made
again. Both front doors call `attempt`; what they say of its outcome stands in present/changes.py."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from memtui.core.base import clock
from memtui.core.base.errors import ConflictError, MemtuiError
from memtui.core.journal import actor
from memtui.core.journal.journal import Journal
from memtui.core.journal.ledger import Transaction

Op = Literal["undo", "redo"]
# So long a change counts as made just now in the terminal where it was made.
RECENT_SECONDS = 600.0


@dataclass(frozen=True)
class Elsewhere:
    """The next to undo or redo (`op`) was not done here and now, so that a person is asked: `first`, with `count`
    operations in all that were made together."""

    op: Op
    first: Transaction
    count: int


@dataclass
class Undone:
    """The outcome of an undo or redo (`op`) of so many operations (`whole`); those not in `done` or `failed` were not
    tried."""

    op: Op
    whole: int
    done: list[Transaction] = field(default_factory=list)
    failed: list[tuple[Transaction, MemtuiError]] = field(default_factory=list)

    @property
    def tried(self) -> int:
        """How many were tried."""
        return len(self.done) + len(self.failed)

    def first(self) -> Transaction:
        """The first that was done. Raises the error of the first that failed where none was."""
        if not self.done and self.failed:
            raise self.failed[0][1]
        return self.done[0]


def attempt(
    journal: Journal,
    op: Op,
    key: str | None = None,
    *,
    sure: Callable[[Elsewhere], bool],
    going: Callable[[int, int], bool] = lambda *_: True,
) -> Undone | Elsewhere:
    """Run an undo or redo as `run` does; of an operation that was neither named nor done here and now only if `sure`
    says so."""
    found = journal.ledger().next_step(op, key)
    elsewhere = Elsewhere(op, found[0], len(found))
    if key is None and not _own(journal, found[0]) and not sure(elsewhere):
        return elsewhere
    return run(journal, op, key, top=found[0].id, going=going)


def _own(journal: Journal, found: Transaction) -> bool:
    """Whether what was done last about an operation was done here and now: in this TUI, or of late by a command in this
    terminal."""
    last = found.latest
    if last.by != journal.by or last.actor != actor.here(journal.by):
        return False
    made = clock.parse(last.time)
    return journal.by != "cli" or (made is not None and abs(journal.now() - made) <= RECENT_SECONDS)


def run(
    journal: Journal,
    op: Op,
    key: str | None = None,
    *,
    top: str = "",
    going: Callable[[int, int], bool] = lambda *_: True,
) -> Undone:
    """Undo or redo the last operation with all that was made together with it, or undo the one named.

    `top` is the operation that has to be the last: the person was told of it. `going` is asked before each operation,
    told how many were tried and of how many. What was done when it says no is one step: a redo makes that again, and
    another undo takes back the rest. What fails stops none of the others. Raises NotFoundError if there is nothing to
    do, ConflictError if another is the last, MemtuiError if the lock can't be had.
    """
    todo = [each.id for each in journal.ledger().next_step(op, key)]
    if top not in {"", todo[0]}:
        raise _overtaken()
    undone = Undone(op, len(todo))
    while todo and going(undone.tried, undone.whole):
        with journal.locked():  # for each alone: others must not wait for all of them
            ledger = journal.ledger()
            if not undone.tried and ledger.next_step(op, key)[0].id != todo[0]:
                raise _overtaken()
            each = todo.pop(0)
            if each in ledger.available(op):  # else somebody did so meanwhile
                _run_one(journal, undone, ledger.transactions[each])
    return undone


def _overtaken() -> ConflictError:
    return ConflictError("Something else was changed meanwhile: nothing was done.", "Try again.")


def _run_one(journal: Journal, undone: Undone, found: Transaction) -> None:
    try:
        changes = journal.changes_of(found.record)
        if undone.op == "undo":
            changes = [change.inverse() for change in reversed(changes)]
        journal.run_locked(undone.op, changes, found.summary, of=found.id)
    except MemtuiError as error:
        undone.failed.append((found, error))
    else:
        undone.done.append(found)
