"""The filter of every list finds each word that the list shows."""

import re

import pytest

from memtui.tui.model import matches
from tables import rows
from tui.hands import lines

from .conftest import press, running, settle, until


@pytest.mark.parametrize("name", ["inbox", "activity"])
async def test_each_row_with_the_typed_word_in_a_column_stays_and_has_it_marked(app, name):
    app.first = name
    async with running(app, (160, 40)) as pilot:
        table = app.screen.table
        at = max(number for number, column in enumerate(table.columns) if column.title == "for")
        wanted = {table.key(row) for row in table.rows if "shop" in table._draw(row)[at].plain}
        assert wanted
        await pilot.press("slash", *"shop", "enter")
        await pilot.pause(0.4)
        await settle(pilot)
        assert wanted <= {table.key(row) for row in table.rows}
        for row in table.rows:
            if table.key(row) in wanted:
                assert any(span.style == matches.STYLE for span in table._draw(row)[at].spans)


COUNTED = {"memories": "memories", "inbox": "to decide", "activity": "deliveries", "setup": "lines"}
# place -> what a query says that means nothing there
NONSENSE = rows(__file__, "nonsense")


@pytest.mark.slow
@pytest.mark.every(step=4)
@pytest.mark.parametrize("name", NONSENSE)
async def test_a_query_that_finds_nothing_or_means_nothing_says_so_in_each_place(app, name):
    app.first = name
    async with running(app, (120, 40)) as pilot:
        screen, table = app.screen, app.screen.table
        if name in {"memories", "inbox"}:
            await press(pilot, "space", "space")
            assert " · 2 marked" in str(screen.middle.border_title)
            await pilot.press("escape")
        await pilot.press("slash", *"xyzzy", "enter")
        await until(pilot, lambda: table.empty.startswith("No matches for “xyzzy”.\nescape clears the filter."))
        await settle(pilot)
        assert re.search(rf"\b0 of [1-9][0-9]* {COUNTED[name]}", screen.summary().plain)
        assert "marked" not in screen.summary().plain
        assert " escape clear " in lines(app)[-1]
        for query, words in NONSENSE[name].items():
            screen.show_query(query)
            await until(pilot, lambda words=words: words in table.empty)
            assert not table.rows
        for query in ("is:", 'project:"'):
            screen.show_query(query)
            await settle(pilot)
        await press(pilot, "escape")
        assert table.rows
        assert not screen.typed
