"""Sessions in Activity: those that run come first, then past ones by what they got last."""

import os

from memtui.base import fastjson_hot
from memtui.tui.files import LIVE_SECONDS
from memtui.tui.screens.activity.sessions import SessionGroup
from tui.conftest import running, settle

WIDE, SMALL = (120, 40), (80, 24)


def names(app, world):
    known = {name: label for label, name in world.sessions.items()}
    return [known.get(row.session) for row in app.screen.table.rows if isinstance(row, SessionGroup)]


def put(path, text, mode="w"):
    with open(path, mode) as file:
        file.write(text)


async def test_live_sessions_come_first_then_past_ones_by_what_they_got_last(app, world):
    async with running(app, WIDE) as pilot:
        assert names(app, world) == ["today", "blog", "tuesday", "monday", "older", "welcome"]
        os.rename(world.root + "/run/client-1", world.root + "/run/was-client-1")
        for session, order in (
            (world.sessions["monday"], ["monday", "today", "blog", "tuesday", "older", "welcome"]),
            ("fresh", [None, "today", "blog", "tuesday", "monday", "older", "welcome"]),
        ):
            put(world.root + "/run/client-1", fastjson_hot.dumps({"session_id": session}))
            app.files._live_at -= LIVE_SECONDS
            app.files.look()
            await settle(pilot)
            assert names(app, world) == order
        row = next(row for row in app.screen.table.rows if isinstance(row, SessionGroup))
        assert (row.session, row.live) == ("fresh", True)
        app.screen.table.move_to(app.screen.table.index_of(row.key))
        await settle(pilot)
        assert "Nothing yet." in app.screen.detail.plain
