"""Undo and redo of the last step, or of a named one; both doors call `attempt`, views/changes.py has its words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from memtui.base import clock_hot
from memtui.base.errors import ConflictError, MemtuiError, NotFoundError
from memtui.base.short_ids import short_id
from memtui.base.storage import read_or_none
from memtui.store.journal.journal import Journal
from memtui.store.journal.ledger import Transaction, here
from memtui.store.journal.text_edit import TextEdit

Op = Literal["undo", "redo"]
GoOn = Callable[[int, int], bool]
# For this long a change counts as just made in the terminal where it was made.
RECENT_SECONDS = 600.0


@dataclass(frozen=True)
class Elsewhere:
    """A step to confirm: `first` operation, those `decided` by a person, a later change that is `final`."""

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
        return len(self.done) + len(self.failed)

    def first(self) -> Transaction:
        """Return the first operation that was done; if none was, raise the error of the first that failed."""
        if not self.done and self.failed:
            raise self.failed[0][1]
        return self.done[0]


def decided(transactions: Sequence[Transaction]) -> Sequence[Transaction]:
    """List those that a person decided: no pairs kept apart, nor the triggers that a memory was made with."""
    with_it = {"apart", "triggers"} if any(transaction.op == "create" for transaction in transactions) else {"apart"}
    return [transaction for transaction in transactions if transaction.op not in with_it] or transactions


Sure = Callable[[Elsewhere], bool]


def attempt(
    journal: Journal, op: Op, key: str | None = None, *, sure: Sure, go_on: GoOn = lambda *_: True
) -> Undone | Elsewhere:
    """Undo or redo as `run` does; what was made elsewhere, long ago, or before what can't be undone, only if `sure`."""
    step = _next_step(journal, op, key)
    final = _final(journal, step[0]) if op == "undo" else None
    elsewhere = Elsewhere(op, step[0], len(step), decided(step), final)
    if key is None and (final or not _is_own(journal, step[0])) and not sure(elsewhere):
        return elsewhere
    return run(journal, op, key, top=step[0].id, go_on=go_on)


def was_delivered(journal: Journal, transaction: Transaction) -> bool:
    """Return whether a change wrote a note that is not there any more as it was written, so that it can't be undone."""
    if transaction.op != "guide" or transaction.state != "done":
        return False
    try:
        for edit in journal.changes_of(transaction.record):
            if isinstance(edit, TextEdit):
                edit.inverse().apply((read_or_none(edit.path) or b"").decode("utf-8", "surrogateescape"))
    except ConflictError:
        return True
    except (MemtuiError, OSError):
        pass
    return False


def _next_step(journal: Journal, op: Op, key: str | None) -> list[Transaction]:
    """Return the next step, without notes that were delivered unless there is nothing else. Raises NotFoundError."""
    ledger = journal.ledger()
    try:
        return ledger.next_step(op, key, lambda transaction: was_delivered(journal, transaction))
    except NotFoundError:
        return ledger.next_step(op, key)


def _final(journal: Journal, step: Transaction) -> Transaction | None:
    """Return the last change after a step that can't be undone; None if an undo has gone past it already."""
    undone: set[str | None] = set()
    for transaction in reversed([other for other in journal.ledger().all() if other.state not in {"intent", "back"}]):
        if transaction.id == step.id:
            return None
        if transaction.op == "undo":
            undone.add(transaction.of)
        elif transaction.op == "purge" or was_delivered(journal, transaction):
            return None if undone else transaction
        undone.discard(transaction.id)
    return None


def _is_own(journal: Journal, transaction: Transaction) -> bool:
    """Return whether an operation, or its last undo or redo, was made just now in this TUI or terminal."""
    last = transaction.latest
    if last.by != journal.by or last.actor != here(journal.by):
        return False
    made_at = clock_hot.parse(last.time)
    return journal.by != "cli" or (made_at is not None and abs(journal.now() - made_at) <= RECENT_SECONDS)


def run(journal: Journal, op: Op, key: str | None = None, *, top: str = "", go_on: GoOn = lambda *_: True) -> Undone:
    """Undo or redo a step; failures stop nothing, `go_on(tried, total)` does. Raises NotFoundError, ConflictError."""
    todo = [next_id.id for next_id in _next_step(journal, op, key)]
    if top not in {"", todo[0]}:
        raise _overtaken()
    undone = Undone(op, len(todo))
    while todo and go_on(undone.tried, undone.total):
        with journal.locked():  # for each operation anew: others must not wait for all of them
            if not undone.tried and _next_step(journal, op, key)[0].id != todo[0]:
                raise _overtaken()
            ledger = journal.ledger()
            key_now = todo.pop(0)
            if key_now in ledger.available(op):  # else somebody else did it meanwhile
                _run_one(journal, undone, ledger.transactions[key_now])
    return undone


def _overtaken() -> ConflictError:
    return ConflictError("Something else changed meanwhile, so nothing was done.", "Try again.")


def _run_one(journal: Journal, undone: Undone, transaction: Transaction) -> None:
    try:
        changes = journal.changes_of(transaction.record)
        if undone.op == "undo":
            changes = [change.inverse() for change in reversed(changes)]
        journal.run_locked(undone.op, changes, transaction.summary, of=transaction.id)
    except ConflictError as error:
        blocked = error
        later = journal.ledger().later(transaction) if undone.op == "undo" else None
        if later is not None:
            blocked = ConflictError(f"It was changed since, by “{later.summary}”; undo {short_id(later.id)} first")
        undone.failed.append((transaction, blocked))
    except MemtuiError as error:
        undone.failed.append((transaction, error))
    else:
        undone.done.append(transaction)
