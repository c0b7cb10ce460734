"""The frame: screens by number, help and palette from one table, read-only."""

import os
import re

import pytest
from rich.cells import cell_len

from memtui import keymap
from memtui.base.errors import MemtuiError
from memtui.settings import config_hot, setting
from memtui.store.journal.journal import Journal
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.ask import LEFT_OUT
from memtui.tui.screens.activity.rows import NoteRow
from memtui.tui.screens.activity.sessions import DeliveryEntry
from memtui.tui.terminal import theme_named
from memtui.tui.widgets.lines import TABS
from tables import rows
from tui.hands import exists, lines, notes, to_kind, to_row, write

from . import stage
from .conftest import NOW, press, running, settle, until


@pytest.mark.every(step=1)
def test_every_action_has_a_command_and_a_key_of_its_own(app):
    commands = app.commands
    for group in {action.group for action in keymap.ACTIONS}:
        keys = [key for a in keymap.of(group) if a.keys for key in a.keys.split(",")]  # others: in the palette alone
        assert len(keys) == len(set(keys)), group
    for action in keymap.of(keymap.GLOBAL):
        assert action.id in commands


def test_keys_mean_the_same_on_every_screen_and_everywhere():
    every = {key for a in keymap.of(keymap.GLOBAL) for key in a.keys.split(",")}
    meanings = {"slash": "", "space": "Mark", "v": "", "exclamation_mark": "Show only"}
    for action in keymap.ACTIONS:
        if action.group == keymap.GLOBAL:
            continue
        for key in filter(None, action.keys.split(",")):
            assert key not in every, action.id
            assert meanings.get(key, "") in action.help, action.id
        if "slash" in action.keys:
            assert action.footer in {"filter", "text"}, action.id


async def test_a_theme_that_is_chosen_is_named_and_kept(app, world):
    async with running(app, (80, 24)) as pilot:
        app.choose_theme("light")
        await settle(pilot)
        assert app.theme == theme_named("light")
        assert "light" in notes(app)[0]
        await pilot.press("q")
    assert config_hot.load(world.root) == {"theme": "light"}
    again = MemtuiApp(dict(world.env), world.shop, now=NOW)
    async with running(again, (80, 24)) as pilot:
        assert again.theme == "textual-light"
        write(world.root + "/config.toml", 'theme = "nord"\n')
        await until(pilot, lambda: again.theme == "nord")


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
        assert (app.screen.group, app.screen.table.row[1].memory.path) == ("memories", path)
        app.go("activity").show_query("is:lost")
        await settle(pilot)
        assert app.focused is app.screen.table
        app.go_to_memory(path + ".gone")
        await pilot.pause()
        assert app.screen.group == "activity"
        assert any("does not exist any more" in note.message for note in app._notifications)


@pytest.mark.usefixtures("all_seen")
async def test_the_top_line_tells_project_mode_and_hooks_at_80_columns(app, world):
    from memtui.hooks.install import installation as install

    os.remove(f"{world.directory}/.memtui-demo")
    setting = install.settings_path(world.env, world.shop, "user")
    install.apply(install.plan(setting, "uninstall", env=world.env))
    write(world.root + "/config.toml", 'mode = "notes"\n')
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "2 Inbox 16" in lines(app)[0])
        for word in ("notes", "hooks ✗  1 live", "1 Memories", "3 Activity", "4 Setup !1"):
            assert word in lines(app)[0], (word, lines(app)[0])
        await pilot.resize_terminal(44, 20)
        await settle(pilot)
        for word in ("notes", "✗", "1 Memories", "2(16)", " 3 ", " 4"):
            assert word in lines(app)[0], (word, lines(app)[0])


@pytest.mark.parametrize("read_only", [False, True])
async def test_from_60_columns_on_tabs_keep_their_names_and_places(world, read_only):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, read_only=read_only)
    async with running(app, (60, 24)) as pilot:
        for width in (60, 80, 100, 160):
            await pilot.resize_terminal(width, 24)
            places = set()
            for waiting in ({}, {"inbox": 7}, {"inbox": 309, "setup": 12}):
                for key in "1234":
                    await press(pilot, key)
                    app.data.facts.waiting.clear()
                    app.data.facts.waiting |= waiting
                    app.data.facts.hooks = key == "1"
                    app.screen.frame_top()
                    names = [f" {number} {name.capitalize()}" for number, name in enumerate(TABS, 1)]
                    places.add(tuple(lines(app)[0].index(name) for name in names))
                    assert ("2 Inbox 309 " in lines(app)[0]) == ("setup" in waiting)
                    assert ("read-only" in lines(app)[0]) == read_only
            assert len(places) == 1


async def test_tabs_and_keys_of_the_foot_are_clicked(app):
    async with running(app, (120, 24)) as pilot:
        await pilot.click("#top", offset=(lines(app)[0].index(" 3 ") + 2, 0))
        await settle(pilot)
        assert app.screen.group == "activity"
        assert app.focused is app.screen.table
        foot = app.screen._compositor.render_strips()[-1].text
        await pilot.click("#foot", offset=(foot.index("plots"), 0))
        await settle(pilot)
        assert app.screen.heading == "Plots: deliveries of all projects"


async def test_notes_show_one_at_a_time_off_the_cursor_and_errors_wait_for_a_key(app):
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settle(pilot)
        app.screen.table.move_to(len(app.screen.table.rows) - 1)
        await pilot.pause()
        row = next(line for line in lines(app) if line.startswith("›"))
        for word in ("first", "second", "third"):
            app.say(f"This is the {word} note.")
        await settle(pilot)
        assert notes(app) == ["This is the third note."]
        assert sum("This is the" in line for line in lines(app)) == 1
        assert row in lines(app)
        assert "? keys" in lines(app)[-1]
        app.fail(MemtuiError("It broke.", "Fix it."))
        app.say("And something else happened.")
        await pilot.pause()
        assert any("It broke." in note for note in notes(app))
        await pilot.press("j")
        await pilot.pause()
        assert not any("It broke." in note for note in notes(app))


async def test_ctrl_c_says_how_to_leave_and_copies_what_is_selected(app):
    async with running(app, (120, 40)) as pilot:
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert notes(app)[0].startswith("q quits.")
        assert app.is_running
        await pilot.press("y")
        await pilot.pause()
        assert " characters." in notes(app)[0]
        assert app.clipboard


async def palette(pilot, words):
    """What the palette offers for some words, line by line, as `group: name  …`."""
    await pilot.press("ctrl+p")
    await pilot.press(*words)
    await settle(pilot)
    table = pilot.app.screen.table
    return [table.draw_words(row)[0].plain for row in table.rows]


async def test_the_palette_finds_verbs_before_explanations_and_its_lines_fit(app):
    async with running(app, (80, 24)) as pilot:
        every = await palette(pilot, "")
        assert len(every) == len(keymap.ACTIONS) - len(LEFT_OUT) + len(config_hot.CHOICES["theme"])
        assert every[0].startswith(keymap.of("memories")[0].name)
        assert any(line.startswith("memories: edit") and " e " in line for line in every)
        assert any("n      Create a memory" in line for line in every)
        assert [line for line in every if cell_len(line.rstrip()) > 75 and "list: filter" not in line] == []
        await pilot.press("escape")
        for typed, first in (
            *(("tour", "memtui: the tour"), ("nord", "theme: nord"), ("dark", "theme: dark")),
            *(("mute", "memories: try a prompt"), ("theme:", "theme: "), ("light", "theme: light")),
        ):
            found = await palette(pilot, typed)
            assert found[0].startswith(first)
            assert all(typed in row.casefold() for row in found)
            assert typed != "theme:" or len(found) == len(config_hot.CHOICES["theme"])
            await press(pilot, "enter" if typed == "light" else "escape", "escape")
        assert app.theme == "textual-light"
        assert "undo" in (await palette(pilot, "undo"))[0].partition("  ")[0]
        assert sum("Undo the last change" in line for line in lines(app)) == 1
        await pilot.press("escape", "escape", "2")
        found = [line.partition("  ")[0] for line in await palette(pilot, "edit")]
        assert found[0] == "inbox: edit"
        assert {"memories: edit", "activity: edit"} <= set(found[1:])


async def test_an_action_of_another_screen_is_done_there_but_for_no_row_unseen(app):
    async with running(app, (100, 30), "2") as pilot:
        entries = len(app.data.journal().ledger().all())
        for words, screen, note in (
            ("memories: remove", "memories", "Choose a memory, then x."),
            ("activity: withdraw", "activity", "Choose a row, then x."),
            ("inbox: approve", "inbox", "Choose a row, then a."),
        ):
            app.clear_notifications()
            await palette(pilot, words)
            await press(pilot, "enter")
            assert (app.screen.group, notes(app)) == (screen, [note])
        assert len(app.data.journal().ledger().all()) == entries
        for words in ("memories: new", "memories: versions"):
            here = app.screen
            await palette(pilot, words)
            await press(pilot, "enter")
            below = app.screen_stack[-2]
            assert below.group == "memories"  # its dialog stands over its screen
            await press(pilot, "escape")
            assert app.screen is here
            await press(pilot, "3")


OTHERS = rows(__file__, "others")


@pytest.fixture
def remapped(world):
    """A person who has other keys."""
    journal = Journal(world.root, by="test", now=lambda: NOW)
    for action, key in OTHERS.items():
        setting.assign(world.root, journal, "keys." + action, key)
    return MemtuiApp(dict(world.env), world.shop, now=NOW)


async def test_texts_name_the_keys_that_the_person_has(remapped):
    def drawn():
        return "\n".join(lines(remapped))

    async with running(remapped, (160, 50), "2") as pilot:
        await to_kind(pilot, "todo")
        for words in ("f7 done", "f9 edit", "f11 drop", "f10 later"):
            assert words in drawn()
        await press(pilot, "f7")
        assert notes(remapped) == ["Done: “Fix the flaky upload test: a temp directory for…”. f2 undoes."]
        await press(pilot, "3")
        await to_row(pilot, lambda row: isinstance(row, NoteRow) and row.item and not row.states)
        assert "f7  edit the text" in drawn()
        await press(pilot, "f8")
        (said,) = notes(remapped)
        assert said.startswith("Withdrawn: “")
        assert said.endswith("f2 undoes.")
        await press(pilot, "f6")
        stage.to_setup_row(remapped.screen, "setting mode")
        await settle(pilot)
        assert "f7  change it" in drawn()


@pytest.mark.parametrize("name", TABS)
async def test_the_help_has_at_most_35_keys_in_four_groups_on_a_small_screen(world, name):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen=name)
    async with running(app, (80, 24), "question_mark") as pilot:
        page = app.screen.query_one("Preview Detail").plain.partition(" has more: ")[0]
        assert all(title in page for title in ("Move", "Choose", "Do", "All"))
        assert len(re.findall(r"(?:^|  ) \S.{7} [A-Za-z]", page, re.M)) <= 35
        seen = "\n".join(lines(app))
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
        assert not any("quit" in line and "down" in line for line in lines(app))


@pytest.mark.every(step=1)
async def test_a_status_longer_than_the_window_leaves_no_error(app, world):
    async with running(app, (20, 5)) as pilot:
        app.screen.frame.tell("many words " * 9)
        await settle(pilot)
    assert not exists(f"{world.root}/log/errors.jsonl")
