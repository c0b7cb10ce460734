"""Changes of many memories at once: made in a worker, which reports its progress and can be stopped."""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text
from textual.screen import Screen

from memtui import actions
from memtui.base.phrasing import many
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.services import HowFar, services_of
from memtui.views import safe_text

if TYPE_CHECKING:
    from memtui.store.memory import Memory
    from memtui.store.store import Outcome, Store
    from memtui.tui.services import Services

# The most changes that are made without a worker.
AT_ONCE = 20
# The least time between two reports of progress.
TOLD_SECONDS = 0.1


class BatchRunner:
    """The changes that one screen or dialog makes. It gets `HowFar` messages while they run."""

    def __init__(self, screen: Screen[Any]) -> None:
        self.screen = screen
        self.running = False
        self._stop = False

    async def each(self, store: "Store", items: Sequence[Any], act: Callable[[Any], Any]) -> "Outcome[Any, Any]":
        if len(items) <= AT_ONCE:
            return store.each(items, act)
        reported_at = 0.0

        def go_on(count: int) -> bool:
            nonlocal reported_at
            if time.monotonic() - reported_at > TOLD_SECONDS:
                self.screen.post_message(HowFar(f"{count:,} of {len(items):,} done, escape stops"))
                reported_at = time.monotonic()
            return not self._stop

        services = services_of(self.screen)
        self.running = services.at_work = True
        self._stop = False
        go_on(0)
        # Wait until the dialog before it is off the screen: painting while the worker runs takes twice as long.
        painted = asyncio.Event()
        self.screen.app.call_after_refresh(painted.set)
        try:
            await painted.wait()
            # No partial: Textual would put all the items into the worker's description.
            return await self.screen.run_worker(
                lambda: store.each(items, act, go_on), group="bulk", thread=True, exit_on_error=False
            ).wait()
        finally:
            self._stop = True  # the person may have left the screen while the thread runs
            self.running = services.at_work = False

    def stop(self) -> bool:
        self._stop = True
        return self.running


async def report(
    services: "Services",
    outcome: "Outcome[Any, Any]",
    words: str,
    name_of: "Callable[[Any], tuple[Memory, str]]",
    *,
    for_good: bool = False,
) -> None:
    """Show how many changes were made; of several, show which were not made, and why, until the person has read it.
    `name_of` returns the memory of an item, and what to call its scope; `for_good`: undo does not take them back."""
    back = "" if for_good else f" {actions.takes_back()}"
    count, failed = len(outcome.done), outcome.failed
    if outcome.total == 1:
        if failed:
            services.fail(failed[0][1])
        else:
            services.say(f"{words}: {safe_text.line(name_of(outcome.done[0][0])[0].stem, 60)}.{back}")
        return
    what = many(count, "memory", "memories") if count == outcome.total else f"{count} of {outcome.total}"
    sentence = f"{words}: {what}{', then stopped' if outcome.stopped else ''}."
    if not failed:
        services.say(sentence + back)
        return
    reasons = []
    for item, error in failed:
        memory, scope = name_of(item)
        reasons.append((f"{memory.stem} ({scope})", error.message.removeprefix(memory.path + ": ")))
    await services.ask(
        left_alone(f"{sentence} {many(len(failed), 'memory was', 'memories were')} left alone:", reasons)
    )


def left_alone(title: str, reasons: "Iterable[tuple[str, str]]") -> Preview:
    """Return a dialog that lists what was not changed: (what, why)."""
    text = Text()
    for what, why in reasons:
        text.append(safe_text.line(what, 200), style="bold").append(f"\n  {safe_text.line(why, 400)}\n")
    return Preview(title, text, "")
