"""The frame: screens by number, help and palette from one table, read-only."""

import os
import re

import pytest

from memtui import actions
from memtui.base.errors import MemtuiError
from memtui.settings import config, setting
from memtui.store.journal.journal import Journal
from memtui.tui.app import MemtuiApp
from memtui.tui.screens.activity.rows import DeliveryEntry, NoteRow
from memtui.tui.terminal import theme_named
from memtui.tui.widgets import bars

from . import stage
from .conftest import NOW, press, running, settle, until


@pytest.mark.slow
async def test_the_first_screen_lists_every_memory(app):
    async with running(app, (120, 40)):
        names = [row.memory.name for _, row in app.screen.table.rows]
        assert "prefer-pnpm" in names
        assert "concise-answers" in names


def test_every_action_has_a_command_and_a_key_of_its_own(app):
    commands = app.commands
    for group in {action.group for action in actions.ACTIONS}:
        keys = [key for a in actions.of(group) if a.keys for key in a.keys.split(",")]  # others: in the palette alone
        assert len(keys) == len(set(keys)), group
    for action in actions.of(actions.GLOBAL):
        assert action.id in commands


def test_keys_mean_the_same_on_every_screen_and_everywhere():
    every = {key for a in actions.of(actions.GLOBAL) for key in a.keys.split(",")}
    meanings = {
        "slash": "",
        "space": "Mark",
        "v": "",
        "exclamation_mark": "Show only",
    }
    for action in actions.ACTIONS:
        if action.group == actions.GLOBAL:
            continue
        for key in filter(None, action.keys.split(",")):
            assert key not in every, action.id
            assert meanings.get(key, "") in action.help, action.id
        if "slash" in action.keys:
            assert action.footer in {"filter", "text"}, action.id


@pytest.mark.slow
async def test_a_theme_that_is_chosen_is_named_and_kept(app, world):
    async with running(app, (80, 24)) as pilot:
        for theme in (*config.CHOICES["theme"], "dark"):
            app.choose_theme(theme)
            await settle(pilot)
            assert app.theme == theme_named(theme)
            assert len(app._notifications) == 1
            assert theme in next(iter(app._notifications)).message
        assert config.load(world.root) == {}
        app.choose_theme("light")
        await pilot.press("q")
    assert config.load(world.root) == {"theme": "light"}
    again = MemtuiApp(dict(world.env), world.shop, now=NOW)
    async with running(again, (80, 24)) as pilot:
        assert again.theme == "textual-light"
        write(world.root + "/config.toml", 'theme = "nord"\n')
        for _ in range(50):
            await pilot.pause(0.05)
            if again.theme == "nord":
                break
        assert again.theme == "nord"


@pytest.mark.slow
async def test_other_screens_lead_to_a_memory_and_from_it_to_its_deliveries(app, world):
    path = f"{world.shop}/.claude/memory/prefer-pnpm.md"
    app.first = "setup"
    async with running(app, (80, 24)) as pilot:
        app.go("activity").show_query(f"memory:{path}")
        await settle(pilot)
        assert app.screen.group == "activity"
        logged = [row.logged for row in app.screen.table.rows if isinstance(row, DeliveryEntry)]
        assert logged
        assert all(path in row.files for row in logged)
        app.go_to_memory(path)
        await settle(pilot)
        assert app.screen.group == "memories"
        assert app.screen.table.row[1].memory.path == path
        app.go("activity").show_query("is:lost")
        await settle(pilot)
        assert app.focused is app.screen.table
        app.go_to_memory(path + ".gone")
        await pilot.pause()
        assert app.screen.group == "activity"
        assert any("does not exist any more" in note.message for note in app._notifications)


@pytest.mark.slow
async def test_the_setting_glyphs_changes_what_is_drawn_at_once(app):
    def shown():
        return "\n".join(strip.text for strip in app.screen._compositor.render_strips())

    async with running(app, (120, 30)) as pilot:
        assert "hooks ✗" in shown()
        setting.assign(app.data.root, app.data.store().journal, "glyphs", "ascii")
        await press(pilot, "app.refresh")
        assert "hooks x" in shown()
        assert shown().isascii()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def top(app):
    return app.screen._compositor.render_strips()[0].text


@pytest.mark.slow
@pytest.mark.usefixtures("all_seen")
async def test_the_top_line_tells_project_mode_and_hooks_at_80_columns(app, world):
    from memtui.hooks.install import installation as install

    os.remove(f"{world.directory}/.memtui-demo")
    setting = install.settings_path(world.env, world.shop, "user")
    install.apply(install.plan(setting, "uninstall", env=world.env))
    write(world.root + "/config.toml", 'mode = "notes"\n')
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "2 Inbox 15" in top(app))
        for word in ("notes", "hooks ✗  1 live", "1 Memories", "3 Activity", "4 Setup !1"):
            assert word in top(app), (word, top(app))
        await pilot.resize_terminal(44, 20)
        await settle(pilot)
        for word in ("notes", "✗", "1 Memories", "2(15)", " 3 ", " 4"):
            assert word in top(app), (word, top(app))


@pytest.mark.slow
@pytest.mark.parametrize("width", [60, 80, 100, 160])
@pytest.mark.parametrize("read_only", [False, True])
async def test_from_60_columns_on_tabs_keep_their_names_and_places(world, width, read_only):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, read_only=read_only)
    async with app.run_test(size=(width, 24)) as pilot:
        await settle(pilot)
        places = set()
        for waiting in ({}, {"inbox": 7}, {"inbox": 309, "setup": 12}):
            for key in "1234":
                await press(pilot, key)
                app.data.facts.waiting.clear()
                app.data.facts.waiting |= waiting
                app.data.facts.hooks = key == "1"
                app.screen.frame_top()
                names = [f" {number} {name.capitalize()}" for number, name in enumerate(bars.TABS, 1)]
                places.add(tuple(top(app).index(name) for name in names))
                assert ("2 Inbox 309 " in top(app)) == ("setup" in waiting)
                assert ("read-only" in top(app)) == read_only
        assert len(places) == 1


@pytest.mark.slow
async def test_tabs_and_keys_of_the_foot_are_clicked(app):
    async with running(app, (120, 24)) as pilot:
        await pilot.click("#top", offset=(top(app).index(" 3 ") + 2, 0))
        await settle(pilot)
        assert app.screen.group == "activity"
        assert app.focused is app.screen.table
        foot = app.screen._compositor.render_strips()[-1].text
        await pilot.click("#foot", offset=(foot.index("plots"), 0))
        await settle(pilot)
        assert app.screen.has_class("plots")


def notes(app):
    return [note.message for note in app._notifications]


@pytest.mark.slow
async def test_one_note_at_a_time_away_from_the_cursor_and_errors_stay_until_a_key(app):
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settle(pilot)
        for word in ("first", "second", "third"):
            app.say(f"This is the {word} note, and it is long enough for more than half of a line of the screen.")
        await settle(pilot)
        assert len(notes(app)) == 1
        assert "third" in notes(app)[0]
        lines = [strip.text for strip in app.screen._compositor.render_strips()]
        assert sum("This is the" in line for line in lines) == 1
        assert "third" in lines[-2] or "third" in lines[-3]
        assert "? keys" in lines[-1]
        app.screen.table.move_to(len(app.screen.table.rows) - 1)
        await pilot.pause()
        lines = [strip.text for strip in app.screen._compositor.render_strips()]
        name = next(line for line in lines if line.startswith("›"))
        app.say("Where is this?")
        await settle(pilot)
        lines = [strip.text for strip in app.screen._compositor.render_strips()]
        assert name in lines
        assert "? keys" in lines[-1]
        app.fail(MemtuiError("It broke.", "Fix it."))
        app.say("And something else happened.")
        await pilot.pause()
        assert any("It broke." in note for note in notes(app))
        await pilot.press("j")
        await pilot.pause()
        assert not any("It broke." in note for note in notes(app))


@pytest.mark.slow
async def test_ctrl_c_says_how_to_leave_and_copies_what_is_selected(app):
    async with running(app, (120, 40)) as pilot:
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert notes(app)[0].startswith("q quits.")
        assert app.is_running
        await pilot.press("y")
        await pilot.pause()
        assert "characters: “" in notes(app)[0]
        assert app.clipboard


async def palette(pilot, words):
    """What the palette offers for some words, line by line, as `group: name  …`."""
    await pilot.press("ctrl+p")
    await pilot.press(*words)
    await settle(pilot)
    table = pilot.app.screen.table
    return [table.draw_words(row)[0].plain for row in table.rows]


@pytest.mark.slow
async def test_the_palette_leads_to_the_tour(app):
    async with running(app, (80, 24)) as pilot:
        assert any(row.startswith("memtui: the tour") for row in await palette(pilot, "tour"))


@pytest.mark.slow
async def test_the_palette_finds_verbs_before_explanations_and_shows_keys(app):
    async with running(app, (80, 24)) as pilot:
        every = await palette(pilot, "")
        count = sum(action.id != "app.palette" for action in actions.ACTIONS)
        assert len(every) == count + len(config.CHOICES["theme"])
        assert every[0].startswith(actions.of("memories")[0].name)
        assert any(line.startswith("memories: edit") and " e " in line for line in every)
        await pilot.press("escape")
        assert len(await palette(pilot, "theme:")) == len(config.CHOICES["theme"])
        await pilot.press("escape")
        await palette(pilot, "light")
        await press(pilot, "enter")
        assert app.theme == "textual-light"
        undo = await palette(pilot, "undo")
        assert "undo" in undo[0].partition("  ")[0]
        lines = [strip.text for strip in app.screen._compositor.render_strips()]
        assert sum("The last change" in line for line in lines) == 1


@pytest.mark.slow
async def test_the_palette_has_the_actions_of_every_screen_those_of_the_present_one_first(app):
    async with running(app, (100, 30), "2") as pilot:
        found = [line.partition("  ")[0] for line in await palette(pilot, "edit")]
        assert found[0] == "inbox: edit"
        assert {"memories: edit", "activity: edit"} <= set(found[1:])


@pytest.mark.slow
async def test_an_action_of_another_screen_is_done_there(app):
    async with running(app, (100, 30)) as pilot:
        for words, screen in (
            ("memories: new", "memories"),
            ("memories: versions", "memories"),
        ):
            await palette(pilot, words)
            await press(pilot, "enter")
            below = app.screen_stack[-2]
            assert below.group == screen  # its dialog stands over its screen
            await press(pilot, "escape")
            assert app.screen is below


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "screen", "note"),
    [
        ("memories: remove", "memories", "Choose a memory, then x."),
        ("inbox: approve", "inbox", "Choose a row, then a."),
        ("activity: withdraw", "activity", "Choose a row, then x."),
    ],
)
async def test_an_action_of_another_screen_changes_no_row_that_was_not_seen(app, world, words, screen, note):
    async with running(app, (100, 30)) as pilot:
        if screen == "memories":
            await press(pilot, "2")
        entries = len(app.data.journal().ledger().all())
        await palette(pilot, words)
        await press(pilot, "enter")
        assert app.screen.group == screen
        assert notes(app) == [note]
        assert len(app.data.journal().ledger().all()) == entries


OTHERS = {
    "app.undo": "f2",
    "app.note": "f3",
    "app.memories": "f4",
    "app.setup": "f6",
    "inbox.approve": "f7",
    "inbox.merge": "f8",
    "inbox.edit": "f9",
    "inbox.later": "f10",
    "inbox.reject": "f11",
    "activity.edit": "f7",
    "activity.withdraw": "f8",
    "activity.again": "f9",
    "memories.new": "f7",
    "setup.edit": "f7",
    "setup.remove": "f8",
    "setup.approve": "f9",
}


@pytest.fixture
def remapped(world):
    """A person who has other keys."""
    journal = Journal(world.root, by="test", now=lambda: NOW)
    for action, key in OTHERS.items():
        setting.assign(world.root, journal, "keys." + action, key)
    return MemtuiApp(dict(world.env), world.shop, now=NOW)


def drawn(app):
    """What stands on the screen."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


@pytest.mark.slow
async def test_texts_name_the_keys_that_the_person_has(remapped):
    async with running(remapped, (160, 50), "2") as pilot:
        item = next(at for at, line in enumerate(remapped.screen.table.rows) if line.item and line.item.kind == "items")
        remapped.screen.table.move_to(item)
        await settle(pilot)
        for words in ("f7   mark it done", "f9   edit its text", "f11  reject it", "f10  hide it until"):
            assert words in drawn(remapped)
        await press(pilot, "f7")
        assert notes(remapped) == ["Done: “Fix the flaky upload test: a temp directory for…”. f2 undoes."]
        await press(pilot, "3")
        waits = next(
            at
            for at, row in enumerate(remapped.screen.table.rows)
            if isinstance(row, NoteRow) and row.item and not row.states
        )
        remapped.screen.table.move_to(waits)
        await settle(pilot)
        assert "f7  edit the text" in drawn(remapped)
        await press(pilot, "f8")
        (said,) = notes(remapped)
        assert said.startswith("Withdrawn: “")
        assert said.endswith("f2 undoes.")
        await press(pilot, "f6")
        stage.to_setup_row(remapped.screen, "setting mode")
        await settle(pilot)
        assert "f7  change it" in drawn(remapped)


@pytest.mark.slow
@pytest.mark.parametrize("name", bars.TABS)
async def test_the_help_has_at_most_35_keys_in_four_groups(app, name):
    async with running(app, (100, 50), str(bars.TABS.index(name) + 1)) as pilot:
        await press(pilot, "question_mark")
        page = app.screen.query_one("Preview Detail").plain.partition(" has more: ")[0]
        assert all(title in page for title in ("Move", "Choose", "Do", "All"))
        assert len(re.findall(r"(?:^|  ) \S.{7} [A-Za-z]", page, re.M)) <= 35


@pytest.mark.slow
@pytest.mark.every(step=3)
@pytest.mark.parametrize("name", bars.TABS)
async def test_all_keys_of_the_help_stand_on_a_small_screen_in_two_columns(world, name):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen=name)
    async with running(app, (80, 24), "question_mark") as pilot:
        seen = drawn(app)
        for title, keys in (
            ("Move", "j k ↓ ↑  down, up"),
            ("Choose", "/        filter"),
            ("Do", "c        write a note"),
        ):
            assert f" {title} " in seen
            assert f"  {keys}" in seen
        assert "  q ^q     leave memtui" in seen, "the last of all"
        await pilot.resize_terminal(40, 24)
        await settle(pilot)
        assert not any("quit" in line and "down" in line for line in drawn(app).split("\n"))


@pytest.mark.slow
@pytest.mark.every(step=2)
@pytest.mark.parametrize("size", [(60, 15), (80, 24), (120, 36), (160, 48)], ids=str)
@pytest.mark.parametrize("place", ["memories", "inbox", "activity"])
async def test_the_footer_says_enter_and_escape_and_a_place_key_leads_back_to_its_list(world, place, size):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen=place)
    async with running(app, size) as pilot:
        assert drawn(app).split("\n")[-1].startswith(" enter read  ")
        await press(pilot, "enter")
        reading = drawn(app).split("\n")[-1]
        assert reading.startswith(" escape back  ")
        assert ("J K next, previous" in reading) == (size[0] >= 100)
        await press(pilot, str(1 + ["memories", "inbox", "activity"].index(place)))
        assert app.screen.table.has_focus
        assert drawn(app).split("\n")[-1].startswith(" enter read  ")
