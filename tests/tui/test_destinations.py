"""What the palette finds beside the actions."""

import pytest

from memtui.core.settings import config
from memtui.tui.app import MemtuiApp
from memtui.tui.theme import theme_named

from .conftest import NOW, settle
from .test_frame import palette


async def chosen(pilot, words):
    """The first line for some words, which is then chosen."""
    found = await palette(pilot, words)
    await pilot.press("enter")
    await settle(pilot)
    return found[0]


@pytest.mark.parametrize("name", ["nord", "ansi-dark", "dracula"])
@pytest.mark.slow
async def test_a_theme_is_chosen_by_its_name_and_kept(app, name):
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert (await chosen(pilot, f"theme {name}")).startswith(f"theme: {name}")
        assert app.theme == theme_named(name)
        assert any(f"Theme: {name}" in note.message for note in app._notifications)
        assert app.data.setting("theme") == name
        pilot.app.action_run("app.theme")
        assert app.theme == theme_named(config.THEMES[3 if name == "ansi-dark" else 0])


@pytest.mark.slow
async def test_a_memory_is_gone_to_by_its_name(app, world):
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("2")
        await settle(pilot)
        line = await chosen(pilot, "pnpm")
        assert line.startswith("memory: prefer-pnpm")
        assert "project shop" in line
        assert app.screen.group == "memories"
        assert app.screen.table.row[1].memory.path == f"{world.shop}/.claude/memory/prefer-pnpm.md"


@pytest.mark.slow
@pytest.mark.parametrize("screen", ["memories", "inbox"])
async def test_the_memories_of_another_project_are_gone_to_by_its_name(world, screen):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen=screen)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert (await chosen(pilot, "project blog")).startswith("project: blog")
        await settle(pilot)
        assert app.screen.group == "memories"
        assert app.screen.places.row.words == "other projects ▸ blog"
        assert {scope.kind for scope, _ in app.screen.table.rows} == {"auto"}


@pytest.mark.slow
async def test_a_session_is_gone_to_by_its_title(app, world):
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("3")
        await settle(pilot)
        for _ in range(100):
            if app.data.statistics.ready:
                break
            await pilot.pause(0.02)
        line = await chosen(pilot, "session: add tests")
        assert line.startswith("session: add tests")
        assert app.screen.group == "activity"
        assert app.screen.wanted_rows.session == world.sessions["today"]
        assert {row.session for row in app.screen.table.rows} == {world.sessions["today"]}


@pytest.mark.slow
async def test_the_words_of_a_line_are_told_from_its_name_and_its_key(app):
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        every = await palette(pilot, "")
        assert any("n         Create a memory" in line for line in every)
        option = app.screen.query_one("CommandList").get_component_rich_style("option-list--option")
        assert not option.bold


@pytest.mark.slow
async def test_a_theme_comes_before_actions_that_only_mention_its_word(app):
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        found = await palette(pilot, "them")
        at = {
            name: next(at for at, row in enumerate(found) if name in row) for name in ("theme: dark", "changes: list")
        }
        assert at["theme: dark"] < at["changes: list"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("screen", "words", "first"),
    [
        ("inbox", "nord", "theme: nord"),
        ("memories", "nord", "theme: nord"),
        ("memories", "dark", "theme: dark"),
        ("activity", "pnpm", "memory: prefer-pnpm"),
        ("inbox", "done", "inbox: accept"),
    ],
)
async def test_a_name_that_has_the_typed_word_comes_first_and_scattered_letters_not_at_all(world, screen, words, first):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen=screen)
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        found = await palette(pilot, words)
        assert found[0].startswith(first)
        assert all(words in row.casefold() for row in found)


def remember_editor(world):
    """Write a memory whose name is a word of an action."""
    with open(f"{world.shop}/.claude/memory/editor.md", "w", encoding="utf-8") as file:
        file.write("---\nname: editor\ndescription: which editor\n---\n\nUse vim.\n")


@pytest.mark.slow
async def test_a_memory_that_is_called_what_was_typed_comes_before_an_action_with_that_word(world):
    remember_editor(world)
    app = MemtuiApp(dict(world.env), world.shop, now=NOW)
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        found = await palette(pilot, "editor")
        names = [row.partition("  ")[0] for row in found]
        assert names[0] == "memory: editor"
        assert "memories: edit in your editor" in names
