"""Import and export in the TUI: what comes is shown first, and nothing is written before that."""

import os

from memtui.base import paths_hot
from memtui.review import waiting_entries
from memtui.tui.dialogs.ask import Line
from memtui.tui.dialogs.dialog import Preview
from tui.conftest import press, running, settle
from tui.hands import exists, notes, write


def drafts(world):
    root = world.env["MEMTUI_HOME"] if "MEMTUI_HOME" in world.env else world.config + "/memtui"
    found = waiting_entries.waiting_in(root, [paths_hot.project_key(world.shop), None], ("updates",))
    return [each.entry.fields.get("name") for each in found if each.entry.fields.get("kind") == "imported"]


async def type_path(pilot, path):
    assert isinstance(pilot.app.screen, Line)
    pilot.app.screen.query_one("Input").value = path
    await pilot.pause()
    await press(pilot, "enter")


def shown(app):
    assert isinstance(app.screen, Preview)
    return app.screen.heading + "\n" + app.screen.plain


async def test_what_would_come_is_shown_and_comes_into_the_inbox_as_one_step(app, world):
    notes = os.path.join(world.shop, "notes")
    os.makedirs(notes)
    write(f"{notes}/deploy.md", "Deploys go out on Tuesdays. The key is ghp_16C7e42F292c6912E7710c838347Ae178B4a.\n")
    write(f"{notes}/empty.md", "\n")
    async with running(app, (120, 40), "memories.import") as pilot:
        await type_path(pilot, "nowhere")
        assert "no such file" in str(app.screen.query_one("#wrong").render())
        await type_path(pilot, "notes")
        text = shown(app)
        assert "a folder of Markdown notes" in text
        assert "Would add 1 draft." in text
        assert "a GitHub token" in text
        assert "project:deploy" in text
        assert "empty.md is empty" in text
        assert "ghp_" not in text
        await press(pilot, "escape")
        assert drafts(world) == []
        await press(pilot, "memories.import")
        await type_path(pilot, "notes")
        await press(pilot, "enter")
        assert drafts(world) == ["deploy"]
        await press(pilot, "memories.import")
        await type_path(pilot, "notes")
        assert "1 known already" in shown(app)
        assert not app.screen.go
        await press(pilot, "escape", "z")
        assert drafts(world) == []


async def test_a_scope_is_exported_as_a_folder_and_what_is_no_source_is_told(app, world):
    write(f"{world.shop}/binary", "\0\1\2")
    async with running(app, (120, 40)) as pilot:
        app.screen.places.go_to("global")
        await settle(pilot)
        await press(pilot, "memories.export")
        assert isinstance(app.screen, Line)
        assert app.screen.value == "~/memtui-global"
        await type_path(pilot, "../mine")
        path = os.path.join(os.path.dirname(world.shop), "mine")
        assert exists(os.path.join(path, "concise-answers.md"))
        await press(pilot, "memories.export")
        await type_path(pilot, "../mine")
        assert "a file or folder of that name" in str(app.screen.query_one("#wrong").render())
        await press(pilot, "escape", "memories.import")
        await type_path(pilot, "binary")
        assert "binary file" in "".join(notes(app))
