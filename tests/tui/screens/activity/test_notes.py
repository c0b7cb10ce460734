"""Notes: written from anywhere, found in the inbox files, changed and withdrawn in Activity; what became of each."""

import os
import time
from pathlib import Path

import pytest
from textual.screen import ModalScreen
from textual.widgets import Input, Select, TextArea

from memtui.base import clock, ids, paths
from memtui.deliver import log as delivery_log
from memtui.hooks.install import installation as install
from memtui.inbox import file as inbox_file
from memtui.inbox import format as inbox_format
from memtui.review.waiting_entries import waiting_in
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.screens.activity.rows import NoteRow
from memtui.tui.screens.activity.sessions import DeliveryEntry, SessionGroup
from tui.conftest import NOW, press, running, settle

WIDE, SMALL = (120, 40), (80, 24)


@pytest.fixture
def app(world):
    app = MemtuiApp(dict(world.env), world.shop, screen="activity", now=NOW)
    app.all_projects = True
    return app


def notes(world, slug=...):
    where = paths.project_key(world.shop) if slug is ... else slug
    return {each.text: each.entry.fields for each in waiting_in(world.root, [where], ("guidance",))}


def states(app):
    return {row.text: row.word for row in app.screen.table.rows if isinstance(row, NoteRow)}


def read(path):
    return Path(path).read_bytes()


def put(path, text):
    Path(path).write_text(text)


async def to(pilot, text):
    """Put the cursor on the note with this text that waits, or on the delivery that brought it."""
    await settle(pilot)
    screen = pilot.app.screen
    for row in [row for row in screen.table.rows if isinstance(row, SessionGroup)]:
        screen.fold(row.session, unfold=True)
    rows = screen.table.rows
    waits = [at for at, row in enumerate(rows) if isinstance(row, NoteRow) and row.text.startswith(text)]
    told = [at for at, row in enumerate(rows) if isinstance(row, DeliveryEntry) and brings(row, text)]
    screen.table.move_to((waits + told)[0])
    await settle(pilot)


def brings(row, text):
    return any(text.startswith(title[:20]) or title.startswith(text) for title in row.logged.contents.titles)


async def write(pilot, text, to="", agent="", path="", when="", expires="", who=None):
    """Fill the form that is open."""
    await settle(pilot)
    form = pilot.app.screen
    assert isinstance(form, DraftForm)
    form.query_one("#text", TextArea).text = text
    if to:
        form.query_one("#to", Select).value = to
        await pilot.pause()
    for field, value in (("agent", agent), ("path", path)):
        if value:
            form.query_one(f"#{field}", Input).value = value
    if when:
        form.query_one("#when", Select).value = when
    if who is not None:
        form.query_one("#who", Select).value = who
    form.query_one("#expires", Input).value = expires
    await pilot.pause()


@pytest.mark.slow
@pytest.mark.every(step=3)
@pytest.mark.parametrize("screen", ["memories", "inbox", "activity"])
async def test_two_keys_and_the_words_send_a_note_from_anywhere(world, screen):
    app = MemtuiApp(dict(world.env), world.shop, screen=screen, now=NOW)
    async with running(app, SMALL, "c", *"CI", "space", *"red", "ctrl+s") as pilot:
        assert app.screen.group == screen
        fields = notes(world)["CI red"]
        assert fields["from"] == "tui"
        assert not {"for", "urgent", "expires"} & set(fields)
        await press(pilot, "z")
    assert "CI red" not in notes(world)


async def test_ctrl_enter_sends_where_the_terminal_can_tell_it(world, app):
    async with running(app, SMALL) as pilot:
        await press(pilot, "c", *"hi", "ctrl+enter")
    assert "hi" in notes(world)


async def test_urgency_and_expiry(world, app):
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("c")
        await write(pilot, "Now!", when="urgent", expires="2h")
        await press(pilot, "ctrl+s")
        assert states(app)["Now!"] == "urgent"
    assert notes(world)["Now!"]["urgent"] == "yes"
    assert clock.parse(notes(world)["Now!"]["expires"]) == NOW + 7200


@pytest.mark.slow
@pytest.mark.every(step=2)
@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"agent": "reviewer"}, "agent:reviewer"),
        ({"path": "src/**"}, "path:src/**"),
        ({"agent": "reviewer", "path": "src/**"}, "agent:reviewer,path:src/**"),
        ({"who": "people", "path": "src/**"}, "people,path:src/**"),
    ],
)
async def test_addressed_to_an_agent_a_path_people_or_several(world, app, given, wanted):
    async with running(app, SMALL) as pilot:
        await pilot.press("c")
        await write(pilot, "Only for you", **given)
        told = str(app.screen.query_one(".where").render())
        assert all({"people": "of a person"}.get(value, value) in told for value in given.values())
        await press(pilot, "ctrl+s")
    assert notes(world)["Only for you"]["for"] == wanted


async def test_all_addressees_of_a_note_stand_in_its_form(world, app):
    directory = paths.inbox_dir(world.root, paths.project_key(world.shop))
    session = world.sessions["today"]
    whom = f"session:{session},people,agent:reviewer,path:src/**"
    inbox_file.add_entry(directory, "guidance", {"from": "cli", "for": whom}, "For one", now=NOW)
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "For one")
        await press(pilot, "e")
        form = app.screen
        assert form.query_one("#to", Select).value == f"session:{session}"
        assert form.query_one("#who", Select).value == "people"
        assert form.query_one("#agent", Input).value == "reviewer"
        assert form.query_one("#path", Input).value == "src/**"
        form.query_one("#agent", Input).value = ""
        form.query_one("#expires", Input).value = "18:00"
        await press(pilot, "ctrl+s")
        assert notes(world)["For one"]["for"] == f"session:{session},people,path:src/**"
        await press(pilot, "z")
        assert notes(world)["For one"]["for"] == whom
        await press(pilot, "Z")
    assert notes(world)["For one"]["for"] == f"session:{session},people,path:src/**"


async def test_the_form_says_whom_it_reaches_and_until_when(world, app):
    async with running(app, SMALL) as pilot:
        await pilot.press("c")
        await write(pilot, "Mind the freeze", to="global", when="urgent", expires="2h")
        told = str(app.screen.query_one(".where").render())
        assert "to the next prompt or tool use in any project" in told
        assert "(in 2h)" in told
        await press(pilot, "ctrl+s")
        assert app.screen.table.row.text == "Mind the freeze"  # the cursor stands on what was sent
        await press(pilot, "enter")
        assert "expires in 2h" in app.screen.query_one("#detail").plain
        await press(pilot, "escape", "c", *"second", "ctrl+s")
        assert app.screen.table.row.text == "second"


async def test_without_hooks_nothing_is_promised(world, app):
    settings = install.settings_path(world.env, world.shop, "user")
    install.apply(install.plan(settings, "uninstall", env=world.env))
    async with running(app, SMALL) as pilot:
        if isinstance(app.screen, ModalScreen):
            await pilot.press("escape")  # the offer to install them
            await settle(pilot)
        first = str(app.screen.query_one("#summary").render())
        assert "no hooks are installed (press 4, then a to install them)" in first[:80]
        await press(pilot, "c", *"hi")
        assert "No hooks are installed" in str(app.screen.query_one(".where").render())
        await press(pilot, "ctrl+s")
        said = [note.message for note in app._notifications]
        assert any("nothing delivers it yet." in words for words in said)
        assert not any("hooks" in words for words in said), "the line above says it"
        assert not any("it goes with" in words for words in said)
    assert "hi" in notes(world)


async def test_a_note_for_another_project_goes_there_and_the_form_says_where(world, app):
    slug = paths.project_key(world.blog)
    async with app.run_test(size=SMALL, notifications=True) as pilot:
        await settle(pilot)  # until the notes are above the sessions: on a session c is for that one
        await press(pilot, "c")
        options = {str(prompt): value for prompt, value in app.screen.query_one("#to", Select)._options}
        assert options["project blog"] == f"in:{slug}"
        assert "project shop" not in options  # it is this project
        await write(pilot, "For the blog", to=f"in:{slug}")
        await settle(pilot)
        assert "to the next prompt in blog" in "\n".join(drawn(app))
        await pilot.press("escape", "c")  # what is typed comes back with whom it is for
        await settle(pilot)
        assert app.screen.query_one("#to", Select).value == f"in:{slug}"
        await press(pilot, "ctrl+s")
        assert "Waits for the next prompt in blog" in "\n".join(drawn(app))
    assert "For the blog" in notes(world, slug)
    assert "For the blog" not in notes(world)


async def test_a_note_to_a_session_goes_where_that_session_looks(world, app):
    other = world.sessions["blog"]
    async with app.run_test(size=SMALL) as pilot:
        await press(pilot, "c")
        shown = [str(prompt) for prompt, _ in app.screen.query_one("#to", Select)._options]
        assert any("add tests for the new components" in words for words in shown)  # named by its first words
        await write(pilot, "For the blog", to=f"session:{other}")
        await press(pilot, "ctrl+s")
    assert notes(world, paths.project_key(world.blog))["For the blog"]["for"] == f"session:{other}"
    assert "For the blog" not in notes(world)


@pytest.mark.parametrize(
    ("text", "expires", "says"),
    [("x" * 20_000, "", "fit into one delivery"), ("  ", "", "empty"), ("hi", "soon", "“soon” is not a time")],
)
async def test_what_can_not_be_sent_is_refused_and_stays_in_the_form(world, app, text, expires, says):
    before = notes(world)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("c")
        await write(pilot, text, expires=expires)
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, DraftForm)
        assert app.screen.query_one("#text", TextArea).text == text
        assert says in str(app.screen.query_one(".told").render())
    assert notes(world) == before


async def test_a_draft_outlives_escape_and_a_crash(world):
    async with MemtuiApp(dict(world.env), world.shop, now=NOW).run_test(size=SMALL) as pilot:
        await settle(pilot)
        await press(pilot, "c", *"half", "escape")
        await press(pilot, "c")
        assert pilot.app.screen.query_one("#text", TextArea).text == "half"
        await pilot.press(*" more")
        await pilot.pause(0.6)  # it dies here
    app = MemtuiApp(dict(world.env), world.shop, now=NOW)
    async with running(app, SMALL, "c") as pilot:
        assert app.screen.query_one("#text", TextArea).text == "half more"
        await press(pilot, "ctrl+s")
        assert "half more" in notes(world)
        await press(pilot, "c")
        assert app.screen.query_one("#text", TextArea).text == ""


async def test_a_discarded_draft_is_gone(world, app):
    async with running(app, SMALL, "c", *"half", "ctrl+g") as pilot:
        await press(pilot, "c")
        assert app.screen.query_one("#text", TextArea).text == ""


async def test_what_waits_stands_in_the_order_in_which_sessions_get_it(world, app):
    directory = paths.inbox_dir(world.root, paths.project_key(world.shop))
    inbox_file.add_entry(directory, "guidance", {}, "Just in", now=NOW)
    inbox_file.add_entry(directory, "guidance", {"urgent": "yes"}, "Just in, urgent", now=NOW)
    async with running(app, WIDE):
        waiting = [row for row in app.screen.table.rows if isinstance(row, NoteRow) and not row.is_lost]
        rows = [row.text for row in waiting if row.home in {None, paths.project_key(world.shop)}]
        assert rows[:2] == ["CI is red on main: the lockfile job fails since 3f9a2c1.", "Just in, urgent"]
        assert rows.index("The nightly backup failed twice.") < rows.index("Just in")


@pytest.mark.every(step=1)
async def test_the_queue_says_what_waits_and_what_is_stuck(app):
    async with running(app, WIDE):
        found = states(app)
        assert found["CI is red on main: the lockfile job fails since 3f9a2c1."] == "urgent"
        assert found["The staging database is down until noon."] == "expired"
        assert found["The error rate doubled after the last deploy."] == "returned 3×"
        assert found["The nightly backup failed twice."] == "waiting"  # of the global inbox


async def test_what_waits_is_changed_and_undone(world, app):
    old = "Checkout is being rewritten by Mara; ask before changing it."
    path = paths.inbox_dir(world.root, paths.project_key(world.shop)) + "/guidance.md"
    before = read(path)
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, old)
        was = notes(world)[old]
        await press(pilot, "e")
        form = app.screen
        assert form.query_one("#to", Select).value == "project"
        assert form.query_one("#path", Input).value == "src/checkout/**"
        form.query_one("#text", TextArea).text = "Mara is done with checkout."
        await press(pilot, "ctrl+s")
        now = notes(world)["Mara is done with checkout."]
        assert (now["id"], now["for"], now["from"]) == (was["id"], was["for"], was["from"])
        assert old not in notes(world)
        after = read(path)
        await press(pilot, "z")
        assert read(path) == before
        await press(pilot, "Z")
    assert read(path) == after


async def test_the_detail_says_who_gets_a_note_and_why_it_is_stuck(app):
    async with app.run_test(size=WIDE) as pilot:
        for words, why in (("The staging database", "! expired"), ("The error rate", "! returned 3×")):
            await to(pilot, words)
            assert why in app.screen.query_one("#detail").plain
        await to(pilot, "The design review")
        detail = app.screen.query_one("#detail").plain
        assert "for the next prompt in shop: start claude there, or go on in a session that runs\n" in detail
        assert detail.rstrip().split("\n")[-1].startswith("~/.claude/memtui/")


async def test_withdrawing_marked_ones_is_one_undo_step(world, app):
    before = notes(world)
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "Checkout is being")
        await press(pilot, "space", "space", "x")
        assert len(notes(world)) == len(before) - 2
        after = notes(world)
        await press(pilot, "z")
        assert notes(world) == before
        await press(pilot, "Z")
    assert notes(world) == after


async def test_undo_puts_the_cursor_on_the_note_that_came_back(app):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "Checkout is being")
        key = app.screen.table.row_id
        await press(pilot, "x")
        assert app.screen.table.row_id != key
        await press(pilot, "z")
        assert app.screen.table.row_id == key


async def test_a_delivered_note_tells_who_got_it_when_and_whether_it_arrived(app):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "CI is red: somebody else")
        shown = app.screen.query_one("#detail").plain
        assert "✓ arrived  2d ago" in shown
        assert "“make the upload test stable” · shop" in shown
        await to(pilot, "new-cart stays")
        assert "· not known" in app.screen.query_one("#detail").plain


@pytest.mark.every(step=1)
async def test_what_was_lost_waits_again_above_and_says_so_below(world, app):
    async with running(app, WIDE) as pilot:
        assert states(app)["Publishing is frozen until Friday."] == "urgent"
        await press(pilot, "exclamation_mark")
        await to(pilot, "Publishing is frozen")
        assert "It waits again, on top of the list." in app.screen.query_one("#detail").plain


async def test_a_lost_note_that_does_not_wait_says_what_became_of_it(world, app):
    async with running(app, WIDE, "exclamation_mark") as pilot:
        await to(pilot, "The caching numbers")
        shown = app.screen.query_one("#detail").plain
        assert "✗ lost" in shown
        assert "It was sent again 21h ago: ✓ arrived." in shown
        assert "waits again" not in shown
        await press(pilot, "escape")
        await to(pilot, "Publishing is frozen")
        await press(pilot, "x")
        await to(pilot, "Publishing is frozen")
        assert "It waits no longer: it was withdrawn or changed since." in app.screen.query_one("#detail").plain


async def test_saying_it_again_opens_the_form_with_the_text(world, app):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "Use the registry mirror")
        await press(pilot, "a")
        assert app.screen.query_one("#text", TextArea).text.startswith("Use the registry mirror")
        await press(pilot, "ctrl+s")
    assert "Use the registry mirror today, the public one is slow." in notes(world)


@pytest.mark.every(step=1)
async def test_of_a_delivery_with_several_notes_one_is_chosen_to_be_sent_again(world, app):
    name, own = ids.new_id(NOW - 60), [ids.new_id(NOW - 90), ids.new_id(NOW - 80)]
    tags = [
        f'<memtui-guidance id="{each}" from="cli" delivery="{name}">\nintro\nNumber {at}\n</memtui-guidance>'
        for at, each in enumerate(own)
    ]
    items = [{"kind": "guidance", "id": each, "scope": "project", "reason": "next prompt"} for each in own]
    record = {"v": 1, "id": name, "event": "UserPromptSubmit", "session_id": world.sessions["today"], "items": items}
    record |= {"time": clock.iso(NOW - 60), "project": paths.project_key(world.shop), "text": "\n".join(tags)}
    delivery_log.append(world.root, record, NOW - 60)
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "Number")
        await press(pilot, "x")
        assert app.last_note == "These notes were sent already. a sends one of them again."
        await press(pilot, "a")
        assert isinstance(app.screen, Choice)
        await press(pilot, "down", "enter")
        assert app.screen.query_one("#text", TextArea).text == "Number 1"


async def test_what_a_hook_has_taken_is_under_way_and_can_not_be_withdrawn(world, app):
    directory = paths.inbox_dir(world.root, paths.project_key(world.shop))
    os.makedirs(directory + "/claimed", exist_ok=True)
    name = f"{ids.new_id(NOW - 5)}~{world.sessions['today']}~{os.getpid()}.md"
    put(f"{directory}/claimed/{name}", inbox_format.render({"id": "A" * 26, "from": "cli"}, "Just taken"))
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "Just taken")
        assert states(app)["Just taken"] == "on the way"
        assert "add tests for the new components" in app.screen.query_one("#detail").plain
        await press(pilot, "x")
        assert any("on its way" in n.message for n in app._notifications)
        assert os.listdir(directory + "/claimed") == [name]


def drawn(app):
    return [strip.text for strip in app.screen._compositor.render_strips()]


async def test_a_session_that_a_note_is_for_has_its_title(world, app):
    session = world.sessions["tuesday"]
    directory = paths.inbox_dir(world.root, paths.project_key(world.shop))
    inbox_file.add_entry(directory, "guidance", {"from": "cli", "for": f"session:{session}"}, "For that one")
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "For that one")
        assert "for the next prompt of “make the upload test stable”" in app.screen.query_one("#detail").plain
        await press(pilot, "slash", *"upload test", "enter")
        assert "For that one" in states(app)  # the filter finds the title


async def test_what_was_told_says_why_it_can_not_be_changed(app):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "Use the registry mirror")
        await press(pilot, "e")
        assert app.screen.group == "activity"
        assert any("a sends it again" in n.message for n in app._notifications)


async def test_a_note_taken_while_its_form_was_open_is_not_written_twice(world, app):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "CI is red on main")
        await pilot.press("e")
        await write(pilot, "CI is green")
        os.unlink(paths.inbox_dir(world.root, paths.project_key(world.shop)) + "/guidance.md")  # a hook takes it
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, DraftForm)
        assert app.screen.query_one("#text", TextArea).text == "CI is green"
    assert notes(world) == {}


async def test_read_only_neither_writes_nor_withdraws(world):
    before = notes(world)
    app = MemtuiApp(dict(world.env), world.shop, screen="activity", now=NOW, read_only=True)
    async with running(app, SMALL, "c", "e", "x", "a"):
        assert app.screen.group == "activity"
    assert notes(world) == before
    assert "drafts" not in os.listdir(world.root)


@pytest.mark.slow
@pytest.mark.every(step=3)
@pytest.mark.parametrize("size", [(40, 20), SMALL, (160, 48)])
async def test_an_empty_screen_says_what_to_press(tmp_path, size):
    env = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "c"), "MEMTUI_HOME": str(tmp_path / "c/memtui")}
    (tmp_path / "project").mkdir()
    app = MemtuiApp(env, str(tmp_path / "project"), screen="activity", now=NOW)
    async with running(app, size) as pilot:
        if isinstance(app.screen, ModalScreen):
            await pilot.press("escape")  # the offer to install the hooks
            await settle(pilot)
        drawn = "".join(s.text for y in range(8) for s in app.screen.table.render_line(y))
        assert "Nothing yet." in drawn
        assert "Sessions get nothing yet" in drawn
        assert not app.screen.detail.display  # nothing can be selected
        await pilot.press("c", *"hi", "ctrl+s")  # into directories that are not there yet
        await settle(pilot)
        assert list(states(app)) == ["hi"]


@pytest.mark.parametrize(("seconds", "form"), [(0, "%Y-%m-%d %H:%M"), (17, "%Y-%m-%dT%H:%M:%S")])
async def test_the_form_shows_when_a_note_expires_in_local_time_and_keeps_it(world, app, seconds, form):
    ends = NOW // 60 * 60 + 86400 + seconds
    directory = paths.inbox_dir(world.root, paths.project_key(world.shop))
    inbox_file.add_entry(directory, "guidance", {"expires": clock.iso_seconds(ends)}, "Frozen.")
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "Frozen.")
        await press(pilot, "e")
        assert app.screen.query_one("#expires", Input).value == time.strftime(form, time.localtime(ends))
        app.screen.query_one("#text", TextArea).text = "Frozen!"
        await press(pilot, "ctrl+s")
    assert clock.parse(notes(world)["Frozen!"]["expires"]) == ends


async def test_what_is_stuck_offers_to_be_sent_again_what_arrived_does_not(app):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "The staging database is down")
        await press(pilot, "enter")
        assert "a  send it again" in " ".join(app.screen.query_one("#detail").plain.split("\n")).replace("   ", "  ")
        await pilot.press("escape")
        for row in [row for row in app.screen.table.rows if isinstance(row, DeliveryEntry)]:
            app.screen.table.move_to(app.screen.table.rows.index(row))
            await settle(pilot)
            arrived = app.screen.listing.data.receipts.known.get(row.key) == "arrived"
            assert not (arrived and "activity.again" in [each.id for each in app.screen.footer_actions()])
            assert not app.screen.glance.text.plain.startswith("\n")
