"""The model's blocks are memories of the scope `model`: read, edited, with versions and undo, once a model is set."""

import os

import pytest
from textual.widgets import TextArea

from memtui.base import fs_hot, paths_hot
from memtui.models.subconscious import blocks
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.draft_form import DraftForm
from tui.conftest import NOW, press, running, settle
from tui.hands import to_row

WIDE = (120, 40)
pytestmark = pytest.mark.every(step=1)


@pytest.fixture
def app(world):
    fs_hot.append(world.root + "/config.toml", b'llm_backend = "api"\n')
    return MemtuiApp(dict(world.env), world.shop, now=NOW)


def known(world):
    return blocks.Blocks(world.root, paths_hot.project_key(world.shop), lambda: NOW)


def listed(app):
    return [row.memory.stem for scope, row in app.screen.table.rows if scope.kind == "model"]


async def to(pilot, name):
    await to_row(pilot, lambda pair: (pair[0].kind, pair[1].memory.stem) == ("model", name))


@pytest.mark.slow
async def test_blocks_of_this_project_are_listed_and_read_once_a_model_is_set(app, world):
    blocks.Blocks(world.root, paths_hot.project_key(world.blog)).edit(
        "guidance", "", "Alt texts.", run="r", session="s"
    )
    async with running(app, WIDE) as pilot:
        assert {"pending_items", "project_context", "user_preferences"} <= {*listed(app)}
        assert "guidance" not in listed(app)
        assert "model" in [place.label for place in app.screen.places.rows]
        await to(pilot, "project_context")
        detail = app.screen.detail.plain
        assert "Tests of components" in detail
        assert "a block of the model's notes" in detail
        assert "where the setting subconscious is full" in detail
        assert "no MEMORY.md" not in detail
    os.remove(world.root + "/config.toml")
    without = MemtuiApp(dict(world.env), world.shop, now=NOW)
    async with running(without, WIDE):
        assert listed(without) == []
        assert "model" not in [place.label for place in without.screen.places.rows]


async def test_a_block_is_changed_in_the_form_and_undone(app, world):
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.screen.places.go_to("model")
        await to(pilot, "user_preferences")
        await press(pilot, "e")
        assert isinstance(app.screen, DraftForm)
        app.screen.query_one(TextArea).text = "Short answers."
        await press(pilot, "ctrl+s")
        assert (app.screen.places.row.label, known(world).text("user_preferences")) == ("model", "Short answers.")
        assert known(world).versions("user_preferences")[0].writer.by == "person"
        await press(pilot, "z")
        assert known(world).text("user_preferences") == "Wants tests stable before anything new."


async def test_what_the_model_wrote_meanwhile_is_not_written_over_unasked(app, world):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "pending_items")
        await press(pilot, "e")
        known(world).edit("pending_items", "", "And the docs.", run="r", session="s")
        app.screen.query_one(TextArea).text = "Mine."
        await press(pilot, "ctrl+s")
        assert known(world).text("pending_items").endswith("And the docs.")


async def test_an_earlier_version_is_restored(app, world, monkeypatch):
    said = []
    known(world).edit("project_context", "", "- Deploys on Tuesdays.", run="r9", session="5e55aaaa-1")
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "project_context")
        monkeypatch.setattr(app.screen.services, "say", said.append)
        await press(pilot, "H")
        assert [row[1].split("  ")[-1].strip() for row in app.screen.table.rows] == [
            "the model, session 5e55aaaa",
            "outside memtui",
        ]
        await press(pilot, "enter")
        assert "enter" not in dict(app.screen.keys()), "that is the present text"
        await press(pilot, "down", "enter")
        await press(pilot, "enter")
        assert "Deploys" not in known(world).text("project_context")
        assert "Restored version 1" in said[-1]
