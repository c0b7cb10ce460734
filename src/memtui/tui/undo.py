"""Undo and redo, in a worker: reading the journal, and turning many changes, takes longer than a key may wait."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.worker import Worker, get_current_worker

from memtui import actions
from memtui.core.base import clock
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import ago, many
from memtui.tui.batch import AT_ONCE, TOLD_SECONDS

if TYPE_CHECKING:
    from textual.app import App

    from memtui.core.journal.ledger import Transaction, Turned
    from memtui.tui.services import Services

DONE = {"undo": "Undone", "redo": "Done again"}
WILL = {"undo": "takes back", "redo": "makes again"}
BUSY = "Changes are being made: wait, or stop them with escape."
NAMED = 3


@dataclass(frozen=True)
class Wanted:
    """One key: `op` is undo or redo, `key` the change that was chosen, if one was; `other` the keys before it."""

    op: str
    key: str | None
    other: int


class Turning:
    """The undo and redo of the application: one after the other, in the order of the keys."""

    def __init__(self, services: "Services", app: "App[None]", turned: Callable[[], None]) -> None:
        self.services, self.app, self.turned = services, app, turned
        self._wanted: deque[Wanted] = deque()
        self._running = self._many = self._stop = False
        self._asked = ""
        self._other = 0

    def want(self, op: str, key: str | None = None) -> None:
        """Undo or redo the last change, or undo the one named. What was not done here is asked about first."""
        if self.services.at_work:
            self.services.notify(BUSY, severity="warning", markup=False)
            return
        self._wanted.append(Wanted(op, key, self._other))
        if not self._running:
            self._next()

    def stop(self) -> bool:
        """Turn no more; False if nothing that takes long is under way."""
        self._stop = self._many
        return self._many

    def forget_question(self, op: str = "") -> None:
        """Another key: what was asked is asked anew the next time."""
        if not self._asked.startswith(op or "-"):
            self._asked = ""
        self._other += not op

    def _next(self) -> None:
        self._running = bool(self._wanted)
        if self._wanted:
            self.app.run_worker(partial(self._work, self._wanted.popleft()), group="turn", thread=True)

    def _work(self, wanted: Wanted) -> None:
        worker = get_current_worker()
        try:
            then = self._turn(wanted, worker)
        except MemtuiError as error:
            then = partial(self.services.fail, error)
        except OSError as error:
            then = partial(self.services.fail, MemtuiError(f"{error.filename or 'A file'}: {error.strerror}"))
        finally:
            if self._many:
                self._many = self._stop = self.services.at_work = False
        if not worker.is_cancelled and self.app.is_running:
            self.app.call_from_thread(self._after, then)

    def _after(self, then: Callable[[], None]) -> None:
        then()
        self._next()
        if not self._running:
            self.turned()

    def _turn(self, wanted: Wanted, worker: Worker[Any]) -> Callable[[], None]:
        """Do it; what there is to tell."""
        journal = self.services.data.journal()
        found = journal.ledger().to_turn(wanted.op, wanted.key)
        first = found[0]
        if wanted.key is None and not journal.own(first) and self._asked != f"{wanted.op} {first.id}":
            return partial(self._ask, wanted, first, len(found))
        told = time.monotonic()

        def going(done: int, whole: int) -> bool:
            nonlocal told
            if self._many and time.monotonic() - told > TOLD_SECONDS and not worker.is_cancelled:
                self._tell(wanted.op, done, whole)
                told = time.monotonic()
            return not self._stop and not worker.is_cancelled

        if len(found) > AT_ONCE:
            self._many = self.services.at_work = True
            self._tell(wanted.op, 0, len(found))
        return partial(self._report, journal.turn(wanted.op, wanted.key, top=first.id, going=going))

    def _tell(self, op: str, done: int, whole: int) -> None:
        tell = getattr(self.app.screen, "tell", None)
        if tell is not None and self.app.is_running:
            self.app.call_from_thread(tell, f"{done:,} of {whole:,} {DONE[op].lower()}, escape stops")

    def _ask(self, wanted: Wanted, first: "Transaction", count: int) -> None:
        """Name what was not done here. The keys that were pressed before that could be read are forgotten."""
        self._wanted.clear()
        self._asked = f"{wanted.op} {first.id}" if wanted.other == self._other else ""
        again, every = (actions.key_of(f"app.{name}") for name in (wanted.op, "changes"))
        words = asked(first, count, self.services.data.now(), self.services.began)
        self.services.say(f"{again} again {WILL[wanted.op]} {words}. {every} lists all changes.")

    def _report(self, turned: "Turned") -> None:
        self._asked = ""
        words = f"{DONE[turned.op]}: {turned.as_one().summary}"
        left = turned.whole - turned.tried
        if left:
            keys = [actions.key_of(f"app.{name}") for name in ("undo", "redo")]
            back, rest = keys if turned.op == "redo" else keys[::-1]
            words += f", then stopped. {rest} goes on, {back} turns it round."
        if not turned.failed:
            self.services.say(words)
            return
        lines = [words, f"{many(len(turned.failed), 'change')} left alone:"]
        lines += [error.message for _, error in turned.failed[:NAMED]]
        more = len(turned.failed) - NAMED
        self.services.fail(MemtuiError("\n".join([*lines, f"and {more:,} more"] if more > 0 else lines)))


def asked(found: "Transaction", count: int, now: float, began: float) -> str:
    """What would be turned, in words: when that was done last, and where."""
    last = found.latest
    what = f"{found.summary}" + (f" and {many(count - 1, 'other change')} made with it" if count > 1 else "")
    meanwhile = (clock.parse(last.time) or 0.0) >= int(began)
    here = "in another control room" if meanwhile else "in the control room"
    by = {"tui": here, "cli": "in a shell"}.get(last.by, f"by {last.by}")
    return f"“{what}”, {ago(clock.parse(last.time), now)} {by}"
