"""How many of several changes were made, and which were left alone, and why."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from rich.text import Text

from memtui import actions
from memtui.base.phrasing import many
from memtui.tui.dialogs.dialog import Preview
from memtui.views import safe_text

if TYPE_CHECKING:
    from memtui.store.memory import Memory
    from memtui.store.store import Outcome
    from memtui.tui.services import Services


async def report(
    services: "Services",
    outcome: "Outcome[Any, Any]",
    words: str,
    name_of: "Callable[[Any], tuple[Memory, str]]",
    *,
    for_good: bool = False,
) -> None:
    """Say how many changes were made; list those that were not, and why. `name_of`: memory and scope of an item."""
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
