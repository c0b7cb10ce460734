"""The detail: what is painted of it."""

from rich.text import Text
from textual.app import App

from memtui.tui.widgets.detail import Detail


class Details(App):
    def compose(self):
        yield Detail()


async def test_only_the_lines_that_differ_are_painted_again(monkeypatch):
    async with Details().run_test(size=(40, 10)) as pilot:
        detail = pilot.app.query_one(Detail)
        detail.show("a", Text("first\nsecond\nthird"))
        await pilot.pause()
        regions = []
        refresh = detail.refresh
        monkeypatch.setattr(detail, "refresh", lambda *lines, **more: (regions.extend(lines), refresh(*lines, **more)))
        detail.show("b", Text("first\nanother\nthird\nfourth"))
        await pilot.pause()
        assert [region.y for region in regions] == [1, 3]
        lines = [line.text.strip() for line in detail.render_lines(detail.size.region)]
        assert lines[:4] == ["first", "another", "third", "fourth"]
