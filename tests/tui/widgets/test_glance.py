"""The preview below a list."""

import pytest
from rich.text import Text
from textual.app import App

from memtui.tui.widgets.glance import Glance, cut, preview


class Shown(App):
    """An application that is all preview."""

    CSS = "Screen { overflow: hidden; } Glance { display: block; }"

    def compose(self):
        yield Glance()


@pytest.mark.parametrize("height", range(1, 11))
async def test_a_short_preview_shows_the_top(height):
    app = Shown()
    async with app.run_test(size=(42, height)) as pilot:
        glance = app.query_one(Glance)
        glance.styles.height = height
        glance.show(
            Text("\n".join(f"line {number}" for number in range(20))),
            Text("you said “no”\n"),
        )
        await pilot.pause()
        lines = glance.render().plain.split("\n")
        assert lines[0].startswith("line 0")
        assert "\n".join(lines).count("…") == 1
        assert len(lines) == height
        assert lines[-1] == "you said “no”" or height == 1


async def test_a_preview_shows_all_there_is_room_for():
    app = Shown()
    async with app.run_test(size=(42, 3)) as pilot:
        glance = app.query_one(Glance)
        glance.styles.height = 3
        glance.show(Text("the only line"), Text("you said “no”"), "line")
        await pilot.pause()
        assert glance.render().plain == "the only line\n\nyou said “no”"


@pytest.mark.parametrize("room", range(1, 6))
def test_a_match_is_within_the_room(room):
    text = "\n".join(f"line {number}" for number in range(20))
    for number in range(20):
        lines = cut(preview(Text(text), 40, room, text.index(f"line {number}")), room, 40)
        assert len(lines) <= room
        assert any(line.plain.removesuffix("…") == f"line {number}" for line in lines)
