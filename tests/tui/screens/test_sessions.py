"""Sessions: those that run come first; what each was told, whether it arrived, and what waits for it; told now by `g`."""

import os

import pytest
from textual.widgets import Select, TextArea

from memtui.core.base import clock, fastjson, ids, paths
from memtui.core.client import transcript
from memtui.core.deliveries import log as delivery_log
from memtui.core.inbox import file as inbox_file
from memtui.core.review.waiting import waiting_in
from memtui.hooks.installer import install
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.draft_form import DraftForm
from tui.conftest import NOW, settle

WIDE, SMALL = (120, 40), (80, 24)


@pytest.fixture
def app(world):
    return MemtuiApp(dict(world.env), world.shop, screen="sessions", now=NOW)


def names(app, world):
    known = {name: label for label, name in world.sessions.items()}
    return [known[row.id] for row in app.screen.table.rows]


def deliver(world, session, number, text="words", slug="-p", root="/p"):
    name = ids.new_id(NOW - 50 + number)
    item = {"kind": "guidance", "id": name, "scope": "project", "reason": "next prompt"}
    record = {"v": 1, "id": name, "event": "UserPromptSubmit", "session_id": session, "project": slug}
    record |= {"time": clock.iso(NOW - 50 + number), "project_root": root, "text": text, "items": [item]}
    delivery_log.append(world.root, record, NOW)


def put(path, text, mode="w"):
    with open(path, mode) as file:
        file.write(text)


async def to(pilot, world, name):
    table = pilot.app.screen.table
    table.move_to(next(at for at, row in enumerate(table.rows) if row.id == world.sessions[name]))
    await settle(pilot)


@pytest.mark.slow
async def test_what_is_counted_of_a_long_log_is_said(app):
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert "of the log" not in app.screen.summary().plain
        app.screen.reader.list.most, app.screen.reader.list.counted = 200, False
        app.screen.reload()
        await settle(pilot)
        assert "counted in the newest 64 MB of the log" in app.screen.summary().plain


async def test_the_first_page_has_its_titles_before_the_whole_log_is_read(app, monkeypatch):
    posted = []

    def post(self, progress):
        posted.append((progress, [row.title for row in self._wanted()]))
        return self._wanted()

    monkeypatch.setattr("memtui.core.deliveries.session_list.LINES_AT_ONCE", 1)
    monkeypatch.setattr("memtui.tui.screens.sessions.reading.SessionsReader._post", post)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
    progress, titles = posted[0]
    assert "deliveries read" in progress
    assert "add tests for the new components" in titles


@pytest.mark.slow
async def test_live_sessions_come_first_then_past_ones_by_their_last_activity(app, world):
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert names(app, world) == ["today", "tuesday", "monday", "older"]
        assert "Sessions: 1 live · 3 past" in app.screen.summary().plain
        os.rename(world.root + "/run/client-1", world.root + "/run/was-client-1")
        put(world.root + "/run/client-1", fastjson.dumps({"session_id": world.sessions["monday"]}))
        app.screen.reload()
        await settle(pilot)
        assert names(app, world) == ["monday", "today", "tuesday", "older"]
        await pilot.press("p")
        await settle(pilot)
        assert names(app, world) == ["monday", "today", "blog", "tuesday", "older"]
        assert "all projects" in app.screen.summary().plain


async def test_a_row_says_what_it_is_about_and_what_arrived(app, world):
    async with app.run_test(size=(160, 48)) as pilot:
        await settle(pilot)
        await pilot.press("p")
        await settle(pilot)
        row = next(row for row in app.screen.table.rows if row.id == world.sessions["blog"])
        state, project, title, seen, told, arrived, besides, brief = (
            cell.plain.strip() for cell in app.screen._draw(row)
        )
        assert (project, title, told, arrived) == ("blog", "draft the post on caching", "4", "2 of 4")
        assert (state, besides, brief, seen) == ("✗", "✗ 2 lost", "✗ 2", "21h")


async def test_the_detail_says_what_it_was_told_and_what_waits_for_it(app, world):
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        text = app.screen.detail.plain
        assert "● live · shop" in text
        assert "✓ arrived 2 of 2  … 1 waiting" in text
        assert "The lint job is slow today." in text
        assert "“CI is red on main: the lockfile job fails since 3f9a2c1.”" in text
        assert f"claude --resume {world.sessions['today']}" in text
        await to(pilot, world, "older")
        assert "It can't be resumed: its transcript is gone." in app.screen.detail.plain
        assert "· 2 unknown" in app.screen.detail.plain


@pytest.mark.slow
async def test_only_what_lost_something(app, world):
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("exclamation_mark")
        assert not app.screen.table.rows
        assert "! shows all sessions" in app.screen.table.empty
        await pilot.press("p")
        await settle(pilot)
        assert names(app, world) == ["blog"]
        await pilot.press("escape")
        assert len(app.screen.table.rows) == 5


@pytest.mark.slow
async def test_the_filter_finds_titles_and_projects(app, world):
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("p", "slash", *"caching", "enter")
        await settle(pilot)
        assert names(app, world)[0] == "blog"
        await pilot.press("escape", "slash", *"upload", "enter")
        await settle(pilot)
        assert names(app, world) == ["tuesday"]


@pytest.mark.slow
async def test_enter_lists_its_deliveries_and_s_comes_back_to_it(app, world):
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await to(pilot, world, "tuesday")
        await pilot.press("enter")
        await settle(pilot)
        assert app.screen.group == "deliveries"
        assert {row.session for row in app.screen.table.rows} == {world.sessions["tuesday"]}
        times = [row.time for row in app.screen.table.rows]
        assert times == sorted(times)
        await pilot.press("S")
        await settle(pilot)
        assert app.screen.group == "sessions"
        assert app.screen.table.row.id == world.sessions["tuesday"]


@pytest.mark.slow
@pytest.mark.every(step=2)
@pytest.mark.parametrize("screen", ["memories", "deliveries", "health"])
async def test_escape_goes_back_to_where_it_was_opened(world, screen):
    app = MemtuiApp(dict(world.env), world.shop, screen=screen, now=NOW)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        app.action_run("deliveries.sessions")
        await settle(pilot)
        assert app.screen.group == "sessions"
        await pilot.press("escape")
        await settle(pilot)
        assert app.screen.group == screen


@pytest.mark.slow
async def test_escape_goes_back_step_by_step(world):
    app = MemtuiApp(dict(world.env), world.shop, screen="health", now=NOW)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        app.action_run("deliveries.sessions")
        await settle(pilot)
        for key, group in (("enter", "deliveries"), ("escape", "sessions"), ("escape", "health")):
            await pilot.press(key)
            await settle(pilot)
            assert app.screen.group == group


@pytest.mark.slow
async def test_a_session_of_another_project_is_found_from_its_delivery(world):
    app = MemtuiApp(dict(world.env), world.shop, screen="deliveries", now=NOW)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        table = app.screen.table
        table.move_to(next(at for at, row in enumerate(table.rows) if row.session == world.sessions["blog"]))
        await pilot.press("S")
        await settle(pilot)
        await settle(pilot)
        assert app.screen.table.row.id == world.sessions["blog"]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "over"), [("today", False), ("monday", True)])
async def test_g_tells_it_now_or_says_that_it_is_over(app, world, name, over):
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await to(pilot, world, name)
        await pilot.press("g")
        await settle(pilot)
        form = app.screen
        assert isinstance(form, DraftForm)
        assert form.query_one("#to", Select).value == f"session:{world.sessions[name]}"
        title = {"today": "add tests for the new components", "monday": "please install the dependencies"}[name]
        assert f"Delivered once, to “{title}”" in str(form.query_one(".where").render())
        assert (
            "That session is over: it gets the note once you resume it." in str(form.query_one(".where").render())
        ) == over
        form.query_one("#text", TextArea).text = "Only for you"
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert app.screen.group == "sessions"
        assert "“Only for you”  for it alone" in app.screen.detail.plain
    (note,) = [each for each in waiting_in(world.root, [paths.project_key(world.shop)]) if each.text == "Only for you"]
    assert note.entry.fields["for"] == f"session:{world.sessions[name]}"


@pytest.mark.slow
async def test_what_can_not_be_resumed_has_no_command_for_it_and_its_project_is_told(app, world):
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await to(pilot, world, "older")
        assert "--resume" not in app.screen.detail.plain
        assert app.screen.copied() == ""
        await pilot.press("g")
        await settle(pilot)
        assert app.screen.query_one("#to", Select).value == "project"


@pytest.mark.slow
async def test_a_note_for_an_old_session_of_another_project_goes_into_that_project(app, world):
    for number in range(400):
        deliver(world, "newer", number / 100)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("p")
        await settle(pilot)
        await to(pilot, world, "blog")
        await pilot.press("g")
        await settle(pilot)
        chosen = app.screen.query_one("#to", Select)
        assert "draft the post on caching" in str({value: words for words, value in chosen._options}[chosen.value])
        app.screen.query_one("#text", TextArea).text = "For the post"
        await pilot.press("ctrl+s")
        await settle(pilot)
    assert [each.text for each in waiting_in(world.root, [paths.project_key(world.blog)], ("guidance",))][
        -1
    ] == "For the post"


@pytest.mark.slow
async def test_the_command_that_resumes_it_is_copied(app, world):
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("y")
        assert app.clipboard == f"claude --resume {world.sessions['today']}"
        await pilot.press("p")
        await settle(pilot)
        await to(pilot, world, "blog")
        await pilot.press("y")
        assert app.clipboard == f"cd {world.blog} && claude --resume {world.sessions['blog']}"


@pytest.mark.slow
async def test_what_a_session_is_told_meanwhile_appears(app, world):
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        before = app.screen.table.row.deliveries
        deliver(world, world.sessions["today"], 49, slug=paths.project_key(world.shop), root=world.shop)
        app.screen.follow(frozenset({"log"}))
        await settle(pilot)
        assert app.screen.table.row.deliveries == before + 1
        path = transcript.find(world.config, world.sessions["today"])
        put(path, fastjson.dumps({"type": "custom-title", "customTitle": "component tests"}) + "\n", "a")
        app.screen.follow(frozenset({"receipts"}))
        await settle(pilot)
        assert app.screen.table.row.title == "component tests"


@pytest.mark.slow
async def test_at_80_columns_o_opens_the_detail_over_the_list(app, world):
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        assert not app.screen.detail_seen
        await pilot.press("o")
        await settle(pilot)
        assert app.screen.detail_covers_list
        await pilot.press("escape")
        assert not app.screen.detail_seen
        assert app.screen.group == "sessions"


@pytest.mark.slow
async def test_an_empty_home_says_what_will_be_here(empty):
    app = MemtuiApp(*empty, screen="sessions", now=NOW, read_only=True)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        assert "No session of this project was seen yet." in app.screen.table.empty
        assert "No hooks are installed." in app.screen.table.empty
        await pilot.press("enter", "o", "y", "exclamation_mark", "p")
        await settle(pilot)


@pytest.mark.slow
async def test_with_hooks_an_empty_list_asks_nobody_to_install_them(empty):
    env, cwd = empty
    install.apply(install.plan(install.settings_path(env, cwd, "user"), "install", env=env))
    app = MemtuiApp(env, cwd, screen="sessions", now=NOW, read_only=True)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        assert "Each session that you start with `claude` is listed here" in app.screen.table.empty
        assert "hooks" not in app.screen.table.empty


@pytest.mark.slow
async def test_the_preview_says_what_a_session_got_and_whose_the_notes_are(app):
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        assert "The lint job is slow today." in app.screen.glance.text.plain
        assert app.screen.glance.tail.plain.endswith("  3 notes for whichever session prompts first")


async def test_with_sessions_elsewhere_only_it_says_how_to_see_them(world, tmp_path):
    (tmp_path / "other/.git").mkdir(parents=True)
    app = MemtuiApp(dict(world.env), str(tmp_path / "other"), screen="sessions", now=NOW)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        assert "p shows 5 sessions of other projects" in app.screen.table.empty


async def test_a_note_that_waits_for_some_files_names_them(app, world):
    directory = paths.inbox_dir(world.root, paths.project_key(world.shop))
    inbox_file.append_entry(directory, "guidance", {"for": "path:src/checkout/**"}, "Mind the tax")
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await to(pilot, world, "today")
        assert "“Mind the tax”  for shop, files src/checkout/**" in " ".join(app.screen.detail.plain.split("\n"))
