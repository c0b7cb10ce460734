"""Which of the last prompts would recall a memory as it is typed in a form, before it is saved."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from memtui.base.phrasing import age
from memtui.recall.prompt_replay import ReplayedPrompt, StoreChange
from memtui.recall_preview import Recalling
from memtui.tui.dialogs.ask import Choice
from memtui.views import recall as present
from memtui.views import safe_text

if TYPE_CHECKING:
    from memtui.tui.services import Services

# Prompts that are replayed.
PROMPTS = 50
NONE = "None of your last {} prompts would get it."
NOT_HERE = "No prompt in this project recalls memories of {}."
NO_PROMPTS = "No prompt that you typed in this project is in a transcript on this machine."


async def show(services: "Services", changes: Sequence[StoreChange]) -> None:
    """List the prompts that would recall the memory with these `changes`. Raises MemtuiError or OSError."""
    recalling = Recalling(services.data, writes=not services.read_only)
    if changes[-1].directory not in {directory for _, directory in recalling.places()}:
        services.warn(NOT_HERE.format(changes[-1].scope))
        return
    services.say("Trying your last prompts …")
    replayed = await asyncio.to_thread(_replay, recalling, changes)
    paths, now = [change.path for change in changes], services.data.now()
    rows = []
    for at, outcome in enumerate(replayed):
        sign, prompt = present.mark_of(outcome, paths), outcome.prompt
        if sign is not None:
            words = f"{sign[0]} {age(prompt.time or None, now):>4}  {safe_text.line(prompt.text, 300)}"
            rows.append((str(at), words))
    if not rows:
        services.say(NONE.format(len(replayed)) if replayed else NO_PROMPTS)
        return
    title = f"Which of your last prompts recall it: {present.sums_of(replayed, paths)}"
    await services.ask(Choice(title, rows, about=lambda at: _about(replayed[int(at)]), verb="back"))


def _replay(recalling: Recalling, changes: Sequence[StoreChange]) -> list[ReplayedPrompt]:
    recalling.bring_up_to_date()
    return recalling.replay(recalling.prompts(PROMPTS), changes)


def _about(replayed: ReplayedPrompt) -> Text:
    text = Text(safe_text.line(replayed.prompt.text, 400) + "\n")
    for mark, style, words in present.replayed(replayed):
        text.append(f"{mark} ", style=style).append(safe_text.line(words, 200) + "\n")
    return text
