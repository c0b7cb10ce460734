"""Walks through the four places: after each step the lines of the screen that it changed, as walks/*.txt say.

A walk is its own script. `== KEY…` presses keys, `== "text"` types it, `== an.id` runs an action that only the palette
has, `== click COLUMN ROW` clicks, `== paste WORDS` pastes; below stand the lines that it changed, beside the screen
before or that of some steps ago, and after `»` what notes say. `== $ …` is a line for a shell in the project, with what it prints. To change a walk edit its steps, and let

    MEMTUI_RENEW_SNAPSHOTS=1 pytest tests/tui/test_walks.py

write the lines; look at their diff before committing it.
"""

import asyncio
import difflib
import itertools
import pathlib
import re
import subprocess

import pytest
from textual import events, keys
from textual._compositor import visible_screen_stack
from textual.screen import ModalScreen

from memtui.tui import app, services
from memtui.tui.files import COMMAND
from memtui.tui.screens import list_screen
from memtui.tui.screens.activity.screen import Activity
from memtui.tui.screens.inbox import screen as inbox

from . import hands, stage
from .test_snapshots import RENEW, renewing

WALKS = sorted((pathlib.Path(__file__).parent / "walks").glob("*.txt"))
SIZES = {"narrow": (80, 24), "wide": (120, 30)}
SECONDS, CALM = 20.0, 4
# What a screen waits for before it reads on.
PAUSES = (
    (inbox, "REST_SECONDS"),
    (inbox, "SETTLE_SECONDS"),
    (list_screen, "POLL_SECONDS"),
    (Activity, "typing_seconds"),
)
# Ids are random; the slider of a scroll bar comes a moment after the lines; what is written now is days after the stage's.
VARYING = re.compile(r"(?<=id=)[0-9A-Z]{26}|[▁-█](?=[ │]*$)|(?<=· )\+\d+[a-z]+|(?<=written )in \d+[a-z]+")


async def resting(pilot):
    """Wait until nothing waits to be done or drawn, a few times in a row."""
    loop, calm = asyncio.get_running_loop(), 0
    end = loop.time() + SECONDS
    while calm < CALM:
        assert loop.time() < end, "the application does not come to rest"
        await asyncio.sleep(0.004)
        asked = pilot.app.on_top is None  # then a command waits for the answer
        busy = any(worker.is_running and not (asked and worker.group == COMMAND) for worker in pilot.app.workers)
        busy |= any(pump.message_queue_size or pump._next_callbacks for pump in pilot.app._registry)
        busy |= bool(pilot.app.screen._callbacks or pilot.app.screen._dirty_widgets)
        calm = 0 if busy else calm + 1


async def take(pilot, step):
    """Take one step of a walk."""
    verb, _, rest = step.partition(" ")
    if verb == "click":
        await pilot.click(offset=tuple(map(int, rest.split())))
    elif verb == "paste":
        pilot.app.post_message(events.Paste(rest))
    if verb in {"click", "paste"}:
        return await resting(pilot)
    if "." in step and not step.startswith('"'):
        pilot.app.action_run(step)
    for key in step.strip('"') if step.startswith('"') else () if "." in step else step.split():
        plain = len(key) > 1 or key.isalnum()
        pilot.app.post_message(
            events.Key(key if plain else keys._character_to_key(key), key if len(key) == 1 else None)
        )
    await resting(pilot)


def shell(line, cwd):
    """What a shell prints for a line, and its exit code if there is one; files are as old as the sample world."""
    done = subprocess.run(line, shell=True, cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    subprocess.run(
        f"find .. -newermt @{stage.NOW} -name '*.md' -exec touch -d @{stage.NOW} {{}} +", shell=True, cwd=cwd
    )
    return [*done.stdout.splitlines(), *([f"[{done.returncode}]"] if done.returncode else [])]


async def replay(memtui, size, steps):
    """The text of a walk: each step, and what it changed of the screen before, or of an earlier one that is nearer."""
    text, screens, notes = [], [[""] * size[1]], []
    notify = memtui.notify
    memtui.notify = lambda message, **more: (notes.append(message), notify(message, **more))
    async with memtui.run_test(size=size) as pilot:
        await stage.settled(pilot)
        for step in ["", *steps]:
            if step.startswith("$ "):
                text += [f"== {step}", *await asyncio.to_thread(shell, step[2:], memtui.data.cwd)]
                continue
            await take(pilot, step)
            if isinstance(memtui.screen, ModalScreen):  # it keeps what it first saw of the screen below
                memtui.screen.refresh()
                await resting(pilot)
            visible_screen_stack.set(memtui._background_screens)  # as for a frame: what a dialog shows below it
            lines = [VARYING.sub(lambda varying: " " * len(varying[0]), line).rstrip() for line in hands.lines(memtui)]
            nearest = min(reversed(range(len(screens))), key=lambda at: len(changed(screens[at], lines)))
            back = len(screens) - 1 - nearest
            text.append(f"== {step}")
            text += [f"as {back} steps ago"] if back else []
            for line, rows in itertools.groupby(changed(screens[nearest], lines), key=lambda row: lines[row]):
                first, *_, last = [*rows] * 2
                text.append(f"{first if first == last else f'{first}-{last}'} {line}".rstrip())
            text += [f"» {line}" for note in notes for line in note.split("\n")]
            screens.append(lines)
            notes.clear()
    return text


def changed(before, after):
    return [row for row, line in enumerate(after) if line != before[row]]


@pytest.mark.every(step=3, of=1)
@pytest.mark.parametrize("path", WALKS, ids=lambda path: path.stem)
def test_each_step_of_a_walk_changes_on_the_screen_what_it_changed(path, monkeypatch):
    for module, name in PAUSES:
        monkeypatch.setattr(module, name, 0.001)
    monkeypatch.setattr(app, "WATCH_SECONDS", 3600.0)  # nobody else changes anything
    monkeypatch.setattr(services, "NOTE_SECONDS", 3600.0)  # on a slow machine, too, a note stays until the next one
    before = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    place, size, *_ = path.stem.split("-")
    steps = [line[3:] for line in before if line.startswith("== ") and line != "== "]
    with stage.environment(), stage.place() as top:
        world = stage.build(top)
        after = asyncio.run(replay(stage.application(world.env, world.shop, screen=place), SIZES[size], steps))
        stage.assert_nothing_private("\n".join(after), top)
    if after == before or renewing():
        path.write_text("\n".join(after) + "\n", encoding="utf-8")
        return
    diff = difflib.unified_diff(before, after, "before", "now", n=2, lineterm="")
    command = f"{RENEW}=1 pytest tests/tui/test_walks.py"
    pytest.fail(
        "\n".join([f"{path.name} goes otherwise now. If that is right: {command}", *itertools.islice(diff, 80)]),
        pytrace=False,
    )
