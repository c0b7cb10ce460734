"""Many changes at once, without a key having to wait: in a worker that tells how far it is and can be stopped."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.screen import Screen
from textual.worker import get_current_worker

from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import many
from memtui.present import safe_text
from memtui.present.memories import left_alone
from memtui.tui.services import services_of

if TYPE_CHECKING:
    from memtui.core.memories.memory import Memory
    from memtui.core.memories.store import Outcome, Store
    from memtui.tui.services import Services

# So many are done at once, without a worker.
AT_ONCE = 20
TOLD_SECONDS = 0.1
NAMED = 3


class Bulk:
    """The changes of one screen. `tell` puts words into its foot."""

    def __init__(self, screen: Screen[Any], tell: Callable[[str], None]) -> None:
        self.screen = screen
        self.tell = tell
        self.running = False
        self._stop = False

    def start(
        self,
        store: "Store",
        items: Sequence[Any],
        act: Callable[[Any], Any],
        then: "Callable[[Outcome[Any, Any]], None]",
    ) -> None:
        """Do it to each as one step of undo; `then` is told what became of them."""
        if len(items) <= AT_ONCE:
            then(store.each(items, act))
            return
        self.running, self._stop = True, False
        services_of(self.screen).at_work = True
        self.tell(self._words(0, len(items)))
        # The dialog before it goes first: painting beside the work takes twice as long. No partial: the worker would
        # describe itself by all the items.
        work = partial(self.screen.run_worker, lambda: self._work(store, items, act, then), group="bulk", thread=True)
        self.screen.app.call_after_refresh(work)

    def stop(self) -> bool:
        """Make no more changes; False if none are being made."""
        self._stop = True
        return self.running

    def _words(self, done: int, whole: int) -> str:
        return f"{done:,} of {whole:,} done, escape stops"

    def _work(
        self,
        store: "Store",
        items: Sequence[Any],
        act: Callable[[Any], Any],
        then: "Callable[[Outcome[Any, Any]], None]",
    ) -> None:
        worker, screen = get_current_worker(), self.screen
        told = time.monotonic()

        def going(done: int) -> bool:
            nonlocal told
            if time.monotonic() - told > TOLD_SECONDS and not worker.is_cancelled and screen.is_attached:
                screen.app.call_from_thread(self.tell, self._words(done, len(items)))
                told = time.monotonic()
            return not self._stop and not worker.is_cancelled

        try:
            outcome = store.each(items, act, going)
        finally:
            self.running = services_of(screen).at_work = False
        if not worker.is_cancelled and screen.is_attached:
            screen.app.call_from_thread(then, outcome)


def report(app: "Services", outcome: "Outcome[Any, Any]", words: str, memory_of: "Callable[[Any], Memory]") -> None:
    """Tell how many were done, and which were not and why."""
    done, failed = len(outcome.done), outcome.failed
    if outcome.whole == 1:
        if failed:
            app.fail(failed[0][1])
        else:
            app.say(f"{words}: {safe_text.line(memory_of(outcome.done[0][0]).stem, 60)}.")
        return
    what = many(done, "memory", "memories") if done == outcome.whole else f"{done} of {outcome.whole}"
    lines = [f"{words}: {what}{', then stopped' if outcome.stopped else ''}."]
    if failed:
        lines.append(f"{left_alone(len(failed))}:")
    for item, error in failed[:NAMED]:
        found = memory_of(item)
        lines.append(
            f"{safe_text.line(found.stem, 60)}: {safe_text.line(error.message.removeprefix(found.path + ': '), 200)}"
        )
    if len(failed) > NAMED:
        lines.append(f"and {len(failed) - NAMED:,} more")
    if failed:
        app.fail(MemtuiError("\n".join(lines)))
    else:
        app.say(lines[0])
