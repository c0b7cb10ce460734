"""The preview below a list."""

from rich.text import Text
from textual.app import App

from memtui.tui.widgets.glance import Glance


class Shown(App):
    """An application that is all preview."""

    CSS = "Glance { display: block; }"

    def compose(self):
        yield Glance()


async def test_a_path_in_what_to_do_breaks_after_a_slash_below_its_label():
    app = Shown()
    async with app.run_test(size=(42, 12)) as pilot:
        glance = app.query_one(Glance)
        tail = Text("do    ", "bold").append(
            "Fix /home/somebody/.claude/projects/-srv-shop/meeting-notes.md in an editor."
        )
        glance.show(Text("It is broken."), tail)
        await pilot.pause()
        assert glance.render().plain.split("\n")[3:] == [
            "do    Fix /home/somebody/.claude/",
            "      projects/-srv-shop/",
            "      meeting-notes.md in an editor.",
        ]
