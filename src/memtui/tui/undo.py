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
from memtui.core.base.phrasing import many
from memtui.core.journal import undo
from memtui.present.changes import DONE, asked_about, refusal, undone_as_one
from memtui.tui.batch import AT_ONCE, TOLD_SECONDS

if TYPE_CHECKING:
    from textual.app import App

    from memtui.tui.services import Services

WILL = {"undo": "takes back", "redo": "makes again"}
BUSY = "Changes are being made: wait, or stop them with escape."
NAMED = 3


@dataclass(frozen=True)
class Wanted:
    """One key: `op` is undo or redo, `key` the change that was chosen, if one was; `other` the keys before it."""

    op: undo.Op
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
        self._wanted.append(Wanted("redo" if op == "redo" else "undo", key, self._other))
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
        told = 0.0

        def going(done: int, whole: int) -> bool:
            nonlocal told
            if whole > AT_ONCE:
                self._many = self.services.at_work = True
            if self._many and time.monotonic() - told > TOLD_SECONDS and not worker.is_cancelled:
                self._tell(wanted.op, done, whole)
                told = time.monotonic()
            return not self._stop and not worker.is_cancelled

        outcome = undo.attempt(
            self.services.data.journal(),
            wanted.op,
            wanted.key,
            sure=lambda asked: self._asked == f"{asked.op} {asked.first.id}",
            going=going,
        )
        if isinstance(outcome, undo.Elsewhere):
            return partial(self._ask, wanted, outcome)
        return partial(self._report, outcome, undone_as_one(outcome).summary)

    def _tell(self, op: str, done: int, whole: int) -> None:
        tell = getattr(self.app.screen, "tell", None)
        if tell is not None and self.app.is_running:
            self.app.call_from_thread(tell, f"{done:,} of {whole:,} {DONE[op]}, escape stops")

    def _ask(self, wanted: Wanted, asked: undo.Elsewhere) -> None:
        """Name what was not done here. The keys that were pressed before that could be read are forgotten."""
        self._wanted.clear()
        self._asked = f"{asked.op} {asked.first.id}" if wanted.other == self._other else ""
        again, every = (actions.key_of(f"app.{name}") for name in (asked.op, "changes"))
        meanwhile = (clock.parse(asked.first.latest.time) or 0.0) >= int(self.services.began)
        here = "in another control room" if meanwhile else "in the control room"
        words = asked_about(asked, self.services.data.now(), {"tui": here, "cli": "in a shell"})
        self.services.say(f"{again} again {WILL[asked.op]} {words}. {every} lists all changes.")

    def _report(self, undone: undo.Undone, summary: str) -> None:
        self._asked = ""
        words = f"{DONE[undone.op].capitalize()}: {summary}"
        left = undone.whole - undone.tried
        if left:
            keys = [actions.key_of(f"app.{name}") for name in ("undo", "redo")]
            back, rest = keys if undone.op == "redo" else keys[::-1]
            words += f", then stopped. {rest} goes on, {back} turns it round."
        if not undone.failed:
            self.services.say(words)
            return
        lines = [words, f"{many(len(undone.failed), 'change')} left alone:"]
        lines += [refusal(undone.op, *failed).message for failed in undone.failed[:NAMED]]
        more = len(undone.failed) - NAMED
        self.services.fail(MemtuiError("\n".join([*lines, f"and {more:,} more"] if more > 0 else lines)))
