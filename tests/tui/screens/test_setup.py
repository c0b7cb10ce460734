"""Setup: findings and their fixes, hooks with a diff, errors, the mode, settings."""

import json
import os
import re

import pytest

from memtui.base import clock_hot, findings, fs_hot
from memtui.base.errors import MemtuiError
from memtui.base.finding import Finding
from memtui.hooks.install import installation as install
from memtui.hooks.install import status
from memtui.models import choice
from memtui.models.subconscious import control
from memtui.settings import config_hot, setting
from memtui.sync import state as sync
from memtui.sync.sync import MachineRow
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.ask import Choice
from memtui.tui.screens.setup import rows
from memtui.tui.screens.setup.screen import Setup
from memtui.tui.widgets.detail import Detail
from tidy.checks.broken import break_all
from tui import stage
from tui.conftest import NOW, press, settle, until
from tui.hands import lines, to_row, write


@pytest.fixture
def setup_app(world):
    """The application, started on this screen."""
    return MemtuiApp(dict(world.env), world.shop, now=NOW, screen="setup")


def said(found):
    """The code and the words of a finding. Versions may be taken in between two looks."""
    return found.code, re.sub(r"[\d.]+ k?B (?=of versions|in all)", "some ", findings.message(found))


async def ready(pilot, folded=None):
    """Wait for everything to be read, and unfold it."""
    for _ in range(3):
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


def bytes_of(path):
    return fs_hot.read_bytes(path) if os.path.exists(path) else None


def detail(screen, which="#detail"):
    return screen.query_one(which, Detail).plain


def summary(screen):
    return screen.query_one("#summary").render().plain


def words_of(screen, title):
    return next(row.words for row in screen.table.rows if row.key == f"head {title}")


def listed(screen):
    return [row for row in screen.table.rows if isinstance(row.about, Finding)]


async def test_everything_doctor_knows_worst_first_with_what_to_do(setup_app, world):
    from memtui.hooks.install import checkup

    async with setup_app.run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        every = findings.of_setup(checkup.check(dict(world.env), world.shop, NOW))
        told = [said(row.about) for row in listed(screen)]
        elsewhere = ("config.defaults", "config.ok", "hooks.ok")  # the headings say so
        every = [each for each in every if each.area != "llm" and each.code not in elsewhere]
        assert sorted(told) == sorted(map(said, every))
        for title in rows.HEADINGS:
            levels = [row.mark for row in listed(screen) if row.group == title]
            assert levels == sorted(levels, key="!·✓".index)
            assert "!" not in levels or title in {"problems", "more"}
        for row in listed(screen):
            keys = [(f"setup.{verb}", way.words) for verb, way in screen.ways(row).items()]
            shown = rows.describe(row, screen.snapshot, keys, setup_app.data, read_only=False).text.plain
            assert (findings.remedy(row.about) in shown) == (not keys)  # a command stands there where no key does it
        for size in ((80, 24), (120, 40), (160, 48), (40, 24)):
            await pilot.resize_terminal(*size)
            await settle(pilot)
            assert "Hooks are not installed: press a" in summary(screen)
            assert "to fix" not in summary(screen), "the hooks are the only problem, and are said once"


@pytest.mark.every(step=1)
async def test_hooks_of_another_agent_come_and_go_at_its_row(setup_app, world):
    place = os.path.join(world.env["HOME"], ".copilot")
    os.mkdir(place)
    path = os.path.join(place, "hooks", "memtui.json")
    async with setup_app.run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        await to_row(pilot, lambda row: row.key == "agent copilot")
        assert screen.table.row.words == "not hooked"
        for key, words in (("a", "hooked"), ("x", "not hooked")):
            await pilot.press(key)
            await pilot.pause()
            assert isinstance(pilot.app.screen, Choice)
            await pilot.press("enter")
            await ready(pilot)
            assert (screen.table.row.words, bytes_of(path) is not None) == (words, words == "hooked")
        assert os.listdir(place) == []


async def test_escape_writes_no_hooks_and_the_view_follows_a_change_from_outside(setup_app, world):
    async with setup_app.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        await to_hooks(pilot)
        await pilot.press("a", "escape")
        await ready(pilot)
        assert not status.status(world.env, world.shop).installed
        await to_row(pilot, lambda r: r.key == "setting budget")
        install.apply(install.plan(install.settings_path(world.env, world.shop, "user"), "install", env=world.env))
        await until(pilot, lambda: screen.snapshot.hooks and screen.snapshot.hooks.installed)
        assert screen.table.row.key == "setting budget"


async def test_errors_are_told_with_their_age_and_set_aside(setup_app, world):
    path = world.root + "/log/errors.jsonl"
    row = {"v": 1, "time": clock_hot.iso(NOW - 7200), "where": "Stop", "error": "OSError"}
    row["message"] = "disk full \x1b[31m"
    write(path, json.dumps(row) + "\n")
    async with setup_app.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot)
        await to_row(pilot, lambda r: getattr(r.about, "code", "") == "errors.recent")
        assert "the last 2h ago: Stop: OSError: disk full" in " ".join(detail(screen).split())
        assert "\x1b" not in detail(screen)
        await pilot.press("a")
        await ready(pilot)
        assert bytes_of(path) is None
        (aside,) = [name for name in os.listdir(world.root + "/log") if name.startswith("errors-")]
        assert b"disk full" in fs_hot.read_bytes(f"{world.root}/log/{aside}")
        assert not any(getattr(r.about, "code", "") == "errors.recent" for r in screen.table.rows)
        await pilot.press("z")
        await ready(pilot)
        assert b"disk full" in bytes_of(path)
        assert any(getattr(r.about, "code", "") == "errors.recent" for r in screen.table.rows)


@pytest.mark.every(step=1)
async def test_files_open_to_others_are_closed(setup_app, world):
    path = world.root + "/trust.json"
    os.chmod(world.root, 0o755)
    os.chmod(path, 0o644)
    os.chmod(world.root, 0o755)
    async with setup_app.run_test(size=(120, 40)) as pilot:
        foot = setup_app.screen.frame.foot
        bold = {span.start for span in foot.render().spans if span.style.bold}
        assert bold.issuperset(start for start, *_ in foot.pieces), "keys stand out"
        await ready(pilot)
        await to_row(pilot, lambda r: r.kind == "finding" and r.about.code == "root.open")
        await pilot.press("a")
        await ready(pilot)
        assert (os.stat(path).st_mode & 0o777, os.stat(world.root).st_mode & 0o777) == (0o600, 0o700)


async def test_a_model_is_absent_but_for_one_line_until_one_is_set(setup_app, world):
    async with setup_app.run_test(size=(160, 48)) as pilot:
        screen = await ready(pilot)
        row = await to_row(pilot, lambda r: r.key == "head model")
        assert row.words == "none is set (llm_backend is off)"
        assert "e  change it" in detail(screen)
        said = " ".join(detail(screen).split())
        assert all(word in said for word in ("memtui consolidate --ask-model", "recall_select", "subconscious"))
        assert not any(r.group == "model" or "subconscious" in r.title for r in screen.table.rows)
        await pilot.press("slash", *"model", "enter")
        assert "head model" in [row.key for row in screen.table.rows]
        await pilot.press("escape", "escape")
        write(config_hot.file_path(world.root), 'llm_backend = "api"\n')
        pilot.app.data.env["ANTHROPIC_API_KEY"] = "k"
        screen.reload()
        await ready(pilot)
        shown = [row.title for row in screen.table.rows if row.group == "model"]
        assert {"llm_backend", "llm_model", "subconscious", "dream"} <= {*shown}


@pytest.mark.parametrize("broken", [False, True])
async def test_the_page_has_at_most_24_rows_and_enter_unfolds_a_heading(setup_app, world, broken):
    if broken:
        break_all(world)
    async with setup_app.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot, folded=True)
        before = len(screen.table.rows)
        assert before <= 24
        assert [row.title for row in screen.table.rows if row.kind == "setting"] == [*setting.FIRST]
        assert len(setting.FIRST) <= 12
        heads = [row.title for row in screen.table.rows if row.kind == "head"]
        assert [title for title in heads if title != "more"] == [
            title for title in rows.HEADINGS if title not in {"more", "machines"}
        ]
        assert (screen.table.row.kind, screen.table.row.group) == ("finding", "problems")
        for size in ((60, 15), (80, 24), (120, 40)):
            await pilot.resize_terminal(*size)
            for title in ("hooks", "advanced"):
                stage.to_setup_row(screen, f"head {title}")
                for mark, words in (("▾", " enter fold "), ("▸", " enter unfold ")):
                    await press(pilot, "enter")
                    assert (len(screen.table.rows) > before, screen.table.row.title) == (mark == "▾", title)
                    assert screen.table._draw(screen.table.row)[0].plain == mark
                    assert words in lines(pilot.app)[-1]


@pytest.fixture
def reading(world):
    """Setup with a model that reads sessions."""
    write(config_hot.file_path(world.root), 'llm_backend = "api"\nsubconscious = "full"\nsubconscious_tools = "full"\n')
    found = MemtuiApp({**world.env, "ANTHROPIC_API_KEY": "k"}, world.shop, screen="setup", now=NOW)
    found.data.client = []
    return found


async def test_whether_the_model_reads_sessions_is_a_row_that_stops_or_starts_it(reading, world):
    async with reading.run_test(size=(160, 48)) as pilot:
        screen = await ready(pilot)
        row = await to_row(pilot, lambda r: r.kind == "reading")
        assert row.mark == "✓"
        assert row.words.startswith("full, haiku by ")
        assert "tools    read-only (all tools need llm_backend claude)" in detail(screen)
        assert "1 question waits for a reply" in detail(screen)
        assert "a     " not in detail(screen)
        await pilot.press("x")
        await ready(pilot)
        assert control.stopped(world.root)
        row = await to_row(pilot, lambda r: r.kind == "reading")
        assert "stopped by you" in row.words
        assert "start reading sessions again" in detail(screen)
        await pilot.press("x", "a")
        await ready(pilot)
        assert not control.stopped(world.root)


@pytest.mark.every(step=1)
async def test_an_unreadable_config_and_a_model_that_can_not_read_are_told(reading, world):
    reading.data.env.pop("ANTHROPIC_API_KEY")
    async with reading.run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        row = await to_row(pilot, lambda r: r.kind == "reading")
        assert (row.mark, row.words) == ("!", "there is no ANTHROPIC_API_KEY")
        assert "Set ANTHROPIC_API_KEY, or: memtui config set llm_backend claude" in " ".join(detail(screen).split())
        write(config_hot.file_path(world.root), "budget = = 3\n")
        with pytest.raises(MemtuiError):
            setting.rows(world.root, world.shop)
        screen.reload()
        await ready(pilot)
        assert any(r.kind == "finding" and r.about.area == "config" and r.mark == "!" for r in screen.table.rows)
        assert "can't be read" in words_of(screen, "settings")


@pytest.mark.every(step=1)
async def test_a_model_that_the_service_lacks_is_told_and_which_is_asked(reading, world):
    url = reading.data.env["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:9"
    write(config_hot.file_path(world.root), 'llm_backend = "api"\nllm_model = "gone-1"\nsubconscious = "full"\n')
    served = {"v": 1, "url": url, "time": clock_hot.now(), "models": ["llama-9"], "refused": ["gone-1"]}
    write(world.root + choice.KEPT, json.dumps(served))
    async with reading.run_test(size=(160, 48)) as pilot:
        screen = await ready(pilot)
        row = await to_row(pilot, lambda r: r.kind == "finding" and r.about.code == "llm.instead")
        assert row.words == "The service does not have gone-1, so llama-9 is asked. It lists llama-9."
        assert words_of(screen, "model") == row.words
        row = await to_row(pilot, lambda r: r.kind == "reading")
        assert row.words.startswith("full, llama-9 by the API")
        await to_row(pilot, lambda r: r.title == "llm_model")
        await pilot.press("e", "ctrl+u", *"gone-2", "enter")
        await until(pilot, lambda: any("so gone-2 is asked" in each.message for each in pilot.app._notifications))


@pytest.mark.parametrize("error", ["", "git could not fetch: no network."])
async def test_machines_stand_there_once_sync_is_set_up(setup_app, world, error, monkeypatch):
    state = sync.SyncState("git@example.org:you/memories.git", "k1", "laptop", withheld=2, time=NOW - 180, error=error)
    for place, each in (("sync/own", state), ("teams/crew", state._replace(team="crew", error=""))):
        os.makedirs(f"{world.root}/{place}")
        write(f"{world.root}/{place}/state.json", json.dumps(each._asdict()))
    machines = MachineRow("laptop", "0.2.0", NOW - 180, 1, 0, 2), MachineRow("desk", "0.2.0", NOW - 9e3, None, 4, None)
    monkeypatch.setattr("memtui.sync.sync.machines", lambda *_: machines)
    async with setup_app.run_test(size=(120, 40)) as pilot:
        screen = await ready(pilot, folded=True)
        (row,) = [row for row in screen.table.rows if row.title == "machines"]
        assert row.words == (error or "laptop with git@example.org:you/memories.git · 3m ago · team crew · 3m ago")
        detail = rows.describe(row, screen.snapshot, (), setup_app.data, read_only=True).text.plain
        assert "laptop · memtui 0.2.0 · sent about 3m ago · 1 ahead · 0 behind · 2 held back" in detail
        assert "desk · memtui 0.2.0 · sent about 2h ago · at most 4 behind" in detail
