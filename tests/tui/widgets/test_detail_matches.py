"""Where the words of a filter or a search are in a text: the pane marks them and scrolls to the first."""

import pytest
from rich.text import Text
from textual.app import App

from memtui.tui.widgets.detail import Detail

LONG = "\n".join(["name", *(f"line {number}" for number in range(100)), "use pnpm here", *(["end"] * 100)])


class Pane(App):
    def compose(self):
        yield Detail(id="detail")


def shown(pane):
    top = int(pane.scroll_y)
    return [line.plain for line in pane.lines[top : top + pane.size.height]]


def marks(pane):
    return [pane.plain[span.start : span.end] for span in pane.text.spans]


@pytest.mark.slow
async def test_the_pane_scrolls_to_the_first_match_of_a_text_and_of_new_words():
    app = Pane()
    async with app.run_test(size=(60, 20)) as pilot:
        pane = app.query_one(Detail)
        pane.show("a", Text(LONG), "pnpm")
        await pilot.pause()
        assert "use pnpm here" in shown(pane)
        assert marks(pane) == ["pnpm"]
        pane.show("a", Text(LONG), "name")  # other words: back up to them
        await pilot.pause()
        assert shown(pane)[0] == "name"
