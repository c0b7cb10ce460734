"""The project at the left of the top line: one choice for all places, and true for what is listed."""

from memtui.tui.screens.activity.rows import NoteRow
from memtui.tui.screens.activity.sessions import SessionGroup
from tui.conftest import press, running
from tui.hands import top


def word(app):
    return top(app).removeprefix(" memtui").split()[0]


def projects(app):
    """The projects of the sessions and notes that Activity lists."""
    context = app.screen.listing
    rows = app.screen.table.rows
    sessions = {context.project(row.root) for row in rows if isinstance(row, SessionGroup)}
    return sessions | {context.project(row.home) for row in rows if isinstance(row, NoteRow) and row.home}


async def test_one_key_chooses_the_project_for_all_places(app):
    async with running(app, (80, 24)) as pilot:
        for place in "123":
            await press(pilot, place)
            assert word(app) == "shop", place
        assert projects(app) == {"shop"}
        assert app.screen.summary().plain.endswith(
            "11 deliveries · 7 arrived · 1 cut short · 1 on the way · 2 not known"
        )
        await press(pilot, "p")
        assert (word(app), projects(app)) == ("all", {"shop", "blog"})
        await press(pilot, "2")
        assert word(app) == "all"
        assert any(line.item and "alt text" in line.item.text for line in app.screen.table.rows)
        await press(pilot, "1")
        assert word(app) == "all"
        places = {pair[1].memory.name: app.screen.table._draw(pair)[-1].plain for pair in app.screen.table.rows}
        assert (app.screen.table.columns[-1].title, places["newsletter"]) == ("scope", "auto blog")
        await press(pilot, "4")
        assert word(app) == "shop", "Setup is about this project"
        assert "▾" not in top(app), "another one can't be chosen there"
        await press(pilot, "1", "p")
        assert not any(scope.project == "blog" for scope, _ in app.screen.table.rows)
        assert app.screen.table.columns[-1].title == "used"
        await press(pilot, "3")
        assert (word(app), projects(app)) == ("shop", {"shop"})
