"""Sessions in Activity: those that run come first, with what each got; folded, written to, resumed, found by title."""

import os
from types import SimpleNamespace

import pytest
from textual.widgets import Select, TextArea

from memtui.base import clock_hot, fastjson_hot, ids_hot, paths_hot
from memtui.deliver import log_hot
from memtui.review.waiting_entries import waiting_in
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.files import LIVE_SECONDS
from memtui.tui.screens.activity.listing import Listing
from memtui.tui.screens.activity.sessions import SessionGroup
from tui.conftest import NOW, press, running, settle

WIDE, SMALL = (120, 40), (80, 24)


def names(app, world):
    known = {name: label for label, name in world.sessions.items()}
    return [known.get(row.session) for row in app.screen.table.rows if isinstance(row, SessionGroup)]


def deliver(world, session, number, text="words", slug="-p", root="/p"):
    name = ids_hot.new_id(NOW - 50 + number)
    item = {"kind": "guidance", "id": name, "scope": "project", "reason": "next prompt"}
    record = {"v": 1, "id": name, "event": "UserPromptSubmit", "session_id": session, "project": slug}
    record |= {"time": clock_hot.iso(NOW - 50 + number), "project_root": root, "text": text, "items": [item]}
    log_hot.append(world.root, record, NOW)


def put(path, text, mode="w"):
    with open(path, mode) as file:
        file.write(text)


async def to(pilot, world, name):
    """Put the cursor on a session, further down than what is read at first, too."""
    table = pilot.app.screen.table
    for _ in range(300):
        places = [
            at
            for at, row in enumerate(table.rows)
            if isinstance(row, SessionGroup) and row.session == world.sessions[name]
        ]
        if places:
            break
        await pilot.press("G")  # reads earlier deliveries
        await settle(pilot)
    table.move_to(places[0])
    await settle(pilot)


def keys(app):
    return [row.key for row in app.screen.table.rows]


def of(app, kind):
    return [row for row in app.screen.table.rows if isinstance(row, kind)]


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
        row = of(app, SessionGroup)[0]
        assert (row.session, row.live) == ("fresh", True)
        app.screen.table.move_to(app.screen.table.index_of(row.key))
        await settle(pilot)
        assert "Nothing yet." in app.screen.detail.plain


async def test_the_detail_says_what_became_of_what_it_got(app, world):
    async with running(app, WIDE) as pilot:
        await to(pilot, world, "today")
        text = app.screen.detail.plain
        assert "● live · shop" in text
        assert "✓ arrived 2 of 2  … 1 on the way" in text
        assert "3 deliveries" in text
        assert "ms in hooks" in text
        assert f"claude --resume {world.sessions['today']}" in text
        await pilot.press("y")
        assert app.clipboard == f"claude --resume {world.sessions['today']}"
        await to(pilot, world, "blog")
        await pilot.press("y")
        assert app.clipboard == f"cd {world.blog} && claude --resume {world.sessions['blog']}"
        await to(pilot, world, "older")
        assert "It can't be resumed: its transcript is gone." in app.screen.detail.plain
        assert "· 2 not known" in app.screen.detail.plain
        for query, name in QUERIES.items():
            app.screen.show_query(query.format(**world.sessions))
            await settle(pilot)
            assert name in names(app, world)
            assert all(row.unfolded for row in of(app, SessionGroup))


QUERIES = {
    "caching": "blog",
    "upload test": "tuesday",
    "session:{tuesday}": "tuesday",
    "project:blog": "blog",
    "kind:drafts session:{today}": "today",
}


@pytest.mark.parametrize(("name", "over"), [("today", False), ("monday", True)])
async def test_c_tells_it_now_or_says_that_it_is_over(app, world, name, over):
    async with running(app, WIDE) as pilot:
        await to(pilot, world, name)
        await press(pilot, "c")
        form = app.screen
        assert isinstance(form, DraftForm)
        assert form.query_one("#to", Select).value == f"session:{world.sessions[name]}"
        title = {"today": "add tests for the new components", "monday": "please install the dependencies"}[name]
        assert f"Delivered once, to the next prompt of “{title}”" in str(form.query_one(".where").render())
        assert (
            "That session is over: it gets the note once you resume it." in str(form.query_one(".where").render())
        ) == over
        form.query_one("#text", TextArea).text = "Only for you"
        await press(pilot, "ctrl+s")
        assert app.screen.table.row.text == "Only for you"
    (note,) = [
        each for each in waiting_in(world.root, [paths_hot.project_key(world.shop)]) if each.text == "Only for you"
    ]
    assert note.entry.fields["for"] == f"session:{world.sessions[name]}"


def test_a_session_without_transcript_is_listed_if_it_got_something_lately():
    fact = lambda last, transcript="": SimpleNamespace(last=last, transcript=transcript)
    facts = {"now": fact(NOW), "untimed": fact(0.0), "long ago": fact(NOW - 1e6), "written": fact(NOW, "/t.jsonl")}
    listing = SimpleNamespace(data=SimpleNamespace(now=lambda: NOW), facts=facts)
    assert Listing.unwritten.fget(listing) == {"now", "untimed"}
