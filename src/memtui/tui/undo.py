"""Undo and redo, in a worker: reading the journal and undoing many changes may take longer than a key may wait."""

from collections import deque
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from memtui import actions
from memtui.base import clock
from memtui.base.errors import MemtuiError
from memtui.base.phrasing import many
from memtui.base.storage import file_error
from memtui.store.journal import acts, ledger, undo
from memtui.tui.batch import left_alone
from memtui.tui.dialogs.ask import sure
from memtui.tui.services import BUSY, READ_ONLY, UNDO_GROUP
from memtui.views.changes import KEYS, PLACES, asked_about, reason, undone_as_one

if TYPE_CHECKING:
    from memtui.tui.services import Services


class Undo:
    """Undo and redo, one at a time, in the order of the keys; `turned` is called after the last of them."""

    def __init__(self, services: "Services", turned: Callable[[], None]) -> None:
        self.services, self.turned = services, turned
        self._wanted: deque[tuple[undo.Op, str | None, str]] = deque()
        self._running = False

    def want(self, op: undo.Op, key: str | None = None, sure_of: str = "") -> None:
        """Undo or redo the last change, or the one with this key; ask about one of elsewhere, unless `sure_of`."""
        reason = BUSY if self.services.at_work else READ_ONLY if self.services.read_only else ""
        if reason:
            self.services.warn(reason)
            return
        self._wanted.append((op, key, sure_of))
        if not self._running:
            self._running = True
            self.services.run_worker(self._turn_all(), group=UNDO_GROUP)

    async def _turn_all(self) -> None:
        question = None
        try:
            while self._wanted:
                try:
                    question = await self._turn(*self._wanted.popleft())
                except MemtuiError as error:
                    self.services.fail(error)
                except OSError as error:
                    self.services.fail(file_error(error))
        finally:
            self._running = False
        self.turned()
        if question is not None:
            self.services.start(self.services.screen, question, "undo")

    async def _turn(self, op: undo.Op, key: str | None, sure_of: str) -> Coroutine[Any, Any, object] | None:
        """Undo or redo one step and say so. Return the dialog that asks first, or lists what could not be undone."""
        progress = self.services.progress

        def attempt() -> tuple[undo.Elsewhere | undo.Undone, str]:
            journal = self.services.data.journal()
            go_on = lambda count, total: progress.go_on(count, total, acts.done(op))
            outcome = undo.attempt(journal, op, key, sure=lambda elsewhere: elsewhere.first.id == sure_of, go_on=go_on)
            self.services.data.take_in()  # what others wrote and the undo brings back waits in the inbox at once
            if isinstance(outcome, undo.Elsewhere) or (outcome.total > 1 and not outcome.done):
                return outcome, "nothing"
            ways = {op: actions.keyed(way) for op, way in KEYS.items()}
            return outcome, undone_as_one(journal, outcome, ways).summary

        outcome, summary = await progress.run(attempt)
        if isinstance(outcome, undo.Elsewhere):
            self._wanted.clear()  # keys that were pressed before the question was shown
            return self._ask(outcome)
        return self._report(outcome, summary)

    async def _ask(self, elsewhere: undo.Elsewhere) -> None:
        latest, op = elsewhere.first.latest, elsewhere.op
        meanwhile = (clock.parse(latest.time) or 0.0) >= int(self.services.files.began)
        here = "here" if latest.actor == ledger.here("tui") else "another TUI" if meanwhile else "the TUI"
        words = asked_about(elsewhere, self.services.data.now(), PLACES["cli"] | {"tui": here})
        if await self.services.ask(sure(words, f"{op.capitalize()} it")):
            self.want(op, sure_of=elsewhere.first.id)

    def _report(self, undone: undo.Undone, summary: str) -> Coroutine[Any, Any, object] | None:
        for scope in self.services.data.scopes():
            summary = summary.replace(f" {scope.label}:", " ")
        words = f"{acts.done(undone.op).capitalize()}: {summary}"
        if undone.total > undone.tried:
            keys = [actions.key_of(f"app.{name}") for name in ("undo", "redo")]
            back, rest = keys if undone.op == "redo" else keys[::-1]
            words += f", then stopped. {rest} continues, {back} reverses it."
        if not undone.failed:
            self.services.say(words.removesuffix(".") + ".")
            return None
        title = f"{words}. {many(len(undone.failed), 'change')} left alone:"
        reasons = [(change.summary, reason(change, error)) for change, error in undone.failed]
        return self.services.ask(left_alone(title, reasons))
