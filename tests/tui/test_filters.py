"""The filter of every list finds each word that the list shows."""

import re

import pytest

from memtui.tui.app import MemtuiApp
from memtui.tui.model import fuzzy

from .conftest import NOW, press, running, settle


@pytest.mark.slow
@pytest.mark.parametrize(("name", "word"), [("inbox", "shop"), ("activity", "shop")])
async def test_each_row_with_the_typed_word_in_a_column_is_left_and_the_word_is_marked(world, name, word):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen=name)
    async with running(app, (160, 40)) as pilot:
        table = app.screen.table
        where = {"inbox": "for", "activity": "for"}[name]
        at = max(number for number, column in enumerate(table.columns) if column.title == where)
        wanted = {table.key(row) for row in table.rows if word in table._draw(row)[at].plain}
        assert wanted
        await pilot.press("slash", *word, "enter")
        await pilot.pause(0.4)
        await settle(pilot)
        assert wanted <= {table.key(row) for row in table.rows}
        for row in table.rows:
            if table.key(row) in wanted:
                assert any(span.style == fuzzy.STYLE for span in table._draw(row)[at].spans)


@pytest.mark.slow
@pytest.mark.every(step=4)
@pytest.mark.parametrize(
    ("name", "nouns"),
    [("memories", "memories"), ("inbox", "to decide"), ("activity", "deliveries"), ("setup", "lines")],
)
async def test_a_filter_that_hides_everything_is_said_alike_in_all_places(world, name, nouns):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen=name)
    async with running(app, (120, 36)) as pilot:
        screen = app.screen
        if name in {"memories", "inbox"}:
            await press(pilot, "space", "space")
            assert " · 2 marked" in str(screen.middle.border_title)
            await pilot.press("escape")
        await pilot.press("slash", *"xyzzy", "enter")
        await pilot.pause(0.4)
        await settle(pilot)
        assert screen.table.empty.startswith("No matches for “xyzzy”.\nescape clears the filter.")
        assert re.search(rf"\b0 of [1-9][0-9]* {nouns}", screen.summary().plain)
        assert "marked" not in screen.summary().plain
        assert " escape clear " in screen._compositor.render_strips()[-1].text


TERMS = {
    "memories": "words, type:, scope:, is:, project:",
    "inbox": "words, kind:, type:, scope:, is:, project:",
    "activity": "words, session:, project:, kind:notes, memory:, is:lost",
    "setup": "words of a line, is:problem",
}


@pytest.mark.every(step=4)
@pytest.mark.parametrize("name", TERMS)
async def test_line_help_and_palette_say_what_the_filter_of_a_place_takes(app, name):
    app.first = name
    async with running(app, (120, 40), "question_mark") as pilot:
        page = app.screen.plain.partition("Marks in lists")[0]
        terms = re.compile(r"\b(session|project|kind|memory|type|scope|is):")
        assert {*terms.findall(page)} == {*terms.findall(TERMS[name])}
        await press(pilot, "escape", "ctrl+p")
        assert app.screen_stack[0].filter_line.placeholder == TERMS[name]
        table = app.screen.table
        assert any(TERMS[name][1:] in table.draw_words(row)[0].plain for row in table.rows)


@pytest.mark.every(step=4)
@pytest.mark.parametrize(
    ("name", "typed", "words"),
    [
        ("setup", "type:tool", "There is no type: here. The query takes is:."),
        ("activity", "type:note", "There is no type: here. The query takes session:, project:, kind:, memory:, is:."),
        ("activity", "sesion:5f", "There is no sesion: here. Did you mean session:? The query takes session:,"),
        ("inbox", "session:5f", "There is no session: here. The query takes kind:, type:,"),
    ],
)
async def test_a_term_that_a_place_does_not_know_is_named_with_those_that_it_knows(app, name, typed, words):
    app.first = name
    async with running(app, (120, 40)) as pilot:
        app.screen.show_query(typed)
        await settle(pilot)
        assert app.screen.table.empty.startswith(words)
