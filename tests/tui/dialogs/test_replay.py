"""Before a memory is saved: which of the last prompts would recall it as it is typed."""

from pathlib import Path

import pytest

from memtui.demo.sessions import DemoSession
from memtui.tui.dialogs.dialog import Preview
from tui.conftest import press, running, until
from tui.hands import exists, stand_on
from tui.test_memory_form import field

ASKED = "do we install with pnpm or with npm here?"
WEATHER = "what is the weather on the moon?"


@pytest.fixture(autouse=True)
def asked(world):
    session = DemoSession(world, "today", world.shop, 2.0)
    session.says(WEATHER)
    session.says(ASKED)
    path = next(each for each in Path(world.config, "projects").iterdir() if each.name.endswith("-shop"))
    (path / "5e55-asked.jsonl").write_text("\n".join(session.lines) + "\n")


def rows(dialog):
    """The marks of the prompts by their texts."""
    return {line.split(maxsplit=2)[2]: line[0] for line in dialog.plain.splitlines()}


async def replay(pilot):
    await press(pilot, "ctrl+l")
    await until(pilot, lambda: isinstance(pilot.app.screen, Preview))
    return pilot.app.screen


@pytest.mark.every(step=1)
async def test_an_edit_shows_which_prompts_lose_it_and_keeps_what_is_typed(app, world):
    async with running(app, (120, 40)) as pilot:
        await stand_on(pilot, "prefer-pnpm")
        await press(pilot, "e")
        form = app.screen
        shown = rows(await replay(pilot))
        assert shown[ASKED] == "✓"
        assert WEATHER not in shown
        await press(pilot, "escape")
        assert app.screen is form
        form._body.text = "Nothing."
        field(form, "description").value = "Colours of charts"
        field(form, "name").value = "colours"
        await pilot.pause()
        dialog = await replay(pilot)
        assert rows(dialog)[ASKED] == "-"
        await press(pilot, "escape")
        assert app.screen is form
        assert form.typed().changed["name"] == "colours"
        assert exists(f"{world.shop}/.claude/memory/prefer-pnpm.md")
