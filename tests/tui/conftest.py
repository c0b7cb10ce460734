"""The application on the sample world, with the clock held still."""

from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual import _wait, events, screen
from textual._compositor import Compositor
from textual.css.query import NoMatches
from textual.css.stylesheet import Stylesheet

import turns
from memtui.deliver import error_log_hot
from memtui.tui.app import MemtuiApp
from memtui.tui.files import COMMAND
from memtui.tui.safety_net import SafetyNet
from memtui.workspace import Workspace

NOW = 1_795_000_000.0
HERE = Path(__file__).parent
LONG = {"slow", "every", "large", "picture"}
# Textual asks every 20 ms whether nothing happens any more, and draws every 17 ms: both as often, in less time.
_wait.SLEEP_GRANULARITY = screen.UPDATE_PERIOD = 0.004
_wait.SLEEP_IDLE = _wait.SLEEP_GRANULARITY / 20
parse_rules, parsed = Stylesheet._parse_rules, {}


def parse_once(sheet, *given, **named):
    """All applications of a process have the same style sheets: each is parsed once."""
    key = (given, tuple(named.items()), tuple(sheet._variables.items()))
    if key not in parsed:
        parsed[key] = parse_rules(sheet, *given, **named)
    return parsed[key]


Stylesheet._parse_rules = parse_once


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """What needs a world is slow, unless `every` says which of its cases are quick."""
    for item in items:
        needs_world = {"sample_worlds", "empty"}.intersection(getattr(item, "fixturenames", ()))
        if (
            needs_world
            and item.path.is_relative_to(HERE)
            and not LONG.intersection(mark.name for mark in item.iter_markers())
        ):
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def every_frame():
    """For tests about the drawing of frames: each is drawn."""


@pytest.fixture(autouse=True)
def frames(request, monkeypatch):
    """Half of what these tests cost is to draw frames that none of them looks at: only `pytest --all` draws those, too, for a
    quarter of the tests in turn. Where a test looks at the screen, it is drawn, and so are all pictures."""
    looked_at = "every_frame" in request.fixturenames or request.node.get_closest_marker("picture")
    if not (looked_at or (request.config.option.all and turns.due(0, family=request.node.nodeid))):
        for update in ("render_full_update", "render_partial_update"):
            monkeypatch.setattr(Compositor, update, lambda compositor, **_: compositor._dirty_regions.clear())


@pytest.fixture(autouse=True)
def fallen(monkeypatch):
    """The errors that the safety net caught, (where, error) each. A test that expects one removes it from the list; any
    other is raised."""
    found = []
    report, add = SafetyNet.report, error_log_hot.add

    def reported(net, where, error, **more):
        cause = getattr(error, "error", error)
        if not isinstance(cause, NoMatches):  # expected of a widget that goes; else it is logged
            found.append((where, cause))
        report(net, where, error, **more)

    def logged(root, where, error):
        if error not in [each for _, each in found]:
            found.append((where, error))
        return add(root, where, error)

    monkeypatch.setattr(SafetyNet, "report", reported)
    monkeypatch.setattr(error_log_hot, "add", logged)
    yield found
    if found:
        raise found[0][1]


@pytest.fixture
def world(sample_worlds):
    """The sample world."""
    return sample_worlds.at(NOW)


@pytest.fixture
def all_seen(world):
    """The sample world after a person kept what Claude had changed there."""
    space = Workspace(dict(world.env), world.shop, by="cli", now=NOW)
    space.take_in()
    space.versions.see([each.now for each in space.changed()])


@pytest.fixture
def empty(tmp_path):
    """A machine where memtui has run, and nothing is remembered."""
    home, project = tmp_path / "home", tmp_path / "project"
    env = {"HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / ".claude"), "MEMTUI_HOME": str(home / ".claude/memtui")}
    (home / ".claude/memtui/log").mkdir(parents=True)
    (project / ".git").mkdir(parents=True)
    return env, str(project)


@pytest.fixture
def app(world):
    """The application, started in the sample world's shop."""
    return MemtuiApp(dict(world.env), world.shop, now=NOW)


@asynccontextmanager
async def running(app, size, *keys):
    """Run an application; give its pilot once it has read its files and has answered some keys."""
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        if keys:
            await press(pilot, *keys)
        yield pilot


async def settle(pilot):
    """Wait until workers are done, but commands that wait for an answer in a dialog, and the screen is drawn."""
    for _ in range(500):
        await pilot.pause(0.01)
        waits = pilot.app.on_top is None
        if not any(worker.is_running and not (waits and worker.group == COMMAND) for worker in pilot.app.workers):
            break
    await pilot.pause()


async def press(pilot, *keys):
    """Press keys, and wait for what they start; an action's id stands for one that only the palette has."""
    for key in keys:
        if key.partition(".")[2]:
            pilot.app.action_run(key)
            await settle(pilot)
        else:
            await pilot.press(key)
    await settle(pilot)


async def burst(pilot, *keys):
    """Press keys as a terminal sends what is typed in one burst: all of them wait before the first is handled."""
    for key in keys:
        pilot.app.post_message(events.Key(key, " " if key == "space" else key if len(key) == 1 else None))
    await settle(pilot)


async def until(pilot, holds, seconds=60):
    """Wait until something holds, while the application goes on."""
    for _ in range(seconds * 50):
        if holds():
            return
        await pilot.pause(0.02)
    raise AssertionError("it never came")
