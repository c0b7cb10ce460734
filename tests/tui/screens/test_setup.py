"""Setup: findings and their fixes, hooks with a diff, errors, the mode, settings."""

import contextlib
import json
import os
import re
import shutil
import threading
from collections import Counter

import pytest

from memtui.base import clock, findings, fs
from memtui.base.errors import MemtuiError
from memtui.base.finding import Finding
from memtui.hooks.install import installation as install
from memtui.hooks.install import status
from memtui.models.subconscious import control
from memtui.settings import config, setting
from memtui.store.journal.journal import Journal
from memtui.tidy.checks import retention
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.ask import Choice
from memtui.tui.screens.setup import rows
from memtui.tui.screens.setup.screen import Setup
from memtui.tui.screens.setup.text import describe
from memtui.tui.widgets.detail import Detail
from tidy.checks.broken import ASKED, AT_ONCE, bare_codes, break_all
from tui import stage
from tui.conftest import NOW, settle

SIZES = [(80, 24), (120, 40), (160, 48), (40, 24)]


@pytest.fixture
def setup_app(world):
    """The application, started on this screen."""
    return MemtuiApp(dict(world.env), world.shop, now=NOW, screen="setup")


def said(found):
    """The code and the words of a finding. Versions may be taken in between two looks."""
    return found.code, re.sub(r"[\d.]+ k?B (?=of versions|in all)", "some ", findings.message(found))


async def ready(pilot, folded=None):
    """Wait for everything to be read, and unfold it."""
    for _ in range(300):
        await settle(pilot)
        if pilot.app.data.statistics.ready:
            break
    await settle(pilot)
    await settle(pilot)
    screen = pilot.app.screen
    if isinstance(screen, Setup) and folded is None:
        screen.unfolded = set(rows.HEADINGS)
        screen.fill()
        await settle(pilot)
    return screen


async def to_hooks(pilot):
    stage.to_setup_row(pilot.app.screen, "head hooks")
    await settle(pilot)


async def install_hooks(pilot):
    await to_hooks(pilot)
    await pilot.press("a", "enter")


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def bytes_of(path):
    return fs.read_bytes(path) if os.path.exists(path) else None


async def stand(pilot, screen, fits):
    """Put the cursor on the first row that fits."""
    at = next(number for number, row in enumerate(screen.table.rows) if fits(row))
    screen.table.move_to(at)
    await pilot.pause()
    return screen.table.row


def detail(screen, which="#detail"):
    return screen.query_one(which, Detail).plain


def summary(screen):
    return screen.query_one("#summary").render().plain


def words_of(screen, title):
    return next(row.words for row in screen.table.rows if row.key == f"head {title}")


def listed(screen):
    return [row for row in screen.table.rows if isinstance(row.about, Finding)]


@pytest.mark.parametrize("size", SIZES)
async def test_everything_doctor_knows_worst_first_with_what_to_do(setup_app, world, size):
    from memtui.hooks.install import checkup

    async with setup_app.run_test(size=size) as pilot:
        screen = await ready(pilot)
        every = findings.of_setup(checkup.check(dict(world.env), world.shop, NOW))
        told = [said(row.about) for row in listed(screen)]
        elsewhere = ("config.defaults", "config.ok", "hooks.ok")  # the headings say so
        every = [each for each in every if each.area not in {"llm", "dream"} and each.code not in elsewhere]
        assert sorted(told) == sorted(map(said, every))
        for title in rows.HEADINGS:
            levels = [row.mark for row in listed(screen) if row.group == title]
            assert levels == sorted(levels, key="!·✓".index)
            assert "!" not in levels or title in {"problems", "more"}
        for row in listed(screen):
            keys = screen.row_commands.keys(row)
            shown = describe(row, screen.snapshot, keys, setup_app.data, read_only=False).text.plain
            assert (findings.remedy(row.about) in shown) == (not keys)  # a command stands there where no key does it
        assert "Hooks are not installed: press a" in summary(screen)
        assert "to fix" not in summary(screen), "the hooks are the only problem, and are said once"


@pytest.mark.slow
async def test_problems_alone_can_be_asked_for_before_anything_is_read(setup_app, world):
    async with setup_app.run_test(size=(80, 24)) as pilot:
        screen = pilot.app.screen
        screen.all_rows = []
        screen.toggle_term("is:problem")
        assert list(screen.table.rows) == []
        await settle(pilot)
        assert screen.typed == "is:problem"


async def test_hooks_are_installed_after_the_diff_and_taken_out_again(setup_app, world):
    path = install.settings_path(world.env, world.shop, "user")
    before = bytes_of(path)
    async with setup_app.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        assert "Hooks are not installed: press a" in summary(screen)
        await stand(pilot, screen, lambda r: r.key == "head hooks")
        await pilot.press("a")
        await pilot.pause()
        assert isinstance(pilot.app.screen, Choice)
        diff = pilot.app.screen.query_one("Detail").plain
        assert diff.startswith("Adds 7 hooks\n  SessionStart      gives a session an index of your memories\n")
        assert "launch.py" in diff.partition("The exact change of the file\n")[2]
        assert not status.status(world.env, world.shop).installed
        await pilot.press("enter")
        await ready(pilot)
        assert status.status(world.env, world.shop).installed
        assert "7 hooks (user)" in words_of(screen, "hooks")
        row = await stand(pilot, screen, lambda r: r.key == "event UserPromptSubmit")
        assert re.fullmatch(
            r"user · half of the runs under \d+ ms(, 95% under \d+ ms)? · \d+ runs · last \d+m", row.words
        )
        assert "launch.py" in detail(screen)
        there = bytes_of(path)
        await pilot.press("x")
        await pilot.pause()
        await pilot.press("enter")
        await ready(pilot)
        assert not status.status(world.env, world.shop).installed
        assert bytes_of(path) == before
        await pilot.press("z")
        await ready(pilot)
        assert bytes_of(path) == there
        assert "7 hooks (user)" in words_of(screen, "hooks")
        await pilot.press("z")
        await ready(pilot)
        assert bytes_of(path) == before
        assert "Hooks are not installed: press a" in summary(screen)


@pytest.mark.slow
async def test_a_hook_without_a_delivery_is_not_said_never_to_have_run(setup_app, world):
    """The log can't tell: a run with nothing to deliver is not in it, and some hooks never deliver."""
    install.apply(install.plan(install.settings_path(world.env, world.shop, "user"), "install", env=world.env))
    shutil.rmtree(world.root + "/log")
    async with setup_app.run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        for event, word, why in (
            ("UserPromptSubmit", "nothing logged yet", "are logged, so it may have run."),
            ("Stop", "its runs are not logged", "Its runs are not logged: it delivers nothing."),
        ):
            row = await stand(pilot, screen, lambda r, event=event: r.key == f"event {event}")
            assert row.words == f"user · {word}"
            assert why in " ".join(detail(screen).split())


@pytest.mark.slow
async def test_escape_writes_no_hooks(setup_app, world):
    async with setup_app.run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        await to_hooks(pilot)
        await pilot.press("a", "escape")
        await ready(pilot)
        assert not status.status(world.env, world.shop).installed


@pytest.mark.slow
async def test_hooks_that_are_in_the_file_already_are_not_said_to_be_installed(setup_app, world):
    """The toast would promise that z undoes it, and z would undo an earlier change."""
    async with setup_app.run_test(size=(80, 24), notifications=True) as pilot:
        await ready(pilot)
        await install_hooks(pilot)
        await ready(pilot)
        path = install.settings_path(world.env, world.shop, "user")
        before = bytes_of(path)
        await pilot.press("a")
        await ready(pilot)
        assert not isinstance(setup_app.screen, Choice)
        assert not any("Hooks installed" in note.message for note in list(setup_app._notifications)[1:])
        assert bytes_of(path) == before


@pytest.mark.slow
async def test_an_install_that_serves_nobody_says_so(setup_app, world):
    path = install.settings_path(world.env, world.shop, "user")
    fs.write_atomic(path, b'{"disableAllHooks": true}')
    async with setup_app.run_test(size=(80, 24), notifications=True) as pilot:
        await ready(pilot)
        await install_hooks(pilot)
        await ready(pilot)
        said = " ".join(note.message for note in setup_app._notifications)
        assert "Hooks installed" in said
        assert "Claude Code runs no hooks" in said
        assert "will use memtui" not in said


@pytest.mark.slow
async def test_hooks_can_go_into_the_projects_own_settings(setup_app, world):
    async with setup_app.run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        await to_hooks(pilot)
        await pilot.press("a", "down", "enter")
        await ready(pilot)
        assert {each.source for each in status.status(world.env, world.shop).entries} == {"local"}


async def first_start(tmp_path, **more):
    env = {
        "HOME": str(tmp_path),
        "CLAUDE_CONFIG_DIR": f"{tmp_path}/.claude",
        "MEMTUI_HOME": f"{tmp_path}/.claude/memtui",
    }
    env["PATH"] = os.environ["PATH"]
    os.makedirs(tmp_path / "shop", exist_ok=True)
    return MemtuiApp(env, str(tmp_path / "shop"), now=NOW, screen="setup", **more), env


@pytest.mark.slow
async def test_read_only_offers_nothing_and_changes_nothing(tmp_path, world):
    app, _ = await first_start(tmp_path / "new", read_only=True)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        assert not isinstance(app.screen, Choice)
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen="setup", read_only=True)
    before = _tree(world.directory)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        for row in range(len(screen.table.rows)):
            screen.table.move_to(row)
            for key in "ax" + ("e" if screen.table.row.kind == "setting" else ""):
                await pilot.press(key)
                assert app.screen is screen
    assert _tree(world.directory) == before


def _tree(directory):
    found = {}
    for here, _, files in os.walk(directory):
        if here.endswith("/run"):
            continue
        for name in files:
            path = os.path.join(here, name)
            found[path] = fs.read_bytes(path)
    return found


@pytest.mark.slow
async def test_errors_are_told_with_their_age_and_set_aside(setup_app, world):
    path = world.root + "/log/errors.jsonl"
    row = {"v": 1, "time": clock.iso(NOW - 7200), "where": "Stop", "error": "OSError", "message": "disk full \x1b[31m"}
    write(path, json.dumps({**row, "trace": ["worker.py:10 run"]}) + "\n")
    async with setup_app.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        found = await stand(pilot, screen, lambda r: r.kind == "error")
        assert found.title == "2h Stop"
        assert "worker.py:10 run" in detail(screen)
        assert "\x1b" not in detail(screen)
        await pilot.press("a")
        await ready(pilot)
        assert bytes_of(path) is None
        (aside,) = [name for name in os.listdir(world.root + "/log") if name.startswith("errors-")]
        assert b"disk full" in fs.read_bytes(f"{world.root}/log/{aside}")
        assert not any(r.kind == "error" for r in screen.table.rows)
        await pilot.press("z")
        await ready(pilot)
        assert b"disk full" in bytes_of(path)
        assert any(r.kind == "error" for r in screen.table.rows)


@pytest.mark.slow
async def test_a_setting_is_typed_validated_and_comments_stay(setup_app, world):
    path = config.file_path(world.root)
    text = '# mine\nbudget = 6000  # less is more\n\n[projects."/x"]\nmode = "off"\n'
    write(path, text)
    async with setup_app.run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        row = await stand(pilot, screen, lambda r: r.key == "setting budget")
        assert row.words == "6000       changed · characters of a delivery, 500 to 9800"  # what the name does not tell
        assert screen.table._draw(row)[0].plain == " "
        await pilot.press("e")
        await pilot.pause()
        await pilot.press(*["backspace"] * 4, *"12", "enter")
        await pilot.pause()
        assert "must be between" in pilot.app.screen.query_one("#wrong").render().plain
        assert fs.read_bytes(path).decode() == text
        await pilot.press("backspace", "backspace", *"7000", "enter")
        await ready(pilot)
        assert fs.read_bytes(path).decode() == text.replace("6000", "7000")
        await pilot.press("x")
        await ready(pilot)
        assert "budget" not in fs.read_bytes(path).decode()
        assert "# mine" in fs.read_bytes(path).decode()
        assert screen.table.row.words.split()[0] == "9000"
        assert screen.table._draw(screen.table.row)[0].plain == " "
        await pilot.press("z", "z")
        await ready(pilot)
        assert fs.read_bytes(path).decode() == text


@pytest.mark.slow
async def test_a_mode_that_is_off_names_the_keys_that_change_it(setup_app, world):
    write(config.file_path(world.root), 'mode = "off"\n')
    async with setup_app.run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        await stand(pilot, screen, lambda r: getattr(r.about, "code", "") == "config.mode_off")
        shown = " ".join(" ".join(strip.text for strip in screen._compositor.render_strips()).split())
        assert "e change mode" in shown
        assert "memtui config set" not in shown  # a key does it
        await pilot.press("e")
        await settle(pilot)
        assert isinstance(pilot.app.screen, Choice)


@pytest.mark.slow
async def test_a_switch_is_set_everywhere_or_here(setup_app, world):
    async with setup_app.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        await stand(pilot, screen, lambda r: r.key == "setting banner")
        await pilot.press("e", "down", "enter")
        await ready(pilot)
        assert config.value(config.load(world.root), None, "banner") is False
        await pilot.press("e", "down", "enter")  # stands on false everywhere: next is true, here only
        await ready(pilot)
        assert config.value(config.load(world.root), world.shop, "banner") is True
        assert config.value(config.load(world.root), None, "banner") is False
        assert {each.key: each.source for each in setting.rows(world.root, world.shop)}["banner"] == "project"


async def test_a_config_that_can_not_be_read_is_told(setup_app, world):
    write(config.file_path(world.root), "budget = = 3\n")
    with pytest.raises(MemtuiError):
        setting.rows(world.root, world.shop)
    async with setup_app.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        assert any(r.kind == "finding" and r.about.area == "config" and r.mark == "!" for r in screen.table.rows)
        assert "can't be read" in words_of(screen, "settings")


@pytest.mark.slow
async def test_what_was_typed_in_the_editor_and_not_saved_is_opened_again(world, tmp_path, monkeypatch):
    monkeypatch.setattr(MemtuiApp, "suspend", lambda self: contextlib.nullcontext())
    path, script = config.file_path(world.root), tmp_path / "editor.sh"
    script.write_text("#!/bin/sh\n" + """printf 'budget = = 4\\n' > "$1"\n""")
    script.chmod(0o700)
    write(path, "budget = = 3\n")
    env = {**world.env, "PATH": os.environ["PATH"], "VISUAL": str(script)}
    app = MemtuiApp(env, world.shop, now=NOW, screen="setup")
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        await stand(pilot, screen, lambda r: r.kind == "finding" and r.about.area == "config" and r.mark == "!")
        await pilot.press("a")
        await ready(pilot)
        assert bytes_of(path) == b"budget = = 3\n"
        script.write_text("#!/bin/sh\n" + """sed -i 's/= = 4/= 4321/' "$1"\n""")
        write(path, "budget = 5000\n")
        await pilot.press("enter")
        await ready(pilot)
        assert bytes_of(path) == b"budget = 5000\n", "somebody else changed it meanwhile"
        await pilot.press("enter")
        await ready(pilot)
        assert bytes_of(path) == b"budget = 4321\n"
        await pilot.press("z")
        await ready(pilot)
        assert bytes_of(path) == b"budget = 5000\n"


@pytest.mark.slow
async def test_files_open_to_others_are_closed(setup_app, world):
    path = world.root + "/trust.json"
    os.chmod(world.root, 0o755)
    os.chmod(path, 0o644)
    os.chmod(world.root, 0o755)
    async with setup_app.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        await stand(pilot, screen, lambda r: r.kind == "finding" and r.about.code == "root.open")
        await pilot.press("a")
        await ready(pilot)
        assert os.stat(path).st_mode & 0o777 == 0o600
        assert os.stat(world.root).st_mode & 0o777 == 0o700
        await pilot.press("z")
        await ready(pilot)
    assert os.stat(path).st_mode & 0o777 == 0o644
    assert os.stat(world.root).st_mode & 0o777 == 0o755


@pytest.mark.slow
async def test_what_is_kept_no_longer_goes_after_a_question(setup_app, world, monkeypatch):
    monkeypatch.setattr(retention, "MOST_CHANGES", 1)
    before = len(Journal(world.root).ledger().transactions)
    async with setup_app.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        await stand(pilot, screen, lambda r: getattr(r.about, "area", "") == "kept")
        assert "delete old data for good" in detail(screen)
        await pilot.press("a")
        await settle(pilot)
        assert "can't be undone then" in pilot.app.screen.heading
        await pilot.press("enter")  # cancel is in focus
        await settle(pilot)
        assert len(Journal(world.root).ledger().transactions) == before
        await pilot.press("a")
        await settle(pilot)
        await pilot.press("down", "enter")
        await ready(pilot)
    assert len(Journal(world.root).ledger().transactions) == 1


@pytest.mark.slow
async def test_the_view_follows_a_change_from_outside(setup_app, world):
    async with setup_app.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        await stand(pilot, screen, lambda r: r.key == "setting budget")
        plan = install.plan(install.settings_path(world.env, world.shop, "user"), "install", env=world.env)
        install.apply(plan)
        for _ in range(60):
            await pilot.pause(0.05)
            if screen.snapshot.hooks and screen.snapshot.hooks.installed:
                break
        await settle(pilot)
        assert screen.snapshot.hooks.installed
        assert screen.table.row.key == "setting budget"


async def test_nothing_at_all_is_still_readable(tmp_path):
    shutil.rmtree(tmp_path, ignore_errors=True)
    os.makedirs(tmp_path)
    app, _ = await first_start(tmp_path, read_only=True)
    async with app.run_test(size=(40, 24)) as pilot:
        screen = await ready(pilot)
        assert any(r.kind == "event" and "not installed" in r.words for r in screen.table.rows)
        assert "! Hooks are not installed" in summary(screen)
        assert "i installs" not in summary(screen)


@pytest.mark.slow
async def test_each_value_of_a_setting_is_explained_in_its_detail_and_where_it_is_chosen(setup_app, world):
    write(config.file_path(world.root), 'llm_backend = "claude"\n')
    async with setup_app.run_test(size=(160, 48)) as pilot:
        screen = await ready(pilot)
        for key in ("gate", "dream", "llm_backend"):
            await stand(pilot, screen, lambda r, key=key: r.key == f"setting {key}")
            for words in setting.VALUES[key].values():
                assert words in " ".join(detail(screen).split())
        await stand(pilot, screen, lambda r: r.key == "setting gate")
        await pilot.press("e", "down")
        await pilot.pause()
        chosen = pilot.app.screen.table.row[1].partition(",")[0]
        assert setting.VALUES["gate"][chosen] in detail(pilot.app.screen, "Detail")


@pytest.mark.slow
async def test_after_the_filter_the_cursor_stands_on_what_it_found(setup_app):
    async with setup_app.run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        await pilot.press("slash", *"llm_b", "enter")
        await settle(pilot)
        assert screen.table.row.key == "head model"
        await pilot.press("e")
        await pilot.pause()
        assert isinstance(pilot.app.screen, Choice)


@pytest.mark.slow
async def test_a_model_is_absent_but_for_one_line_until_one_is_set(setup_app, world):
    async with setup_app.run_test(size=(160, 48)) as pilot:
        screen = await ready(pilot)
        row = await stand(pilot, screen, lambda r: r.key == "head model")
        assert row.words == "none is set (llm_backend is off)"
        assert "e  change it" in detail(screen)
        said = " ".join(detail(screen).split())
        assert all(word in said for word in ("memtui consolidate --ask-model", "recall_select", "subconscious"))
        assert not any(r.group == "model" or "subconscious" in r.title for r in screen.table.rows)
        await pilot.press("slash", *"model", "enter")
        assert "head model" in [row.key for row in screen.table.rows]
        await pilot.press("escape", "escape")
        write(config.file_path(world.root), 'llm_backend = "api"\n')
        env = pilot.app.data.env
        env["ANTHROPIC_API_KEY"] = "k"
        screen.reload()
        await ready(pilot)
        shown = [row.title for row in screen.table.rows if row.group == "model"]
        assert {"llm_backend", "llm_model", "subconscious", "dream"} <= {*shown}


@pytest.mark.parametrize("broken", [False, True])
async def test_the_page_has_at_most_24_rows_and_twelve_settings(setup_app, world, broken):
    if broken:
        break_all(world)
    async with setup_app.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot, folded=True)
        assert len(screen.table.rows) <= 24
        assert [row.title for row in screen.table.rows if row.kind == "setting"] == [*setting.FIRST]
        assert len(setting.FIRST) <= 12
        heads = [row.title for row in screen.table.rows if row.kind == "head"]
        assert [title for title in heads if title != "more"] == [title for title in rows.HEADINGS if title != "more"]
        assert (screen.table.row.kind, screen.table.row.group) == ("finding", "problems")


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (120, 40)])
async def test_enter_unfolds_a_heading_and_folds_it_again_as_the_footer_says(setup_app, world, size):
    async with setup_app.run_test(size=size) as pilot:
        screen = await ready(pilot, folded=True)
        before = len(screen.table.rows)
        for title in ("hooks", "advanced"):
            stage.to_setup_row(screen, f"head {title}")
            await pilot.press("enter")
            assert len(screen.table.rows) > before
            assert screen.table.row.title == title
            assert drawn_mark(screen) == "▾"
            assert " enter fold " in await foot(pilot)
            await pilot.press("enter")
            assert len(screen.table.rows) == before
            assert drawn_mark(screen) == "▸"
            assert " enter unfold " in await foot(pilot)
            assert "enter reads" not in str(screen.glance.render()), "enter does something else there"


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_l_unfolds_onto_the_screen_and_h_folds_from_a_row_inside(setup_app, size):
    async with setup_app.run_test(size=size) as pilot:
        screen = await ready(pilot, folded=True)
        before = [row.key for row in screen.table.rows]
        await pilot.press("G", "l")
        await settle(pilot)
        below = [row for row in screen.table.rows if row.group == "advanced"]
        assert screen.table.row_id == "head advanced"
        assert screen.table.cursor_row + min(len(below), screen.table.size.height - 1) < screen.table.size.height
        await pilot.press("j", "j", "h")
        assert [row.key for row in screen.table.rows] == before
        assert screen.table.row_id == "head advanced"


async def foot(pilot):
    """The bottom line of the screen."""
    await settle(pilot)
    return pilot.app.screen._compositor.render_strips()[-1].text


async def test_advanced_settings_begin_with_settings(setup_app):
    async with setup_app.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        below = [row for row in screen.table.rows if row.group == "advanced"]
        assert all(row.kind == "setting" or row.mark != "✓" for row in below)
        assert "settings" not in [row.title for row in below]


@pytest.mark.parametrize("size", [(60, 15), (120, 40)])
async def test_no_problems_are_said_with_the_way_back(setup_app, world, size, monkeypatch):
    every = rows.rows
    monkeypatch.setattr(rows, "rows", lambda seen, now: [row for row in every(seen, now) if row.mark not in {"!", "✗"}])
    async with setup_app.run_test(size=size) as pilot:
        screen = await ready(pilot, folded=True)
        await pilot.press("exclamation_mark")
        assert " escape clear " in await foot(pilot)
        assert screen.table.empty.startswith("No problems in the setup.\nescape clears")
        await pilot.press("slash", "end", *" is:good", "enter")
        assert screen.table.empty == "There is no is:good. is: takes problem.\nescape clears the filter."
        await pilot.press("escape")
        assert "escape" not in await foot(pilot)
        assert screen.table.rows


def drawn_mark(screen):
    return screen.table._draw(screen.table.row)[0].plain


async def test_what_is_folded_is_found_by_the_filter(setup_app):
    async with setup_app.run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot, folded=True)
        before = [row.key for row in screen.table.rows]
        await pilot.press("slash", *"semantic_m", "enter")
        assert [row.key for row in screen.table.rows] == ["head advanced", "setting semantic_model"]
        assert screen.table.row.key == "setting semantic_model"
        await pilot.press("escape", "exclamation_mark")
        assert {row.mark for row in screen.table.rows if row.kind != "head"} <= {"!", "✗"}
        await pilot.press("escape")
        assert [row.key for row in screen.table.rows] == before


@pytest.mark.slow
async def test_on_a_small_screen_a_setting_tells_what_it_does_below_the_list(setup_app):
    async with setup_app.run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        for row in [row for row in screen.table.rows if row.kind == "setting"]:
            await stand(pilot, screen, lambda r, key=row.key: r.key == key)
            below = "\n".join(strip.text for strip in screen._compositor.render_strips()[-8:-1])
            assert setting.MEANINGS[row.about.key] in below
            assert f"value    {row.words.split()[0]}, the default" in below
            assert "e  change it" in below


@pytest.mark.slow
async def test_remedies_fit(setup_app, world):
    async with setup_app.run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        for row in [row for row in listed(screen) if findings.remedy(row.about)]:
            await stand(pilot, screen, lambda r, key=row.key: r.key == key)
            lines = [strip.text.strip() for strip in screen._compositor.render_strips()[-8:-1]]
            if not screen.row_commands.keys(row):
                assert "".join(findings.remedy(row.about).split()) in "".join("".join(lines).split())
                await pilot.press("a")
                said = [note.message for note in pilot.app._notifications][-1]
                assert findings.remedy(row.about) in said


@pytest.mark.slow
async def test_the_top_line_counts_findings_when_nobody_types(world):
    app = MemtuiApp(dict(world.env), world.shop, read_only=True)
    async with app.run_test(size=(120, 24)) as pilot:
        await settle(pilot)
        for _ in range(200):
            await pilot.pause(0.05)
            first = app.screen._compositor.render_strips()[0].text
            if "!" in first:
                break
        assert "4 Setup !" in first
        await pilot.press("4")
        screen = await ready(pilot)
        await settle(pilot)
        assert f"4 Setup !{screen.snapshot.problems}" in app.screen._compositor.render_strips()[0].text


@pytest.mark.every
@pytest.mark.parametrize("silent", [False, True], ids=["in sentences", "in codes"])
async def test_every_fix_is_chosen_by_code_and_never_by_its_words(world, tmp_path, monkeypatch, silent):
    monkeypatch.setattr(MemtuiApp, "suspend", lambda self: contextlib.nullcontext())
    script = tmp_path / "editor.sh"
    script.write_text('#!/bin/sh\nsed -i /budgte/d "$1"\n')
    script.chmod(0o700)
    break_all(world)
    if silent:
        bare_codes(monkeypatch)
    answers = {
        "install": ["enter"],
        "collect": ["down", "enter"],
        "forget": ["down", "enter"],
    }
    app = MemtuiApp({**world.env, "VISUAL": str(script)}, world.shop, now=NOW, screen="setup")
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        assert {row.about.code for row in listed(screen)} >= AT_ONCE | ASKED
        for _ in range(30):
            todo = [row for row in listed(screen) if findings.fix_of(row.about)]
            if not todo:
                break
            about = todo[0].about
            await stand(pilot, screen, lambda r, key=todo[0].key: r.key == key)
            await pilot.press("a")
            await settle(pilot)
            for key in answers.get(findings.fix_of(about), []):
                if app.screen is not screen:
                    await pilot.press(key)
                    await settle(pilot)
            await ready(pilot)
            assert about not in [row.about for row in listed(screen)]
        assert not todo


@pytest.mark.slow
async def test_the_cursor_begins_on_the_first_finding_also_where_others_come_before_it(setup_app, monkeypatch):
    from memtui.base.finding import problem
    from memtui.hooks.install import checkup

    late = threading.Event()
    old = [problem("client.old", path="claude", version="1.0.0")]

    def check(_):
        late.wait(20)
        return old

    monkeypatch.setattr(checkup, "client_check", check)
    async with setup_app.run_test(size=(80, 24)) as pilot:
        for _ in range(400):
            await pilot.pause(0.01)
            if pilot.app.screen.all_rows:
                break
        late.set()
        screen = await ready(pilot)
        assert "1.0.0" in str([row.words for row in listed(screen)])
        assert screen.table.cursor == 1


@pytest.mark.slow
async def test_runs_that_another_screen_counts_meanwhile_are_shown(setup_app, monkeypatch):
    async with setup_app.run_test(size=(120, 40)) as pilot:
        statistics = pilot.app.data.statistics
        count = statistics.count

        def counted_already(go):
            count(go)
            return count(go)  # nothing is new

        monkeypatch.setattr(statistics, "count", counted_already)
        screen = await ready(pilot)
        assert screen.snapshot.counted
        assert any(row.kind == "event" and "5 runs" in row.words for row in screen.table.rows)


@pytest.fixture
def reading(world):
    """Setup with a model that reads sessions."""
    write(config.file_path(world.root), 'llm_backend = "api"\nsubconscious = "full"\nsubconscious_tools = "full"\n')
    found = MemtuiApp({**world.env, "ANTHROPIC_API_KEY": "k"}, world.shop, screen="setup", now=NOW)
    found.data.client = []
    return found


async def test_whether_the_model_reads_sessions_is_a_row_and_it_is_stopped_and_started_there(reading, world):
    async with reading.run_test(size=(160, 48)) as pilot:
        screen = await ready(pilot)
        row = await stand(pilot, screen, lambda r: r.kind == "reading")
        assert row.mark == "✓"
        assert row.words.startswith("full, ")
        assert "tools    read-only (all tools need llm_backend claude)" in detail(screen)
        assert "1 question waits for a reply" in detail(screen)
        assert "a     " not in detail(screen)
        await pilot.press("x")
        await ready(pilot)
        assert control.stopped(world.root)
        row = await stand(pilot, screen, lambda r: r.kind == "reading")
        assert "stopped by you" in row.words
        assert "start reading sessions again" in detail(screen)
        await pilot.press("x", "a")
        await ready(pilot)
        assert not control.stopped(world.root)


async def test_a_model_that_can_not_read_says_why_and_what_to_do(reading, world):
    reading.data.env.pop("ANTHROPIC_API_KEY")
    async with reading.run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        row = await stand(pilot, screen, lambda r: r.kind == "reading")
        assert (row.mark, row.words) == ("!", "there is no ANTHROPIC_API_KEY")
        assert "Set ANTHROPIC_API_KEY, or: memtui config set llm_backend claude" in " ".join(detail(screen).split())


async def test_read_only_neither_stops_nor_starts_the_model(reading, world):
    reading.read_only = True
    async with reading.run_test(size=(160, 48)) as pilot:
        screen = await ready(pilot)
        await stand(pilot, screen, lambda r: r.kind == "reading")
        assert "stop it" not in detail(screen)
        await pilot.press("x")
        await settle(pilot)
        assert not control.stopped(world.root)


async def test_what_waits_in_the_inbox_is_counted_as_its_rows_are(setup_app):
    async with setup_app.run_test(size=(160, 48)) as pilot:
        screen = await ready(pilot)
        assert " · Inbox: 3 fixes, 1 problem, 1 to trust · Activity: 2 notes lost" in summary(screen)
        await pilot.press("2")
        await settle(pilot)
        table = pilot.app.screen.table
        assert Counter(row.kind.word for row in table.rows) > Counter(fix=3, problem=1, trust=1)
        table.move_to(next(at for at, row in enumerate(table.rows) if row.kind.word == "fix"))
        await pilot.press("x", "4")
        await settle(pilot)
        assert " · Inbox: 2 fixes, 1 problem, 1 to trust · " in summary(screen)


async def test_a_title_drops_the_place_for_which_there_is_no_room_whole(setup_app):
    async with setup_app.run_test(size=(60, 15)) as pilot:
        await ready(pilot)
        await install_hooks(pilot)
        await ready(pilot)
        assert summary(pilot.app.screen) == "✓ All set up · Inbox: 3 fixes, 1 problem, 1 to trust"
        assert "problems" not in [row.title for row in pilot.app.screen.table.rows], (
            "the title says that there are none"
        )
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        assert summary(pilot.app.screen).endswith(" · Activity: 2 notes lost")


async def test_the_detail_of_a_heading_says_what_its_row_does_not(setup_app):
    async with setup_app.run_test(size=(60, 30)) as pilot:
        screen = await ready(pilot, folded=True)
        row = await stand(pilot, screen, lambda row: row.key == "head disk")
        assert re.fullmatch(r"[\d.]+ .?B · \d changes kept", row.words)
        drawn = "\n".join(strip.text for strip in screen._compositor.render_strips())
        assert row.words in drawn, "there is room for it"
        assert "of deliveries, their texts for 180 days, " in " ".join(detail(screen).split())
        row = await stand(pilot, screen, lambda row: row.key == "head this project")
        assert " ".join(detail(screen).split()).startswith(row.words), "the list has no room for all of it"
        for title in ("hooks", "settings", "advanced"):
            row = await stand(pilot, screen, lambda row, title=title: row.key == f"head {title}")
            assert row.words not in " ".join(detail(screen).split())


@pytest.mark.parametrize("width", [60, 120])
async def test_rows_below_a_heading_are_indented_and_unfolding_moves_no_value(setup_app, width):
    def value_at(screen):
        strips = [strip.text for strip in screen._compositor.render_strips()]
        shown = next(text for text in strips if " gate  " in text)
        return shown.index("gate"), shown.index("show")

    async with setup_app.run_test(size=(width, 60)) as pilot:
        screen = await ready(pilot, folded=True)
        before = value_at(screen)
        assert before[0] == (5 if width < 100 else 6)
        await ready(pilot)
        screen.table.move_to(next(at for at, row in enumerate(screen.table.rows) if row.key == "setting gate"))
        await settle(pilot)
        assert value_at(screen) == before


@pytest.mark.parametrize("key", ["a", "e"])
async def test_a_setting_is_changed_by_both_keys_and_the_footer_names_one(setup_app, key):
    async with setup_app.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        await stand(pilot, screen, lambda row: row.key == "setting mode")
        assert " e change  " in await foot(pilot)
        assert " a " not in await foot(pilot)
        await pilot.press(key)
        await settle(pilot)
        assert isinstance(pilot.app.screen, Choice)


async def test_a_value_that_is_not_read_is_not_called_changed(setup_app, world):
    write(config.file_path(world.root), 'mode = "blah"\nbudget = 6000\n')
    async with setup_app.run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        row = await stand(pilot, screen, lambda row: row.key == "setting mode")
        assert row.words.startswith("full       not read · ")
        assert words_of(screen, "settings") == "1 not read · 1 changed"


async def test_each_row_of_the_hooks_has_the_key_that_removes_them(setup_app):
    async with setup_app.run_test(size=(120, 40)) as pilot:
        await ready(pilot)
        await install_hooks(pilot)
        screen = await ready(pilot)
        for key in [row.key for row in screen.table.rows if row.group == rows.HOOKS]:
            await stand(pilot, screen, lambda row, key=key: row.key == key)
            assert "x remove hooks" in await foot(pilot)


async def test_what_can_not_be_removed_says_so(setup_app):
    async with setup_app.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        await stand(pilot, screen, lambda row: row.key == "head disk")
        await pilot.press("x")
        assert [note.message for note in pilot.app._notifications] == ["There is nothing to reset or remove here."]


async def test_the_value_that_is_in_force_changes_nothing(setup_app, world):
    path, journal = config.file_path(world.root), f"{world.root}/journal.jsonl"
    write(path, "")
    before = fs.read_or_empty(journal)
    async with setup_app.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        await stand(pilot, screen, lambda r: r.key == "setting note_to")
        await pilot.press("e")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert setup_app.last_note == 'note_to is "anyone" already.'
        assert fs.read_or_empty(journal) == before
        assert "changed" not in screen.table.row.words
