"""The help has a legend of every mark that the lists of a screen draw."""

import pytest

from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.tour import Tour
from memtui.tui.screens.memories import rows as memory_rows
from memtui.tui.widgets.rows import RowList
from memtui.views import glyphs, legend
from memtui.views.deliveries import GLYPHS

from .conftest import NOW, running, settle

# What is drawn of text, of gauges and of rules is no mark.
TEXT = set("–—“”„‘’‚×─━│╸╺┅╍▁▂▃▄▅▆▇█▏▎▍▌▋▊▉")
SCREENS = ["memories", "inbox", "activity", "setup"]


async def help_text(pilot):
    await pilot.press("question_mark")
    await settle(pilot)
    return pilot.app.focused.plain


def told(text):
    """The marks that a help explains."""
    return {line.split()[0] for line in text.split("\n") if line.startswith("  ") and line.strip()}


@pytest.mark.slow
@pytest.mark.parametrize("name", SCREENS)
async def test_every_mark_that_is_drawn_is_explained(world, name):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW)
    app.first = name
    async with running(app, (160, 60)) as pilot:
        drawn = set()
        for table in app.screen.query(RowList):
            for at, row in enumerate(table.rows):
                cells = table._draw(row)
                drawn |= {char for cell in cells for char in cell.plain if char in glyphs.PLAIN}
                table.move_to(at)
                drawn |= {line[0] for line in app.screen.detail.plain.split("\n") if line[:1] in glyphs.PLAIN}
        marks = told(await help_text(pilot))
        assert drawn - TEXT <= marks
        assert {mark for mark, _ in legend.LISTS} <= marks


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "marks"),
    [
        (
            "memories",
            {*"ufprt", *memory_rows.REASONS.values(), memory_rows.AUTOSAVED, *(glyph for glyph, _ in GLYPHS.values())},
        ),
        ("inbox", {"!", "✗"}),
        ("activity", {"○", "!", "▾", *(glyph for glyph, _ in GLYPHS.values())}),
        ("setup", {"✓", "·", "!", "✗", "▸", "●"}),
    ],
)
async def test_marks_that_are_rare_are_explained_too(world, name, marks):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW)
    app.first = name
    async with running(app, (80, 24)) as pilot:
        text = await help_text(pilot)
        assert marks <= told(text) | {mark for mark in marks if f"\n  {mark} " in text}


@pytest.mark.slow
async def test_a_wider_terminal_has_no_shorter_help(world):
    pages = {}
    for width in (120, 160):
        async with running(MemtuiApp(dict(world.env), world.shop, now=NOW), (width, 48)) as pilot:
            pages[width] = await help_text(pilot)
    assert all("try a prompt: what it brings and why" in page for page in pages.values())
    assert set(pages[120].split()) <= set(pages[160].split())


@pytest.mark.slow
async def test_the_help_key_closes_the_help_and_an_action_begins_the_tour(app):
    async with running(app, (80, 24), "question_mark", "question_mark") as pilot:
        assert len(app.screen_stack) == 1
        app.action_run("app.tour")
        await settle(pilot)
        assert isinstance(app.screen, Tour)
        await pilot.press("escape")
        await settle(pilot)
        assert app.screen.group == "inbox"
        await pilot.press("question_mark")
        await settle(pilot)
        assert "  e        edit" in app.focused.plain
        await pilot.press("escape")
        await settle(pilot)
        assert len(app.screen_stack) == 1


@pytest.mark.slow
async def test_the_marks_of_recall_are_explained_while_it_is_on(app):
    async with running(app, (80, 24), "r") as pilot:
        await pilot.press("enter")
        await settle(pilot)
        assert {"✓", "·", "=", "…", "x", "!", "▲"} <= told(await help_text(pilot))


async def test_the_word_of_the_column_last_is_explained(world):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW)
    async with running(app, (80, 24)) as pilot:
        assert "client  Claude Code loads it itself" in await help_text(pilot)
