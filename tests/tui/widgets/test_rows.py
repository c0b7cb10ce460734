"""The list: where its cursor is while rows come and go."""

import time
from contextlib import asynccontextmanager

import pytest
from rich.console import Console
from rich.style import Style
from rich.text import Text
from textual.app import App
from textual.geometry import Region

from memtui.tui import terminal
from memtui.tui.widgets import painting
from memtui.tui.widgets.rows import Column, ReturnedRows, RowList
from tables import rows


class Lists(App):
    def get_css_variables(self):
        return super().get_css_variables() | terminal.theme_variables(self.current_theme)

    def compose(self):
        yield RowList([Column("")], lambda row: [Text(row)], lambda row: row, header=False)


@asynccontextmanager
async def stand():
    app = Lists()
    async with app.run_test() as pilot:
        table = app.query_one(RowList)
        table.focus()
        await pilot.pause()
        yield pilot, table


@pytest.mark.slow
async def test_rows_that_stream_in_above_push_no_cursor_off_the_first_row():
    async with stand() as (_, table):
        for rows in ([], ["m"], ["b", "m"], ["a", "b", "m", "z"]):
            table.show(rows)
        assert table.row_id == "a"


@pytest.mark.slow
@pytest.mark.parametrize("key", ["j", "enter", "k"])
async def test_once_the_person_has_done_something_the_cursor_stays_with_its_row(key):
    async with stand() as (pilot, table):
        table.show(["m", "n"])
        await pilot.press(key)
        here = table.row_id
        table.show(["a", "b", "m", "n"])
        assert table.row_id == here


@pytest.mark.parametrize(
    ("text", "room", "shown"), rows(__file__, "a cell is cut between words and a long name where its room ends")
)
def test_a_cell_is_cut_between_words_and_a_long_name_where_its_room_ends(text, room, shown):
    styled = Text(text, "dim")
    styled.stylize("bold", 0, 3)
    cell = painting._cell(styled, room, Column("", room), painting.Ink(Console(), Style()))
    assert "".join(part.text for part in cell).rstrip() == shown
    assert sum(part.cell_length for part in cell) == room + 1


@pytest.mark.slow
@pytest.mark.parametrize(("left", "there"), [(["c", "d"], "c"), (["a", "d"], "d"), (["a"], "a"), (["x", "y"], "y")])
async def test_the_cursor_goes_to_the_row_that_takes_the_place_of_its_own(left, there):
    """However many go with it: rows that go above it don't make it skip one."""
    async with stand() as (pilot, table):
        table.show(["a", "b", "c", "d"])
        await pilot.press("j")
        assert table.row_id == "b"
        table.show(left)
        assert table.row_id == there


async def test_without_colours_the_cursor_is_seen_on_a_marked_row_too(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    async with stand() as (pilot, table):
        table.show(["m", "n"])
        await pilot.pause()
        table.toggle_mark()
        table.action_move(-1)
        lines = table.render_lines(Region(0, 0, 20, 2))
        assert lines[0].text.startswith("●m")
        assert [all(segment.style.reverse for segment in line) for line in lines] == [True, False]


def test_the_cursor_goes_once_to_what_an_undo_brought_back():
    undone_at, returned = time.monotonic(), ReturnedRows(str)
    for listed in (["a", "b"], ["a"], ["a", "b"]):
        returned.note(listed, lambda listed=listed: listed)
    assert returned.find(["a", "b"], undone_at - 99.0) is None
    assert [returned.find(["a", "b"], undone_at) for _ in range(2)] == [1, None]
