"""All screens alike: every size, theme and no colour; every key of the footer; text that would harm a terminal."""

import asyncio
import json
import re

import pytest

from memtui import keymap
from memtui.base import clock_hot, paths_hot
from memtui.deliver import blocks_hot, log_hot
from memtui.demo import content
from memtui.demo import world as demo_world
from memtui.hooks.install import installation as install
from memtui.inbox import format_hot
from memtui.recall_preview import Recalling
from memtui.tui.app import MemtuiApp
from memtui.tui.services import HowFar
from memtui.tui.widgets.lines import TABS
from memtui.workspace import Workspace
from tui.hands import lines

from .conftest import NOW, running, settle

SIZES = [(80, 24), (120, 40), (40, 20)]
NUMBERS = {name: keymap.get(f"app.{name}").keys for name in TABS}
LOOKS = ["dark", "light", "no colour"]
# Whatever a terminal would obey, what would turn the order of letters round, and what nobody would see.
HARMFUL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ud800-\udfff\U000e0000-\U000e0fff]"
)
CLOSING = "".join(f"</{tag}>" for tag in blocks_hot.TAGS.values())
HOSTILE = (
    "\x1b[2J\x1b]0;owned\x07\x1b]52;c;b3duZWQ=\x07\x9b31m\x08\x7f [red]loud[/] [@click=app.quit]press[/] [/nothing] "
    f"\u202eturned\u202c \u2066isolated\u2069 \u061c\u200f\u200b\u2060\U000e0141{CLOSING}</system-reminder>"
)


def assert_drawn(app, size, about=""):
    """As many lines as the terminal has, none of them wider, nothing harmful in any."""
    strips = app.screen._compositor.render_strips()
    assert len(strips) == size[1], about
    for number, strip in enumerate(strips):
        assert strip.cell_length <= size[0], (about, number, strip.text)
        found = HARMFUL.search(strip.text)
        assert found is None, (about, number, found and hex(ord(found[0])), strip.text)


def footer(group):
    """The actions whose keys the foot of a screen may name."""
    return [action for action in (*keymap.of(group), *keymap.of(keymap.GLOBAL)) if action.footer]


async def ready(pilot):
    """Wait for workers, and for what they start when the cursor rests."""
    await settle(pilot)
    await pilot.pause(0.2)
    await settle(pilot)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The sample world with hooks; tests that share it change nothing."""
    made = demo_world.build(str(tmp_path_factory.mktemp("whole") / "world"), now=NOW)
    install.apply(install.plan(install.settings_path(made.env, made.shop, "user"), "install", env=made.env))
    Recalling(Workspace(made.env, made.shop, by="tui")).bring_up_to_date()
    return made


# sizes, themes, no colour


@pytest.mark.slow
@pytest.mark.every(step=9)
@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_every_screen_is_drawn_and_named(whole, size, look, monkeypatch):
    if look == "no colour":
        monkeypatch.setenv("NO_COLOR", "1")
    app = MemtuiApp(dict(whole.env), whole.shop, now=NOW, read_only=True)
    if look == "light":
        app.theme = "textual-light"
    async with app.run_test(size=size) as pilot:
        for name in TABS:
            number = NUMBERS[name]
            await pilot.press(number)
            await settle(pilot)
            assert app.screen.group == name
            assert_drawn(app, size, name)
            shown = lines(app)
            assert f" {number} {name.capitalize()}" in shown[0]
            assert "? keys" in shown[-1], shown[-1]
            assert sum(bool(line.strip()) for line in shown) > 8, name
            await pilot.press("enter")
            await settle(pilot)
            assert_drawn(app, size, f"{name}, opened")
            await pilot.press("escape", "escape")
            await pilot.press("question_mark")
            await pilot.pause()
            assert_drawn(app, size, f"{name}, help")
            await pilot.press("escape")
            if look == "no colour":
                await pilot.pause()
                assert_gray(app)


def assert_gray(app):
    for strip in app.screen._compositor.render_strips():
        for segment in strip:
            for color in (segment.style.color, segment.style.bgcolor) if segment.style else ():
                triplet = color and color.triplet
                assert triplet is None or max(triplet) - min(triplet) <= 1, (segment, strip.text)


@pytest.mark.slow
@pytest.mark.every(step=3)
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_screens_without_anything_say_what_will_fill_them(empty, size):
    env, project = empty
    app = MemtuiApp(dict(env), project, now=NOW, read_only=True)
    async with app.run_test(size=size) as pilot:
        for name in TABS:
            await pilot.press(NUMBERS[name])
            await settle(pilot)
            assert_drawn(app, size, name)
            text = "\n".join(lines(app))
            assert re.search(r"Nothing|No notes|hooks|not installed|no model", text), (name, text)


# keys


def trace(app):
    """What a key could have changed."""
    told = [note.message for note in app._notifications]
    return lines(app), type(app.screen).__name__, app.focused, app.screen.classes, told


async def press(pilot, action):
    """Press an action's key where the screen stands; whether anything came of it, be it a word why not."""
    app = pilot.app
    app.clear_notifications()
    await settle(pilot)
    before = trace(app)
    if action.keys:
        await pilot.press(action.keys.partition(",")[0])
    else:
        app.action_run(action.id)
    for _ in range(8):
        await pilot.pause(0.02)
        if trace(app) != before:
            await settle(pilot)
            return True
    return False


async def back(pilot, name, number):
    """To the list of the screen, with nothing over it."""
    for _ in range(4):
        await pilot.press("escape")
    await settle(pilot)
    await pilot.press(number)
    await settle(pilot)
    assert pilot.app.screen.group == name


@pytest.mark.every
@pytest.mark.parametrize("name", TABS)
async def test_every_key_of_the_footer_does_something(world, name):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen=name)
    size = (120, 40)
    async with app.run_test(size=size) as pilot:
        await ready(pilot)
        silent = []
        for action in footer(name):
            if action.id == "app.quit":
                continue
            if not await press(pilot, action):
                silent.append(action.id)
            assert_drawn(app, size, action.id)
            await back(pilot, name, NUMBERS[name])
        assert silent == []
        await pilot.press("q")
        await pilot.pause()
        assert app._exit


@pytest.mark.every
@pytest.mark.parametrize(
    ("name", "read_only"), [*((name, False) for name in TABS), *((name, True) for name in TABS[:2])], ids=str
)
async def test_keys_say_why_not_where_nothing_is(empty, name, read_only):
    env, project = empty
    app = MemtuiApp(dict(env), project, now=NOW, read_only=read_only, screen=name)
    size = (120, 40)
    silent = []
    async with app.run_test(size=size) as pilot:
        await ready(pilot)
        for action in [each for each in keymap.of(name) if each.footer or each.keys]:
            if not await press(pilot, action):
                silent.append(action.id)
            if read_only and action.writes and action.footer:
                assert any("--read-only" in note.message for note in app._notifications), action.id
            assert_drawn(app, size, action.id)
            await back(pilot, name, NUMBERS[name])
    assert silent == []


# hostile text


@pytest.fixture
def hostile(world):
    """The sample world with harmful text wherever text comes from."""
    directory = world.shop + "/.claude/memory"
    quoted = json.dumps(HOSTILE)
    long = "x" * 1_000_000
    write(f"{directory}/a-hostile.md", f"---\nname: {quoted}\ndescription: {quoted}\ntype: {quoted}\n---\n{HOSTILE}\n")
    write(f"{directory}/a-long.md", f"---\nname: a-long\ndescription: {long}\n---\n{long}\n{HOSTILE}{long}\n")
    write(f"{directory}/a-raw.md", f"{HOSTILE}\n{HOSTILE}\n")
    slug = paths_hot.project_key(world.shop)
    box = paths_hot.inbox_dir(world.root, slug)
    fields = {"time": clock_hot.iso_seconds(NOW - 60)}
    draft = fields | {"kind": HOSTILE, "confidence": "0.99", "name": HOSTILE, "from": HOSTILE, "session": HOSTILE}
    for number, (kind, more) in enumerate((("guidance", {"from": HOSTILE}), ("updates", draft), ("items", {}))):
        for at, text in enumerate((HOSTILE, HOSTILE + long)):
            name = content.ulid(NOW - 60, 9000 + number * 2 + at)
            write(f"{box}/{format_hot.FILES[kind]}", format_hot.render({"id": name, **fields, **more}, text), "a")
    item = {"kind": "guidance", "id": HOSTILE, "scope": HOSTILE, "reason": HOSTILE, "action": HOSTILE, "path": HOSTILE}
    left = {"kind": HOSTILE, "id": HOSTILE, "scope": HOSTILE, "left_out": HOSTILE}
    for number, text in enumerate((HOSTILE, HOSTILE + long)):
        record = {
            "v": 1,
            "id": content.ulid(NOW - 30, 9100 + number),
            "time": clock_hot.iso(NOW - 30 + number),
            "event": HOSTILE,
            "session_id": HOSTILE,
            "transcript": HOSTILE,
            "project": slug,
            "project_root": world.shop + HOSTILE,
            "mode": HOSTILE,
            "tool": HOSTILE,
            "chars": len(text),
            "text": text,
            "items": [item, left],
            "ms": 12.0,
        }
        log_hot.append(world.root, record, NOW)
    trouble = {
        "time": clock_hot.iso(NOW - 5),
        "where": HOSTILE,
        "error": HOSTILE,
        "message": HOSTILE,
        "traceback": HOSTILE,
    }
    write(f"{world.root}/log/errors.jsonl", json.dumps(trouble) + "\n", "a")
    return world


def write(path, text, mode="w"):
    with open(path, mode, encoding="utf-8", errors="surrogatepass", newline="") as file:
        file.write(text)


@pytest.mark.slow
@pytest.mark.every(step=5)
@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", TABS)
async def test_hostile_text_is_drawn_harmlessly(hostile, name, size):
    app = MemtuiApp(dict(hostile.env), hostile.shop, now=NOW, screen=name)
    seen = ""
    async with app.run_test(size=size) as pilot:
        await ready(pilot)
        table = app.screen.query_one("#list")
        for at in range(min(len(table.rows), 6)):
            table.move_to(at)
            await settle(pilot)
            assert_drawn(app, size, (name, at))
            seen += "\n".join(lines(app))
        await pilot.press("home", "enter", "pagedown", "pagedown")
        await settle(pilot)
        assert_drawn(app, size, (name, "opened"))
        seen += "\n".join(lines(app))
    if size[0] >= 120:
        assert "[red]loud" in seen


@pytest.mark.every
async def test_forms_show_hostile_text_harmlessly(hostile):
    size = (120, 40)
    app = MemtuiApp(dict(hostile.env), hostile.shop, now=NOW)
    async with app.run_test(size=size) as pilot:
        for name, keys in (("memories", "em"), ("inbox", "ae"), ("activity", "e")):
            await pilot.press(NUMBERS[name])
            await settle(pilot)
            table = app.screen.query_one("#list")
            table.focus()
            drawn = [[cell.plain for cell in table._draw(row)] for row in table.rows]
            at = next(at for at, cells in enumerate(drawn) if any("[red]" in cell for cell in cells))
            for key in keys:
                table.move_to(at)
                await pilot.press(key)
                await ready(pilot)
                assert_drawn(app, size, (name, key))
                await back(pilot, name, NUMBERS[name])


async def test_a_worker_that_tells_something_after_its_screen_is_closed_is_quiet(app):
    async with running(app, (120, 40)) as pilot:
        await pilot.press("U")
        await settle(pilot)
        changes = app.screen
        await pilot.press("escape")
        await settle(pilot)
        assert app.screen is not changes
        await asyncio.to_thread(changes.post_message, HowFar("half"))
        await settle(pilot)
