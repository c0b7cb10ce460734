"""The triggers of a memory in its form: typed in one line, kept beside the memory, undone with the rest."""

import pytest

from memtui.store import triggers
from memtui.views import memories
from tui.hands import choose, project, read

from .conftest import press, running
from .test_memory_form import field, open_form, told


def kept(world, file):
    found = triggers.lines_of(world.root, f"{world.shop}/.claude/memory").get(file, [])
    return [each.text for each in found]


async def test_triggers_are_changed_with_the_memory_as_one_step_of_undo(app, world):
    async with app.run_test(size=(80, 24)) as pilot:
        form = await open_form(pilot, "prefer-pnpm")
        before = kept(world, "prefer-pnpm.md")
        line = field(form, "triggers")
        assert line.value == "; ".join(before)
        line.value = "add a dependency ; lockfile changed;; "
        field(form, "description").value = "Only pnpm"
        await press(pilot, "ctrl+s")
        assert kept(world, "prefer-pnpm.md") == ["add a dependency", "lockfile changed"]
        assert "Only pnpm" in read(project(world, "prefer-pnpm.md"))
        assert "triggers" not in read(project(world, "prefer-pnpm.md"))
        await press(pilot, "z")
        assert kept(world, "prefer-pnpm.md") == before
        assert "Only pnpm" not in read(project(world, "prefer-pnpm.md"))


async def test_triggers_alone_change_no_file_and_follow_a_new_name(app, world):
    before = read(project(world, "prefer-pnpm.md"))
    async with app.run_test(size=(80, 24)) as pilot:
        form = await open_form(pilot, "prefer-pnpm")
        field(form, "triggers").value = "add a dependency"
        await press(pilot, "ctrl+s")
        assert read(project(world, "prefer-pnpm.md")) == before
        form = await open_form(pilot, "prefer-pnpm")
        field(form, "name").value = "use-pnpm"
        field(form, "triggers").value = "add a dependency; the lockfile"
        await press(pilot, "ctrl+s")
        assert kept(world, "use-pnpm.md") == ["add a dependency", "the lockfile"]


async def test_a_new_memory_has_the_triggers_that_were_typed(app, world):
    async with running(app, (80, 24)) as pilot:
        await pilot.press("n")
        await choose(pilot, "project")
        form = app.screen
        field(form, "name").value = "no-mocks"
        field(form, "triggers").value = "x" * 301
        await press(pilot, "ctrl+s")
        assert "A trigger can have 300 characters at most" in told(form)
        field(form, "triggers").value = "how do we test the database"
        field(form, "description").value = "Real database"
        await press(pilot, "ctrl+s")
        assert kept(world, "no-mocks.md") == ["how do we test the database"]
        await press(pilot, "z")
        assert kept(world, "no-mocks.md") == []


@pytest.mark.parametrize(
    ("text", "known", "found"),
    [
        ("", (), []),
        (" ; ;", (), []),
        ("a;b ; c; a", (), ["a", "b", "c"]),
        ("one; two; three", ("one; two", "three"), ["one; two", "three"]),
        ("one; two more", ("one; two",), ["one; two more"]),
    ],
)
def test_a_line_is_read_as_triggers(text, known, found):
    assert memories.triggers_from_text(text, known) == found
