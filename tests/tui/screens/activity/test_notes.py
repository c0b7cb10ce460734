"""Notes: written from anywhere, found in the inbox files, changed and withdrawn in Activity; what became of each."""

import os

import pytest
from textual.screen import ModalScreen
from textual.widgets import Input, Select, TextArea

from memtui.base import clock_hot, ids_hot, paths_hot
from memtui.hooks.install import installation as install
from memtui.inbox import file_hot, format_hot
from memtui.review.waiting_entries import waiting_in
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.screens.activity.rows import NoteRow
from memtui.tui.screens.activity.sessions import DeliveryEntry, SessionGroup
from tui.conftest import NOW, press, running, settle
from tui.hands import write as write_file

WIDE, SMALL = (120, 40), (80, 24)


def notes(world, slug=...):
    where = paths_hot.project_key(world.shop) if slug is ... else slug
    return {each.text: each.entry.fields for each in waiting_in(world.root, [where], ("guidance",))}


def states(app):
    return {row.text: row.word for row in app.screen.table.rows if isinstance(row, NoteRow)}


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


async def write(pilot, text, to="", when="", expires=""):
    """Fill the form that is open."""
    await settle(pilot)
    form = pilot.app.screen
    assert isinstance(form, DraftForm)
    form.query_one("#text", TextArea).text = text
    if to:
        form.query_one("#to", Select).value = to
        await pilot.pause()
    if when:
        form.query_one("#when", Select).value = when
    form.query_one("#expires", Input).value = expires
    await pilot.pause()


async def test_all_addressees_of_a_note_are_named_in_its_form_and_stay(world, app):
    directory = paths_hot.inbox_dir(world.root, paths_hot.project_key(world.shop))
    session = world.sessions["today"]
    whom = f"session:{session},people,agent:reviewer,path:src/**"
    file_hot.add_entry(directory, "guidance", {"from": "cli", "for": whom}, "For one", now=NOW)
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "For one")
        await press(pilot, "e")
        form = app.screen
        assert form.query_one("#to", Select).value == f"session:{session}"
        words = str(form.query_one(".where").render())
        assert (
            "to the next tool of the agent reviewer of “add tests for the new components” that touches src/**" in words
        )
        form.query_one("#expires", Input).value = "18:00"
        await press(pilot, "ctrl+s")
        assert notes(world)["For one"]["for"] == whom
        assert "expires" in notes(world)["For one"]
        await press(pilot, "z")
        assert "expires" not in notes(world)["For one"]


async def test_the_form_says_whom_it_reaches_and_until_when(world, app):
    async with running(app, SMALL) as pilot:
        await pilot.press("c")
        await write(pilot, "Mind the freeze", to="global", when="urgent", expires="2h")
        told = str(app.screen.query_one(".where").render())
        assert "to the next prompt or tool use in any project" in told
        assert "(in 2h)" in told
        await press(pilot, "ctrl+s")
        assert app.screen.table.row.text == "Mind the freeze"  # the cursor stands on what was sent
        assert states(app)["Mind the freeze"] == "urgent"
        await press(pilot, "enter")
        assert "expires in 2h" in app.screen.query_one("#detail").plain
        await press(pilot, "escape", "c", *"second", "ctrl+s")
        assert app.screen.table.row.text == "second"
    fields = notes(world, None)["Mind the freeze"]
    assert (fields["urgent"], clock_hot.parse(fields["expires"])) == ("yes", NOW + 7200)


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


async def test_a_note_for_a_session_goes_there_and_comes_back_with_it(world, app):
    session = f"session:{world.sessions['blog']}"
    async with app.run_test(size=SMALL, notifications=True) as pilot:
        await settle(pilot)  # until the notes are above the sessions: on a session c is for that one
        await press(pilot, "c")
        options = {str(prompt): value for prompt, value in app.screen.query_one("#to", Select)._options}
        assert any("add tests for the new components" in words for words in options)  # named by its first words
        await write(pilot, "For a session", to=session)
        await pilot.press("escape", "c")  # what is typed comes back with whom it is for
        await settle(pilot)
        assert app.screen.query_one("#to", Select).value == session
        await press(pilot, "ctrl+s")
    assert notes(world, paths_hot.project_key(world.blog))["For a session"]["for"] == session
    assert "For a session" not in notes(world)


async def test_a_draft_outlives_escape_and_a_crash_until_it_is_sent_or_discarded(world):
    def text(app):
        return app.screen.query_one("#text", TextArea).text

    async with MemtuiApp(dict(world.env), world.shop, now=NOW).run_test(size=SMALL) as pilot:
        await settle(pilot)
        await press(pilot, "c", *"half", "escape")
        await press(pilot, "c")
        assert text(pilot.app) == "half"
        await pilot.press(*" more")
        await pilot.pause(0.6)  # it dies here
    app = MemtuiApp(dict(world.env), world.shop, now=NOW)
    async with running(app, SMALL, "c") as pilot:
        assert text(app) == "half more"
        await press(pilot, "ctrl+s")
        assert "half more" in notes(world)
        for keys in (["c"], [*"half", "ctrl+g", "c"]):
            await press(pilot, *keys)
            assert text(app) == ""


async def test_a_note_says_who_gets_it_why_it_is_stuck_and_whether_it_arrived(world, app):
    directory = paths_hot.inbox_dir(world.root, paths_hot.project_key(world.shop))
    whom = f"session:{world.sessions['tuesday']}"
    file_hot.add_entry(directory, "guidance", {"from": "cli", "for": whom}, "For that one")
    async with running(app, WIDE) as pilot:

        async def detail(text):
            await to(pilot, text)
            return app.screen.query_one("#detail").plain

        word = states(app)
        assert word["CI is red on main: the lockfile job fails since 3f9a2c1."] == "urgent"
        assert word["The nightly backup failed twice."] == "waiting"  # of the global inbox
        for words, state in (("The staging database is down until noon.", "expired"),
                             ("The error rate doubled after the last deploy.", "returned 3×")):  # fmt: skip
            assert word[words] == state
            assert f"! {state}" in await detail(words)
        design = await detail("The design review")
        assert "for the next prompt in shop: start claude there, or go on in a session that runs\n" in design
        assert design.rstrip().split("\n")[-1].startswith("~/.claude/memtui/")
        delivered = await detail("CI is red: somebody else")
        assert "✓ arrived  2d ago" in delivered
        assert "“make the upload test stable” · shop" in delivered
        assert "· not known" in await detail("new-cart stays")
        assert "for the next prompt of “make the upload test stable”" in await detail("For that one")
        await press(pilot, "slash", *"upload test", "enter")
        assert "For that one" in states(app)  # the filter finds the title


@pytest.mark.every(step=1)
async def test_what_a_hook_has_taken_is_under_way_and_can_not_be_withdrawn(world, app):
    directory = paths_hot.inbox_dir(world.root, paths_hot.project_key(world.shop))
    os.makedirs(directory + "/claimed", exist_ok=True)
    name = f"{ids_hot.new_id(NOW - 5)}~{world.sessions['today']}~{os.getpid()}.md"
    write_file(f"{directory}/claimed/{name}", format_hot.render({"id": "A" * 26, "from": "cli"}, "Just taken"))
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "Just taken")
        assert states(app)["Just taken"] == "on the way"
        assert "add tests for the new components" in app.screen.query_one("#detail").plain
        await press(pilot, "x")
        assert any("on its way" in n.message for n in app._notifications)
        assert os.listdir(directory + "/claimed") == [name]


@pytest.mark.every(step=1)
async def test_a_note_taken_while_its_form_was_open_is_not_written_twice(world, app):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "CI is red on main")
        await pilot.press("e")
        await write(pilot, "CI is green")
        os.unlink(
            paths_hot.inbox_dir(world.root, paths_hot.project_key(world.shop)) + "/guidance.md"
        )  # a hook takes it
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, DraftForm)
        assert app.screen.query_one("#text", TextArea).text == "CI is green"
    assert notes(world) == {}
