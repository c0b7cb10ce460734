"""Recall in Memories: a prompt, the list ordered by what helps, and why; changed from there, undone by z."""

import os

from memtui.deliver import log_hot
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.ask import Line
from memtui.tui.screens.memories.rows import RULE
from tui.conftest import NOW, press, settle
from tui.hands import read, to_row

WIDE, SMALL = (160, 48), (80, 24)
PROMPT = "do we install with pnpm or with npm here?"


def names(app):
    """The rows: memories by name, the rule as a dash."""
    return ["-" if pair is RULE else pair[1].memory.name for pair in app.screen.table.rows]


def outcomes(app):
    return {each.name: each.outcome for each in app.screen.recall.last.candidates}


def candidate(app):
    """What the search says of the memory under the cursor."""
    return app.screen.recall.candidate(app.screen.table.row)


async def ask(pilot, prompt=PROMPT):
    """Type a prompt, and go to the list."""
    await settle(pilot)
    await press(pilot, "r")
    pilot.app.screen.recall.line.value = prompt
    await press(pilot, "enter")


async def to(pilot, name):
    await to_row(pilot, lambda pair: pair[1].memory.name == name)


async def test_a_trigger_is_added_and_undone(app):
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "how should the avatar of a customer be cropped in the header of our shop")
        assert outcomes(app)["prefer-pnpm"] == "unlikely"
        await to(pilot, "prefer-pnpm")
        await pilot.press("t")
        assert isinstance(app.screen, Line)
        await press(pilot, "enter")
        assert outcomes(app)["prefer-pnpm"] == "inject"
        await to(pilot, "prefer-pnpm")
        assert "its trigger  “how should the avatar" in app.screen.detail.plain
        await press(pilot, "t", "enter")
        assert app.last_note == "prefer-pnpm has this trigger already."
        await press(pilot, "z")
        assert outcomes(app)["prefer-pnpm"] == "unlikely"


async def test_a_memory_is_muted_for_prompts_like_this_only_and_x_takes_it_back(app):
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot)
        await press(pilot, "x")
        assert outcomes(app)["prefer-pnpm"] == "muted"
        await to(pilot, "prefer-pnpm")
        assert "muted for prompts like this: " in app.screen.detail.plain
        assert "delivered from 35%" not in app.screen.detail.plain, "it is not left out because it is unlikely"
        await ask(pilot, "how do I add a package: npm i, or pnpm add, or something else")
        assert outcomes(app)["prefer-pnpm"] == "inject"
        await ask(pilot)
        await to(pilot, "prefer-pnpm")
        assert "deliver it again" in app.screen.detail.plain
        await press(pilot, "x")
        assert outcomes(app)["prefer-pnpm"] == "inject"
        await press(pilot, "z")
        assert outcomes(app)["prefer-pnpm"] == "muted"
        await press(pilot, "escape", "escape")
        app.screen.show_query("is:muted")
        assert [row.memory.name for _, row in app.screen.table.rows] == ["prefer-pnpm"]


async def test_a_memory_is_pinned_and_counts_more(app, world):
    path = world.shop + "/.claude/memory/prefer-pnpm.md"
    before, written = read(path), os.stat(path).st_mtime
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot)
        likely = candidate(app).probability
        await press(pilot, "P")
        assert abs(os.stat(path).st_mtime - written) < 0.001, "it says what it said, so it is as old as it was"
        found = candidate(app)
        assert (found.name, found.pinned) == ("prefer-pnpm", True)
        assert found.probability > likely
        assert found.delivered, "it is trusted as it was"
        assert app.screen.table._draw(app.screen.table.row)[3].plain.startswith("▲ ")
        await press(pilot, "P")
        assert not candidate(app).pinned
        await press(pilot, "z", "z")
    assert read(path) == before


async def test_marks_and_filter_deliver_log_and_change_nothing(app, world):
    before = list(log_hot.newest_first(world.root))
    journal = read(world.root + "/journal.jsonl")
    async with app.run_test(size=SMALL) as pilot:
        await ask(pilot)
        await press(pilot, "enter", "escape")
        await pilot.press("space", "space", "space")
        assert len(app.screen.table.chosen()) == 2, "the rule can't be marked"
        await press(pilot, "escape", "slash", *"release", "enter")
        assert names(app) == ["release-steps"], "the rule is hidden while the list is filtered"
        assert app.screen.summary().plain == f"1 of {len(outcomes(app))} memories"
        await press(pilot, "escape")
        await pilot.press("A")
        assert len(app.screen.table.chosen()) == len(outcomes(app))
    assert (list(log_hot.newest_first(world.root)), read(world.root + "/journal.jsonl")) == (before, journal)


async def test_read_only_builds_no_index_and_says_so(world):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, read_only=True)
    async with app.run_test(size=SMALL) as pilot:
        await ask(pilot)
        assert "--read-only" in app.screen.why_empty()
    assert "recall" not in os.listdir(world.root)


async def test_an_error_while_indexing_is_shown_where_it_happens(app, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device", "recall")

    monkeypatch.setattr("memtui.recall.index_build.bring_up_to_date", full)
    async with app.run_test(size=SMALL) as pilot:
        await ask(pilot)
        assert "can't be brought up to date: recall: No space left on device" in app.screen.summary().plain
