"""Undo and redo, in a worker: reading the journal and undoing many changes may take longer than a key may wait."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtui import actions
from memtui.core.base import clock
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import many
from memtui.core.base.storage import file_error
from memtui.core.journal import ledger, undo
from memtui.present.changes import DONE, asked_about, reason, undone_as_one
from memtui.tui.batch import AT_ONCE, TOLD_SECONDS, left_alone
from memtui.tui.services import BUSY, READ_ONLY, HowFar

if TYPE_CHECKING:
    from textual.app import App

    from memtui.tui.dialogs.preview import Preview
    from memtui.tui.services import Services

VERBS = {"undo": "undoes", "redo": "redoes"}


@dataclass(frozen=True)
class Wanted:
    """A press of the undo or redo key: `key` is the change to undo, None for the last one; `other_keys` counts the
    other keys before it."""

    op: undo.Op
    key: str | None
    other_keys: int


class Undo:
    """The undo and redo of the application: one at a time, in the order of the keys. `turned` is called after the last
    of them."""

    def __init__(self, services: "Services", app: "App[None]", turned: Callable[[], None]) -> None:
        self.services, self.app, self.turned = services, app, turned
        self._wanted: deque[Wanted] = deque()
        self._running = self._many = self._stop = False
        self._question = ""  # the op and the change that the person was asked about
        self._other_keys = 0
        self._refused: Preview | None = None  # shown after the last of them: what could not be undone

    def want(self, op: undo.Op, key: str | None = None) -> None:
        """Undo or redo the last change, or undo the one with this key. Ask first about a change that was not made in
        this TUI."""
        reason = BUSY if self.services.at_work else READ_ONLY if self.services.read_only else ""
        if reason:
            self.services.warn(reason)
            return
        self._wanted.append(Wanted(op, key, self._other_keys))
        if not self._running:
            self._running = True
            self.app.run_worker(self._turn_all(), group="turn")

    def stop(self) -> bool:
        """Stop after the present change. Return False if it is not one of many."""
        self._stop = self._many
        return self._many

    def forget_question(self, op: str = "") -> None:
        """Ask again the next time, unless the key that was pressed is that of `op` (undo or redo) and the question was
        about it."""
        if not self._question.startswith(op or "-"):
            self._question = ""
        self._other_keys += not op

    async def _turn_all(self) -> None:
        try:
            while self._wanted:
                try:
                    await self._turn(self._wanted.popleft())
                except MemtuiError as error:
                    self.services.fail(error)
                except OSError as error:
                    self.services.fail(file_error(error))
        finally:
            self._running = False
        self.turned()
        if self._refused is not None:
            self.services.start(self.app.screen, self._show_refused(self._refused), "undo")
            self._refused = None

    async def _show_refused(self, dialog: "Preview") -> None:
        await self.services.ask(dialog)

    async def _turn(self, wanted: Wanted) -> None:
        """Undo or redo one step and report it, or ask first."""
        reported_at = 0.0
        self._stop = False

        def go_on(done: int, total: int) -> bool:
            nonlocal reported_at
            if total > AT_ONCE:
                self._many = self.services.at_work = True
            if self._many and time.monotonic() - reported_at > TOLD_SECONDS:
                self._show_progress(f"{done:,} of {total:,} {DONE[wanted.op]}, escape stops")
                reported_at = time.monotonic()
            return not self._stop

        def attempt() -> tuple[undo.Elsewhere | undo.Undone, str]:
            journal = self.services.data.journal()
            outcome = undo.attempt(journal, wanted.op, wanted.key, sure=self._is_sure, go_on=go_on)
            self.services.data.take_in()  # what others wrote and the undo brings back waits in the inbox at once
            if isinstance(outcome, undo.Elsewhere) or (outcome.total > 1 and not outcome.done):
                return outcome, "nothing"
            return outcome, undone_as_one(outcome).summary

        try:
            outcome, summary = await asyncio.to_thread(attempt)
        except asyncio.CancelledError:  # the application ends: stop the thread too
            self._stop = True
            raise
        finally:
            self._many = self.services.at_work = False
        if isinstance(outcome, undo.Elsewhere):
            self._ask(wanted, outcome)
        else:
            self._report(outcome, summary)

    def _is_sure(self, elsewhere: undo.Elsewhere) -> bool:
        return self._question == f"{elsewhere.op} {elsewhere.first.id}"

    def _show_progress(self, words: str) -> None:
        if self.app.screen_stack:
            self.app.screen.post_message(HowFar(words))

    def _ask(self, wanted: Wanted, elsewhere: undo.Elsewhere) -> None:
        """Ask about a change that was made elsewhere. Forget the keys that were pressed before the question was
        shown."""
        self._wanted.clear()
        self._question = f"{elsewhere.op} {elsewhere.first.id}" if wanted.other_keys == self._other_keys else ""
        again, every = (actions.key_of(f"app.{name}") for name in (elsewhere.op, "changes"))
        meanwhile = (clock.parse(elsewhere.first.latest.time) or 0.0) >= int(self.services.began)
        here = "in another TUI" if meanwhile else "in the TUI"
        here = "here" if elsewhere.first.latest.actor == ledger.here("tui") else here
        words = asked_about(elsewhere, self.services.data.now(), {"tui": here, "cli": "in a shell"})
        self.services.say(f"{again} again {VERBS[elsewhere.op]} {words}. {every} lists all changes.")

    def _report(self, undone: undo.Undone, summary: str) -> None:
        self._question = ""
        words = f"{DONE[undone.op].capitalize()}: {summary}"
        left = undone.total - undone.tried
        if left:
            keys = [actions.key_of(f"app.{name}") for name in ("undo", "redo")]
            back, rest = keys if undone.op == "redo" else keys[::-1]
            words += f", then stopped. {rest} continues, {back} reverses it."
        if not undone.failed:
            self.services.say(words)
            return
        title = f"{words}. {many(len(undone.failed), 'change')} left alone:"
        reasons = [(each.summary, reason(each, error)) for each, error in undone.failed]
        self._refused = left_alone(title, reasons)
