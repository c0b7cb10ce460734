"""Undo and redo of the last step, or of a named one; both doors call `attempt`, present/changes.py has its words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from memtui.core.base import clock
from memtui.core.base.errors import ConflictError, MemtuiError
from memtui.core.base.short_ids import short_id
from memtui.core.journal.journal import Journal
from memtui.core.journal.ledger import Transaction, here

Op = Literal["undo", "redo"]
# For this long a change counts as just made in the terminal where it was made.
RECENT_SECONDS = 600.0


@dataclass(frozen=True)
class Elsewhere:
    """A step that was not made just now in this place, or not last, so that a person has to confirm it. `first`: its
    first operation; `decided`: those that a person decided; `final`: a last change that can't be undone."""

    op: Op
    first: Transaction
    count: int
    decided: Sequence[Transaction]
    final: Transaction | None = None


@dataclass
class Undone:
    """The outcome of an undo or redo (`op`) of `total` operations; those not in `done` or `failed` were not tried."""

    op: Op
    total: int
    done: list[Transaction] = field(default_factory=list)
    failed: list[tuple[Transaction, MemtuiError]] = field(default_factory=list)

    @property
    def tried(self) -> int:
        """How many operations were tried."""
        return len(self.done) + len(self.failed)

    def first(self) -> Transaction:
        """Return the first operation that was done; if none was, raise the error of the first that failed."""
        if not self.done and self.failed:
            raise self.failed[0][1]
        return self.done[0]


def decided(found: Sequence[Transaction]) -> Sequence[Transaction]:
    """List those of changes made together that a person decided: not the pairs that a rejection keeps apart."""
    return [each for each in found if each.op != "apart"] or found


def attempt(
    journal: Journal,
    op: Op,
    key: str | None = None,
    *,
    sure: Callable[[Elsewhere], bool],
    go_on: Callable[[int, int], bool] = lambda *_: True,
) -> Undone | Elsewhere:
    """Undo or redo as `run` does; what was made elsewhere, long ago, or before what can't be undone, only if `sure`."""
    ledger = journal.ledger()
    step = ledger.next_step(op, key)
    last = next((each for each in reversed(ledger.all()) if each.state not in {"intent", "back"}), None)
    final = last if op == "undo" and last is not None and last.op == "purge" else None
    elsewhere = Elsewhere(op, step[0], len(step), decided(step), final)
    if key is None and (final or not _is_own(journal, step[0])) and not sure(elsewhere):
        return elsewhere
    return run(journal, op, key, top=step[0].id, go_on=go_on)


def _is_own(journal: Journal, found: Transaction) -> bool:
    """Return whether an operation, or its last undo or redo, was made just now in this TUI or terminal."""
    last = found.latest
    if last.by != journal.by or last.actor != here(journal.by):
        return False
    made_at = clock.parse(last.time)
    return journal.by != "cli" or (made_at is not None and abs(journal.now() - made_at) <= RECENT_SECONDS)


def run(
    journal: Journal,
    op: Op,
    key: str | None = None,
    *,
    top: str = "",
    go_on: Callable[[int, int], bool] = lambda *_: True,
) -> Undone:
    """Undo or redo the last step, or what `key` names; a failure does not stop the others. `top`: the id that the
    last operation must have. `go_on` gets how many of how many were tried; False stops. Raises NotFoundError,
    ConflictError."""
    todo = [each.id for each in journal.ledger().next_step(op, key)]
    if top not in {"", todo[0]}:
        raise _overtaken()
    undone = Undone(op, len(todo))
    while todo and go_on(undone.tried, undone.total):
        with journal.locked():  # for each operation anew: others must not wait for all of them
            ledger = journal.ledger()
            if not undone.tried and ledger.next_step(op, key)[0].id != todo[0]:
                raise _overtaken()
            each = todo.pop(0)
            if each in ledger.available(op):  # else somebody else did it meanwhile
                _run_one(journal, undone, ledger.transactions[each])
    return undone


def _overtaken() -> ConflictError:
    return ConflictError("Something else changed meanwhile, so nothing was done.", "Try again.")


def _run_one(journal: Journal, undone: Undone, found: Transaction) -> None:
    try:
        changes = journal.changes_of(found.record)
        if undone.op == "undo":
            changes = [change.inverse() for change in reversed(changes)]
        journal.run_locked(undone.op, changes, found.summary, of=found.id)
    except ConflictError as error:
        blocked = error
        later = journal.ledger().later(found) if undone.op == "undo" else None
        if later is not None:
            first = f"undo that first: memtui undo {short_id(later.id)}"
            blocked = ConflictError(f"It was changed since, by “{later.summary}”; {first}")
        undone.failed.append((found, blocked))
    except MemtuiError as error:
        undone.failed.append((found, error))
    else:
        undone.done.append(found)
