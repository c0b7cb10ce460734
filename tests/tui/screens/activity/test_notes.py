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
from memtui.review.waiting import waiting_in
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.dialog import KeyBar
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.screens.activity.rows import DeliveryEntry, NoteRow, SessionGroup
from memtui.tui.widgets.detail import Detail
from tui.conftest import NOW, burst, settle

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


async def test_a_note_without_a_time_has_nothing_where_others_say_when_they_were_written(app):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "The design review moved")
        assert app.screen.table.row.time is None
        _, _, when, _ = app.screen.table.row.cells(app.screen.listing)
        assert not when.plain


@pytest.mark.slow
@pytest.mark.every(step=3)
@pytest.mark.parametrize("screen", ["memories", "inbox", "activity"])
async def test_two_keys_and_the_words_send_a_note_from_anywhere(world, screen):
    app = MemtuiApp(dict(world.env), world.shop, screen=screen, now=NOW)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("c", *"CI", "space", *"red", "ctrl+s")
        await settle(pilot)
        assert app.screen.group == screen
        fields = notes(world)["CI red"]
        assert fields["from"] == "tui"
        assert not {"for", "urgent", "expires"} & set(fields)
        await pilot.press("z")
        await settle(pilot)
    assert "CI red" not in notes(world)


@pytest.mark.slow
async def test_ctrl_enter_sends_where_the_terminal_can_tell_it(world, app):
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("c", *"hi", "ctrl+enter")
        await settle(pilot)
    assert "hi" in notes(world)


@pytest.mark.slow
async def test_urgency_and_expiry(world, app):
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("c")
        await write(pilot, "Now!", when="urgent", expires="2h")
        await pilot.press("ctrl+s")
        await settle(pilot)
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
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("c")
        await write(pilot, "Only for you", **given)
        told = str(app.screen.query_one(".where").render())
        assert all({"people": "of a person"}.get(value, value) in told for value in given.values())
        await pilot.press("ctrl+s")
        await settle(pilot)
    assert notes(world)["Only for you"]["for"] == wanted


@pytest.mark.slow
async def test_the_form_says_that_nobody_knows_an_agent(app):
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("c")
        await write(pilot, "Only for you", agent="nobody")
        said = " ".join(str(app.screen.query_one(".where").render()).split())
        assert "Nothing was delivered to an agent “nobody” yet; the note waits for one." in said


@pytest.mark.slow
async def test_all_addressees_of_a_note_stand_in_its_form(world, app):
    directory = paths.inbox_dir(world.root, paths.project_key(world.shop))
    session = world.sessions["today"]
    whom = f"session:{session},people,agent:reviewer,path:src/**"
    inbox_file.add_entry(directory, "guidance", {"from": "cli", "for": whom}, "For one", now=NOW)
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "For one")
        await pilot.press("e")
        await settle(pilot)
        form = app.screen
        assert form.query_one("#to", Select).value == f"session:{session}"
        assert form.query_one("#who", Select).value == "people"
        assert form.query_one("#agent", Input).value == "reviewer"
        assert form.query_one("#path", Input).value == "src/**"
        form.query_one("#agent", Input).value = ""
        form.query_one("#expires", Input).value = "18:00"
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert notes(world)["For one"]["for"] == f"session:{session},people,path:src/**"
        await pilot.press("z")
        await settle(pilot)
        assert notes(world)["For one"]["for"] == whom
        await pilot.press("Z")
        await settle(pilot)
    assert notes(world)["For one"]["for"] == f"session:{session},people,path:src/**"


@pytest.mark.slow
async def test_a_note_is_for_people_where_the_settings_say_so_unless_it_is_said(world, app):
    put(world.root + "/config.toml", 'note_to = "people"\n')
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        for text, who in (("For me", None), ("For anyone", "")):
            await pilot.press("c")
            await write(pilot, text, who=who)
            await pilot.press("ctrl+s")
            await settle(pilot)
    assert notes(world)["For me"]["for"] == "people"
    assert "for" not in notes(world)["For anyone"]


@pytest.mark.slow
async def test_what_kind_of_session_took_a_note_is_told(world, app):
    directory = paths.inbox_dir(world.root, paths.project_key(world.shop))
    os.makedirs(directory + "/claimed", exist_ok=True)
    ways = [
        (kind, f"{text} {what}")
        for kind, text in (("cli", "By me"), ("sdk-cli", "By a script"))
        for what in ("taken", "told")
    ]
    for kind, text in ways:
        name = ids.new_id(NOW - 60)
        if text.endswith("taken"):
            put(
                f"{directory}/claimed/{name}~{kind}-0000~1.md",
                inbox_format.render({"id": name, "from": "cli"}, text),
            )
        tag = f'<memtui-guidance id="{name}" from="cli" delivery="{name}">\nintro\n{text}\n</memtui-guidance>'
        item = {"kind": "guidance", "id": name, "scope": "project", "reason": "next prompt"}
        record = {"v": 1, "id": name, "event": "UserPromptSubmit", "session_id": f"{kind}-0000", "entrypoint": kind}
        record |= {"time": clock.iso(NOW - 60), "project": paths.project_key(world.shop), "text": tag, "items": [item]}
        delivery_log.append(world.root, record, NOW - 60)
    async with app.run_test(size=WIDE) as pilot:
        for text, words in (
            ("By me taken", "session cli-0000 (interactive)"),
            ("By a script taken", "session sdk-cli- (script)"),
            ("By me told", "session cli-0000 (interactive)"),
            ("By a script told", "session sdk-cli- (script)"),
        ):
            await to(pilot, text)
            assert words in app.screen.query_one("#detail").plain


@pytest.mark.slow
async def test_the_form_says_whom_it_reaches_and_until_when(world, app):
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("c")
        await write(pilot, "Mind the freeze", to="global", when="urgent", expires="2h")
        told = str(app.screen.query_one(".where").render())
        assert "to the next prompt or tool use in any project" in told
        assert "(in 2h)" in told
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert app.screen.table.row.text == "Mind the freeze"  # the cursor stands on what was sent
        await pilot.press("enter")
        await settle(pilot)
        assert "expires in 2h" in app.screen.query_one("#detail").plain
        await pilot.press("escape", "c", *"second", "ctrl+s")
        await settle(pilot)
        assert app.screen.table.row.text == "second"


@pytest.mark.slow
async def test_when_a_note_arrives_follows_from_its_files(app):
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("c")
        await write(pilot, "Mind the freeze", when="urgent")
        when = app.screen.query_one("#when", Select)

        def shown():
            return str(when.query_one("#label").render())

        assert shown() == "urgent: the next prompt or tool use"
        await write(pilot, "Mind the freeze", path="src/**")
        assert shown() == "the next tool that touches the files"
        assert "the next tool in this project that touches src/**" in str(app.screen.query_one(".where").render())
        app.screen.query_one("#path", Input).value = ""
        await pilot.pause()
        assert shown() == "urgent: the next prompt or tool use"
        assert when.value == "urgent"


@pytest.mark.slow
async def test_without_hooks_nothing_is_promised(world, app):
    settings = install.settings_path(world.env, world.shop, "user")
    install.apply(install.plan(settings, "uninstall", env=world.env))
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        if isinstance(app.screen, ModalScreen):
            await pilot.press("escape")  # the offer to install them
            await settle(pilot)
        first = str(app.screen.query_one("#summary").render())
        assert "no hooks are installed (press 4, then a to install them)" in first[:80]
        await pilot.press("c", *"hi")
        await settle(pilot)
        assert "No hooks are installed" in str(app.screen.query_one(".where").render())
        await pilot.press("ctrl+s")
        await settle(pilot)
        said = [note.message for note in app._notifications]
        assert any("nothing delivers it yet." in words for words in said)
        assert not any("hooks" in words for words in said), "the line above says it"
        assert not any("it goes with" in words for words in said)
    assert "hi" in notes(world)


@pytest.mark.slow
async def test_with_the_mode_off_nothing_is_promised(world, app):
    install.apply(install.plan(install.settings_path(world.env, world.shop, "user"), "install", env=world.env))
    put(world.root + "/config.toml", 'mode = "off"\n')
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        assert "the mode is off here (press 4, then e on mode to change it)" in str(
            app.screen.query_one("#summary").render()
        )
        await pilot.press("c", *"hi", "ctrl+s")
        await settle(pilot)
        assert any("nothing delivers it yet." in note.message for note in app._notifications)


@pytest.mark.slow
async def test_a_global_note_goes_into_the_global_inbox(world, app):
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("c")
        await write(pilot, "Everybody", to="global")
        await pilot.press("ctrl+s")
        await settle(pilot)
    assert "Everybody" in notes(world, None)
    assert "Everybody" not in notes(world)


@pytest.mark.slow
async def test_a_note_for_another_project_goes_there_and_the_form_says_where_it_went(world, app):
    slug = paths.project_key(world.blog)
    async with app.run_test(size=SMALL, notifications=True) as pilot:
        await settle(pilot)  # until the notes are above the sessions: on a session c is for that one
        await pilot.press("c")
        await settle(pilot)
        options = {str(prompt): value for prompt, value in app.screen.query_one("#to", Select)._options}
        assert options["project blog"] == f"in:{slug}"
        assert "project shop" not in options  # it is this project
        await write(pilot, "For the blog", to=f"in:{slug}")
        await settle(pilot)
        assert "to the next prompt in blog" in "\n".join(drawn(app))
        await pilot.press("escape", "c")  # what is typed comes back with whom it is for
        await settle(pilot)
        assert app.screen.query_one("#to", Select).value == f"in:{slug}"
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert "Waits for the next prompt in blog" in "\n".join(drawn(app))
    assert "For the blog" in notes(world, slug)
    assert "For the blog" not in notes(world)


@pytest.mark.slow
async def test_a_note_that_is_changed_to_go_elsewhere_says_where_it_went(world, app):
    slug = paths.project_key(world.blog)
    async with app.run_test(size=SMALL, notifications=True) as pilot:
        await to(pilot, "The design review")
        await pilot.press("e")
        await write(pilot, "The design review moved to Friday.", to=f"in:{slug}")
        await settle(pilot)
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert "Changed: waits for the next prompt in blog" in "\n".join(drawn(app))
        assert states(app)["The design review moved to Friday."] == "waiting"
    assert "The design review moved to Friday." in notes(world, slug)


async def test_among_all_projects_a_note_for_files_of_another_one_says_whose_they_are(world, app):
    directory = paths.inbox_dir(world.root, paths.project_key(world.blog))
    inbox_file.add_entry(directory, "guidance", {"from": "cli", "for": "path:posts/**"}, "Theirs", now=NOW)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        text = "\n".join(drawn(app))
        assert "blog, files" in text
        assert "shop, files" not in text  # the others are of this project


@pytest.mark.slow
async def test_a_note_to_a_session_goes_where_that_session_looks(world, app):
    other = world.sessions["blog"]
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("c")
        await settle(pilot)
        shown = [str(prompt) for prompt, _ in app.screen.query_one("#to", Select)._options]
        assert any("add tests for the new components" in words for words in shown)  # named by its first words
        await write(pilot, "For the blog", to=f"session:{other}")
        await pilot.press("ctrl+s")
        await settle(pilot)
    assert notes(world, paths.project_key(world.blog))["For the blog"]["for"] == f"session:{other}"
    assert "For the blog" not in notes(world)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "expires", "says"),
    [("x" * 20_000, "", "fit into one delivery"), ("  ", "", "empty"), ("hi", "soon", "“soon” is not a time")],
)
async def test_what_can_not_be_sent_is_refused_and_stays_in_the_form(world, app, text, expires, says):
    before = notes(world)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("c")
        await write(pilot, text, expires=expires)
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert isinstance(app.screen, DraftForm)
        assert app.screen.query_one("#text", TextArea).text == text
        assert says in str(app.screen.query_one(".told").render())
    assert notes(world) == before


@pytest.mark.slow
@pytest.mark.parametrize(("expires", "says"), [("soon", "“soon” is not a time."), ("2020-01-01", "is in the past.")])
async def test_a_wrong_time_is_explained_once(world, app, expires, says):
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("c")
        await write(pilot, "hi", expires=expires)
        for _ in range(2):
            shown = " ".join(str(app.screen.query_one(css).render()) for css in (".where", ".told"))
            assert (shown.count(says), shown.count("18:00")) == (1, 1)
            await pilot.press("ctrl+s")
            await settle(pilot)
        app.screen.query_one("#expires", Input).value = "3d"
        await settle(pilot)
        assert "Delivered once" in str(app.screen.query_one(".where").render())


@pytest.mark.slow
async def test_a_note_saved_unchanged_is_not_said_to_be_changed(world, app):
    text = next(text for text, fields in notes(world).items() if "attempts" not in fields)
    before = read(paths.inbox_dir(world.root, paths.project_key(world.shop)) + "/guidance.md")
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, text)
        changes = app.data.changes()[1]
        await pilot.press("e", "ctrl+s")
        await settle(pilot)
        assert not isinstance(app.screen, DraftForm)
        assert [note.message for note in app._notifications] == ["Nothing changed."]
        assert app.data.changes()[1] == changes
    assert read(paths.inbox_dir(world.root, paths.project_key(world.shop)) + "/guidance.md") == before


@pytest.mark.slow
async def test_a_draft_outlives_escape_and_a_crash(world):
    async with MemtuiApp(dict(world.env), world.shop, now=NOW).run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("c", *"half", "escape")
        await settle(pilot)
        await pilot.press("c")
        await settle(pilot)
        assert pilot.app.screen.query_one("#text", TextArea).text == "half"
        await pilot.press(*" more")
        await pilot.pause(0.6)  # it dies here
    app = MemtuiApp(dict(world.env), world.shop, now=NOW)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("c")
        await settle(pilot)
        assert app.screen.query_one("#text", TextArea).text == "half more"
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert "half more" in notes(world)
        await pilot.press("c")
        await settle(pilot)
        assert app.screen.query_one("#text", TextArea).text == ""


@pytest.mark.slow
async def test_a_discarded_draft_is_gone(world, app):
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("c", *"half", "ctrl+g")
        await settle(pilot)
        await pilot.press("c")
        await settle(pilot)
        assert app.screen.query_one("#text", TextArea).text == ""


async def test_what_a_note_takes_as_its_end_is_read_whole_in_a_small_terminal(app):
    async with app.run_test(size=(60, 15)) as pilot:
        await settle(pilot)
        await pilot.press("c")
        await write(pilot, "hello", expires="yesterday")
        await pilot.press("ctrl+s")
        await settle(pilot)
        shown = " ".join(strip.text.strip() for strip in app.screen._compositor.render_strips())
        assert "“yesterday” is in the past. Use one of: today, tomorrow," in shown
        assert "2030-12-31 14:00, never." in shown


async def test_what_waits_stands_in_the_order_in_which_sessions_get_it(world, app):
    directory = paths.inbox_dir(world.root, paths.project_key(world.shop))
    inbox_file.add_entry(directory, "guidance", {}, "Just in", now=NOW)
    inbox_file.add_entry(directory, "guidance", {"urgent": "yes"}, "Just in, urgent", now=NOW)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        waiting = [row for row in app.screen.table.rows if isinstance(row, NoteRow) and not row.is_lost]
        rows = [row.text for row in waiting if row.home in {None, paths.project_key(world.shop)}]
        assert rows[:2] == ["CI is red on main: the lockfile job fails since 3f9a2c1.", "Just in, urgent"]
        assert rows.index("The nightly backup failed twice.") < rows.index("Just in")


async def test_the_queue_says_what_waits_and_what_is_stuck(app):
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        found = states(app)
        assert found["CI is red on main: the lockfile job fails since 3f9a2c1."] == "urgent"
        assert found["The staging database is down until noon."] == "expired"
        assert found["The error rate doubled after the last deploy."] == "returned 3×"
        assert found["The nightly backup failed twice."] == "waiting"  # of the global inbox


@pytest.mark.slow
async def test_what_waits_is_changed_and_undone(world, app):
    old = "Checkout is being rewritten by Mara; ask before changing it."
    path = paths.inbox_dir(world.root, paths.project_key(world.shop)) + "/guidance.md"
    before = read(path)
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, old)
        was = notes(world)[old]
        await pilot.press("e")
        await settle(pilot)
        form = app.screen
        assert form.query_one("#to", Select).value == "project"
        assert form.query_one("#path", Input).value == "src/checkout/**"
        form.query_one("#text", TextArea).text = "Mara is done with checkout."
        await pilot.press("ctrl+s")
        await settle(pilot)
        now = notes(world)["Mara is done with checkout."]
        assert (now["id"], now["for"], now["from"]) == (was["id"], was["for"], was["from"])
        assert old not in notes(world)
        after = read(path)
        await pilot.press("z")
        await settle(pilot)
        assert read(path) == before
        await pilot.press("Z")
        await settle(pilot)
    assert read(path) == after


@pytest.mark.slow
@pytest.mark.every(step=3)
@pytest.mark.parametrize(("answer", "stands"), [(0, "theirs"), (1, "mine"), (2, "theirs")])
async def test_a_save_over_a_note_that_changed_meanwhile_shows_both_and_asks(world, app, answer, stands):
    old = "Checkout is being rewritten by Mara; ask before changing it."
    path = paths.inbox_dir(world.root, paths.project_key(world.shop)) + "/guidance.md"
    theirs, mine = "Checkout is being rewritten by Mara; ask Jon.", "Mara is done with checkout."
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, old)
        await pilot.press("e")
        await settle(pilot)
        app.screen.query_one("#text", TextArea).text = mine
        put(path, read(path).decode().replace(old, theirs))
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert isinstance(app.screen, Choice)
        assert theirs in notes(world)
        shown = app.screen.query_one(Detail).plain
        assert f"- {theirs}" in shown
        assert f"+ {mine}" in shown
        assert "  for: path:src/checkout/**" in shown
        await pilot.press(*["down"] * answer, "enter")
        await settle(pilot)
        assert {"theirs": theirs, "mine": mine}[stands] in notes(world)
        assert isinstance(app.screen, DraftForm) == (answer == 0)  # the words are there still
        if stands == "mine":
            assert theirs not in notes(world)
            await pilot.press("z")
            await settle(pilot)
            assert theirs in notes(world)


@pytest.mark.slow
async def test_the_detail_says_who_gets_a_note_and_why_it_is_stuck(app):
    async with app.run_test(size=WIDE) as pilot:
        for words, why in (("The staging database", "! expired"), ("The error rate", "! returned 3×")):
            await to(pilot, words)
            assert why in app.screen.query_one("#detail").plain
        await to(pilot, "The design review")
        detail = app.screen.query_one("#detail").plain
        assert "for the next prompt in shop: start claude there, or go on in a session that runs\n" in detail
        assert detail.rstrip().split("\n")[-1].startswith("~/.claude/memtui/")


@pytest.mark.slow
async def test_a_held_note_goes_once_more_after_an_edit(world, app):
    text = "The error rate doubled after the last deploy."
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, text)
        await pilot.press("e", "ctrl+s")
        await settle(pilot)
        assert states(app)[text] == "waiting"
    assert "attempts" not in notes(world)[text]


@pytest.mark.slow
async def test_hand_written_words_become_an_entry_when_they_are_changed(world, app):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "The design review")
        await pilot.press("e")
        await write(pilot, "The design review moved to Friday.", to="global")
        await pilot.press("ctrl+s")
        await settle(pilot)
    assert "The design review moved to Friday." in notes(world, None)
    assert not any("design review" in text for text in notes(world))


@pytest.mark.slow
async def test_withdrawing_marked_ones_is_one_undo_step(world, app):
    before = notes(world)
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "Checkout is being")
        await pilot.press("space", "space", "x")
        await settle(pilot)
        assert len(notes(world)) == len(before) - 2
        after = notes(world)
        await pilot.press("z")
        await settle(pilot)
        assert notes(world) == before
        await pilot.press("Z")
        await settle(pilot)
    assert notes(world) == after


async def test_undo_puts_the_cursor_on_the_note_that_came_back(app):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "Checkout is being")
        key = app.screen.table.row_id
        await pilot.press("x")
        await settle(pilot)
        assert app.screen.table.row_id != key
        await pilot.press("z")
        await settle(pilot)
        assert app.screen.table.row_id == key


async def test_two_quick_keys_withdraw_two_notes(world, app):
    before = notes(world)
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "Checkout is being")
        await burst(pilot, "x", "x")
        await settle(pilot)
        assert len(notes(world)) == len(before) - 2
        assert [note.severity for note in app._notifications] == ["information"]


async def test_a_delivered_note_tells_who_got_it_when_and_whether_it_arrived(app):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "CI is red: somebody else")
        shown = app.screen.query_one("#detail").plain
        assert "✓ arrived  2d ago" in shown
        assert "“make the upload test stable” · shop" in shown
        await to(pilot, "new-cart stays")
        assert "· not known" in app.screen.query_one("#detail").plain


async def test_what_was_lost_waits_again_above_and_says_so_below(world, app):
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert states(app)["Publishing is frozen until Friday."] == "urgent"
        await pilot.press("exclamation_mark")
        await settle(pilot)
        await to(pilot, "Publishing is frozen")
        assert "It waits again, on top of the list." in app.screen.query_one("#detail").plain


async def test_a_lost_note_that_does_not_wait_says_what_became_of_it(world, app):
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("exclamation_mark")
        await settle(pilot)
        await to(pilot, "The caching numbers")
        shown = app.screen.query_one("#detail").plain
        assert "✗ lost" in shown
        assert "It was sent again 21h ago: ✓ arrived." in shown
        assert "waits again" not in shown
        await pilot.press("escape")
        await settle(pilot)
        await to(pilot, "Publishing is frozen")
        await pilot.press("x")
        await settle(pilot)
        await to(pilot, "Publishing is frozen")
        assert "It waits no longer: it was withdrawn or changed since." in app.screen.query_one("#detail").plain


@pytest.mark.slow
async def test_saying_it_again_opens_the_form_with_the_text(world, app):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "Use the registry mirror")
        await pilot.press("a")
        await settle(pilot)
        assert app.screen.query_one("#text", TextArea).text.startswith("Use the registry mirror")
        await pilot.press("ctrl+s")
        await settle(pilot)
    assert "Use the registry mirror today, the public one is slow." in notes(world)


@pytest.mark.slow
async def test_saying_an_urgent_note_again_keeps_it_urgent(world, app):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "CI is red: somebody else")
        await pilot.press("a")
        await settle(pilot)
        assert app.screen.query_one("#when", Select).value == "urgent"
        await pilot.press("ctrl+s")
        await settle(pilot)
    (fields,) = [fields for text, fields in notes(world).items() if text.startswith("CI is red: somebody else")]
    assert (fields["from"], fields["urgent"]) == ("ci-watch", "yes")


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
        await pilot.press("x")
        await settle(pilot)
        assert app.last_note == "These notes were sent already. a sends one of them again."
        await pilot.press("a")
        await settle(pilot)
        assert isinstance(app.screen, Choice)
        await pilot.press("down", "enter")
        await settle(pilot)
        assert app.screen.query_one("#text", TextArea).text == "Number 1"


async def test_a_row_without_a_note_says_so_to_each_key(app):
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        table = app.screen.table
        table.move_to(next(at for at, row in enumerate(table.rows) if isinstance(row, SessionGroup)))
        for key in ("x", "e", "a"):
            await pilot.press(key)
            assert app.last_note == "Only notes can be sent again, edited or withdrawn."


async def test_what_a_hook_has_taken_is_under_way_and_can_not_be_withdrawn(world, app):
    directory = paths.inbox_dir(world.root, paths.project_key(world.shop))
    os.makedirs(directory + "/claimed", exist_ok=True)
    name = f"{ids.new_id(NOW - 5)}~{world.sessions['today']}~{os.getpid()}.md"
    put(f"{directory}/claimed/{name}", inbox_format.render({"id": "A" * 26, "from": "cli"}, "Just taken"))
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "Just taken")
        assert states(app)["Just taken"] == "on the way"
        assert "add tests for the new components" in app.screen.query_one("#detail").plain
        await pilot.press("x")
        await settle(pilot)
        assert any("on its way" in n.message for n in app._notifications)
        assert os.listdir(directory + "/claimed") == [name]


@pytest.mark.slow
@pytest.mark.parametrize("where", ["project", "global"])
async def test_what_is_under_way_elsewhere_is_sent_again_to_where_it_was_for(world, app, where):
    slug = paths.project_key(world.blog) if where == "project" else None
    directory = paths.inbox_dir(world.root, slug)
    os.makedirs(directory + "/claimed", exist_ok=True)
    name = f"{ids.new_id(NOW - 5)}~{world.sessions['today']}~{os.getpid()}.md"
    put(f"{directory}/claimed/{name}", inbox_format.render({"id": "A" * 26, "from": "cli"}, "Just taken"))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await to(pilot, "Just taken")
        await pilot.press("a")
        await settle(pilot)
        assert app.screen.query_one("#to", Select).value == where
        await pilot.press("ctrl+s")
        await settle(pilot)
    assert "Just taken" in notes(world, slug)


@pytest.mark.slow
async def test_two_projects_of_one_name_are_told_apart(world, app):
    for path in ("/srv/one/site", "/srv/two/site"):
        directory = paths.inbox_dir(world.root, paths.project_key(path))
        os.makedirs(directory, exist_ok=True)
        put(f"{directory}/guidance.md", inbox_format.render({"from": "cli", "project": path}, f"For {path}"))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await to(pilot, "For /srv/two/site")
        shown = {row.text: row.cells(app.screen.listing)[1].plain for row in app.screen.listing.notes}
        assert (shown["For /srv/one/site"], shown["For /srv/two/site"]) == ("one/site", "two/site")
        await pilot.press("e")
        await settle(pilot)
        assert app.screen.subject.shape.title == "Edit the note · two/site"


async def test_a_note_that_is_under_way_is_listed_once(world, app):
    directory, name, note = (
        paths.inbox_dir(world.root, paths.project_key(world.shop)),
        ids.new_id(NOW - 5),
        ids.new_id(NOW),
    )
    os.makedirs(directory + "/claimed", exist_ok=True)
    text = f'<memtui-guidance id="{note}" from="tui" delivery="{name}">\nintro\nOnly once\n</memtui-guidance>'
    put(
        f"{directory}/claimed/{name}~{world.sessions['today']}~{os.getpid()}.md",
        inbox_format.render({"id": note, "from": "tui"}, "Only once"),
    )
    item = {"kind": "guidance", "id": note, "scope": "project", "reason": "next prompt"}
    record = {"v": 1, "id": name, "event": "UserPromptSubmit", "session_id": world.sessions["today"]}
    record |= {"time": clock.iso(NOW - 5), "project": paths.project_key(world.shop), "text": text, "items": [item]}
    delivery_log.append(world.root, record, NOW - 5)
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "Only once")
        assert "Only once" not in states(app)
        assert sum("Only once" in line for line in drawn(app)[: app.screen.table.region.bottom]) == 1


@pytest.mark.slow
async def test_a_list_of_the_form_that_was_closed_leaves_the_mark_on_its_field(app):
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("c")
        await write(pilot, "A note")
        await pilot.press("tab", "enter", "escape")
        await settle(pilot)
        assert [line.strip()[:4] for line in drawn(app) if line.strip().startswith("›")] == ["›to "]


async def test_undo_goes_past_a_note_that_a_session_took_after_asking_once(world, app):
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("1")
        await settle(pilot)
        await pilot.press("x", "x", "c")
        await write(pilot, "Soon taken")
        await pilot.press("ctrl+s")
        await settle(pilot)
        trashed = list(app.data.store().trash())[:2]
        os.remove(paths.inbox_dir(world.root, paths.project_key(world.shop)) + "/guidance.md")
        await pilot.press("U")
        await settle(pilot)
        assert "undo it" not in drawn(app)[-1]
        assert "was delivered or changed meanwhile" in "\n".join(drawn(app))
        await pilot.press("escape", "z")
        await settle(pilot)
        words = "Write note “Soon taken” can't be undone: it was delivered or changed meanwhile. Undo the older change"
        assert app.screen.heading.startswith(words)
        await pilot.press("down", "enter")
        await settle(pilot)
        await pilot.press("z")
        await settle(pilot)
        assert app.last_note.startswith("Undone: ")
        assert all(os.path.exists(each.memory.path) for each in trashed)  # noqa: ASYNC240


def drawn(app):
    return [strip.text for strip in app.screen._compositor.render_strips()]


@pytest.mark.slow
async def test_a_note_for_an_agent_is_queued_for_its_next_prompt(world, app):
    install.apply(install.plan(install.settings_path(world.env, world.shop, "user"), "install", env=world.env))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("c")
        await write(pilot, "Check the lock", agent="reviewer")
        await pilot.press("ctrl+s")
        await settle(pilot)
        said = [note.message for note in app._notifications][-1]
        assert said == "Waits for the next prompt of the agent reviewer in this project. z undoes."


@pytest.mark.slow
async def test_a_note_of_ones_own_is_queued_and_is_from_you(world, app):
    install.apply(install.plan(install.settings_path(world.env, world.shop, "user"), "install", env=world.env))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("c", *"mine", "ctrl+s")
        await settle(pilot)
        assert [note.message for note in app._notifications][
            -1
        ] == "Waits for the next prompt in this project. z undoes."
        await to(pilot, "mine")
        assert "from you, just now" in app.screen.query_one("#detail").plain
        await pilot.press("x")
        await settle(pilot)
        assert [note.message for note in app._notifications][-1] == "Withdrawn: “mine”. z undoes."


@pytest.mark.slow
async def test_a_session_that_a_note_is_for_has_its_title(world, app):
    session = world.sessions["tuesday"]
    directory = paths.inbox_dir(world.root, paths.project_key(world.shop))
    inbox_file.add_entry(directory, "guidance", {"from": "cli", "for": f"session:{session}"}, "For that one")
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "For that one")
        assert "for the next prompt of “make the upload test stable”" in app.screen.query_one("#detail").plain
        await pilot.press("slash", *"upload test", "enter")
        await settle(pilot)
        assert "For that one" in states(app)  # the filter finds the title


async def test_what_was_told_says_why_it_can_not_be_changed(app):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "Use the registry mirror")
        await pilot.press("e")
        await settle(pilot)
        assert app.screen.group == "activity"
        assert any("a sends it again" in n.message for n in app._notifications)


@pytest.mark.slow
async def test_a_note_taken_while_its_form_was_open_is_not_written_twice(world, app):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "CI is red on main")
        await pilot.press("e")
        await write(pilot, "CI is green")
        os.unlink(paths.inbox_dir(world.root, paths.project_key(world.shop)) + "/guidance.md")  # a hook takes it
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert isinstance(app.screen, DraftForm)
        assert app.screen.query_one("#text", TextArea).text == "CI is green"
    assert notes(world) == {}


@pytest.mark.slow
async def test_a_note_that_arrives_leaves_the_cursor_where_it_is(world, app):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "The nightly backup")
        directory = paths.inbox_dir(world.root, paths.project_key(world.shop))
        inbox_file.add_entry(directory, "guidance", {"from": "cron"}, "Just in", now=NOW)
        for _ in range(40):
            await pilot.pause(0.1)
            if "Just in" in states(app):
                break
        assert states(app)["Just in"] == "waiting"
        assert app.screen.table.row.text.startswith("The nightly backup")


async def test_read_only_neither_writes_nor_withdraws(world):
    before = notes(world)
    app = MemtuiApp(dict(world.env), world.shop, screen="activity", now=NOW, read_only=True)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("c", "e", "x", "a")
        await settle(pilot)
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
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
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


@pytest.mark.slow
async def test_terminal_escapes_and_markup_draw_harmlessly(world, app):
    directory = paths.inbox_dir(world.root, paths.project_key(world.shop))
    put(directory + "/guidance.md", "[bold]\x1b[31mred \u202egnp [/]\n" + "x" * 100_000)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        drawn = "".join(strip.text for strip in app.screen._compositor.render_strips())
        assert not {"\x1b", "\u202e"} & set(drawn)
        assert "\x1b" not in app.screen.query_one("#detail").plain
        assert "too long" in states(app).values()
        await to(pilot, "[bold]")
        await pilot.press("e")
        await settle(pilot)
        assert "\x1b" not in app.screen.query_one("#text", TextArea).text


@pytest.mark.slow
async def test_all_that_waits_is_withdrawn_as_one_step_and_comes_back(world, app):
    before, everywhere = notes(world), notes(world, None)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("A", "x")
        await settle(pilot)
        assert (notes(world), notes(world, None)) == ({}, {})
        await pilot.press("z")
        await settle(pilot)
        assert (notes(world), notes(world, None)) == (before, everywhere)
        await pilot.press("Z")
        await settle(pilot)
        assert (notes(world), notes(world, None)) == ({}, {})


@pytest.mark.slow
async def test_guidance_of_another_project_is_named_after_it_and_stays_there(world, app):
    blog = paths.project_key(world.blog)
    inbox_file.add_entry(paths.inbox_dir(world.root, blog), "guidance", {}, "Titles are in sentence case.")
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await to(pilot, "Titles are")
        shown = app.screen.query_one("#detail").plain
        assert "for the next prompt in blog" in shown
        assert f"in {blog}" not in shown
        assert "blog" in app.screen.table._draw(app.screen.table.row)[1].plain
        await pilot.press("e")
        await settle(pilot)
        drawn = "\n".join(strip.text for strip in app.screen._compositor.render_strips())
        assert "Edit the note · blog" in drawn
        assert "the project: blog" in drawn
        assert "the next prompt in blog" in " ".join(drawn.split())
        assert "this project" not in drawn
        app.screen.query_one("#text", TextArea).text = "Titles are short."
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert list(notes(world, blog)) == ["Publishing is frozen until Friday.", "Titles are short."]
        await to(pilot, "The caching numbers")
        await pilot.press("a", "ctrl+s")
        await settle(pilot)
    assert list(notes(world, blog))[2:] == ["The caching numbers were measured again, see bench.md."]


@pytest.mark.slow
async def test_open_options_leave_the_keys_on_the_screen_and_name_theirs(app):
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("c", *"CI", "tab")
        before = app.screen.query_one(KeyBar).keys
        await pilot.press("enter")
        await settle(pilot)
        bar, options = app.screen.query_one(KeyBar), app.screen.query_one("#to SelectOverlay")
        assert [key for key, _ in bar.keys] == ["enter", "escape", "type", "up down", "f1"]
        assert options.region.bottom <= bar.region.y
        drawn = [strip.text for strip in app.screen._compositor.render_strips()]
        lines = [line[options.region.x : options.region.right] for line in drawn]
        lines = lines[options.region.y : options.region.bottom]
        assert lines[0][:2] == "╭─"
        assert lines[1].split() == ["│", "this", "project:", "shop", "│"]  # the name of the field below is covered
        assert lines[1].index("this") == app.screen.query_one("#to SelectCurrent #label").region.x - options.region.x
        await pilot.press("escape")
        await settle(pilot)
        assert bar.keys == before


@pytest.mark.slow
@pytest.mark.parametrize(("seconds", "form"), [(0, "%Y-%m-%d %H:%M"), (17, "%Y-%m-%dT%H:%M:%S")])
async def test_the_form_shows_when_a_note_expires_in_local_time_and_keeps_it(world, app, seconds, form):
    ends = NOW // 60 * 60 + 86400 + seconds
    directory = paths.inbox_dir(world.root, paths.project_key(world.shop))
    inbox_file.add_entry(directory, "guidance", {"expires": clock.iso_seconds(ends)}, "Frozen.")
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "Frozen.")
        await pilot.press("e")
        await settle(pilot)
        assert app.screen.query_one("#expires", Input).value == time.strftime(form, time.localtime(ends))
        app.screen.query_one("#text", TextArea).text = "Frozen!"
        await pilot.press("ctrl+s")
        await settle(pilot)
    assert clock.parse(notes(world)["Frozen!"]["expires"]) == ends


@pytest.mark.slow
async def test_a_note_that_expired_opens_without_its_time_and_says_so(world, app):
    directory = paths.inbox_dir(world.root, paths.project_key(world.shop))
    inbox_file.add_entry(directory, "guidance", {"expires": clock.iso_seconds(NOW - 7200)}, "Over.")
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "Over.")
        await pilot.press("e")
        await settle(pilot)
        assert app.screen.query_one("#expires", Input).value == ""
        assert "It expired 2h ago" in str(app.screen.query_one(".told").render())
        assert "Delivered once" in str(app.screen.query_one(".where").render())
        await pilot.press("ctrl+s")
        await settle(pilot)
    assert "expires" not in notes(world)["Over."]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("path", "src/[", "“src/[” is no pattern: a [ or ] stands alone."),
        ("agent", "the reviewer", "“the reviewer” is no name of an agent: it has a blank."),
    ],
)
async def test_an_addressee_that_there_can_not_be_is_refused_and_stays_in_the_form(world, app, field, value, says):
    before = notes(world)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("c")
        await write(pilot, "hi", **{field: value})
        assert says in str(app.screen.query_one(".where").render())
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert says in str(app.screen.query_one(".told").render())
        assert app.screen.query_one(f"#{field}", Input).value == value
    assert notes(world) == before


@pytest.mark.slow
async def test_saying_again_what_expired_or_is_held_renews_that_one(world, app):
    held = "The error rate doubled after the last deploy."
    path = paths.inbox_dir(world.root, paths.project_key(world.shop)) + "/guidance.md"
    over = inbox_file.add_entry(
        paths.inbox_dir(world.root, paths.project_key(world.shop)),
        "guidance",
        {"expires": clock.iso_seconds(NOW - 60)},
        "Over.",
    )
    before, was = read(path), notes(world)
    async with app.run_test(size=SMALL) as pilot:
        for text in (held, "Over."):
            await to(pilot, text)
            await pilot.press("a")
            await settle(pilot)
            assert states(app)[text] == "waiting"
            assert app.last_note == f"Sent again: “{text}” waits, but nothing delivers it yet. z undoes."
            assert app.screen.table.row.text == text
        now = notes(world)
        assert len(waiting_in(world.root, [paths.project_key(world.shop)], ("guidance",))) == len(was)
        assert "attempts" not in now[held]
        assert "expires" not in now["Over."]
        assert now["Over."]["id"] != over
        await pilot.press("z", "z")
        await settle(pilot)
    assert read(path) == before


@pytest.mark.slow
async def test_changing_and_saying_again_go_one_by_one(world, app):
    before = notes(world)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("space", "space")
        await settle(pilot)
        assert app.screen.summary_line.render().plain.endswith(" · 2 marked")
        for key in ("e", "a"):
            await pilot.press(key)
            await settle(pilot)
            assert [note.message for note in app._notifications][-1].startswith("2 are marked, but this works on one")
        await pilot.press("escape")
        await settle(pilot)
        assert "marked" not in app.screen.summary().plain
    assert notes(world) == before


@pytest.mark.slow
async def test_saying_it_again_is_undone_and_done_again(world, app):
    text = "Use the registry mirror today, the public one is slow."
    before = notes(world)
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "Use the registry mirror")
        await pilot.press("a", "ctrl+s")
        await settle(pilot)
        assert app.screen.table.row.item is not None  # the cursor stands on the one that waits
        for key, there in (("z", False), ("Z", True)):
            await pilot.press(key)
            await settle(pilot)
            assert (text in notes(world)) is there
    assert set(notes(world)) == {*before, text}


@pytest.mark.slow
async def test_the_foot_names_what_can_be_done_with_the_note(app):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "CI is red on main")
        assert "e edit  x withdraw" in app.screen._compositor.render_strips()[-1].text
        await to(pilot, "Use the registry mirror")
        shown = app.screen._compositor.render_strips()[-1].text
        assert "send again" not in shown, "it arrived"
        assert "withdraw" not in shown


async def test_what_is_stuck_offers_to_be_sent_again_what_arrived_does_not(app):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "The staging database is down")
        await pilot.press("enter")
        await settle(pilot)
        assert "a  send it again" in " ".join(app.screen.query_one("#detail").plain.split("\n")).replace("   ", "  ")
        await pilot.press("escape")
        for row in [row for row in app.screen.table.rows if isinstance(row, DeliveryEntry)]:
            app.screen.table.move_to(app.screen.table.rows.index(row))
            await settle(pilot)
            arrived = app.screen.listing.data.receipts.known.get(row.key) == "arrived"
            assert not (arrived and "activity.again" in [each.id for each in app.screen.footer_actions()])
            assert not app.screen.glance.text.plain.startswith("\n")


async def test_on_a_small_screen_all_of_a_note_stands_below_the_list(app):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "CI is red on main")
        text = app.screen.table.row.text
        drawn = [strip.text.strip() for strip in app.screen._compositor.render_strips()]
        below = " ".join(drawn[app.screen.table.region.bottom :])
        assert text in below


@pytest.mark.slow
async def test_the_undo_of_a_note_sent_again_puts_the_cursor_back_on_it(world, app):
    held = "The error rate doubled after the last deploy."
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, held)
        await pilot.press("a")
        await settle(pilot)
        await pilot.press("z")
        await settle(pilot)
        assert app.screen.table.row.text == held
