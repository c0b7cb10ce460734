"""The application on the sample world, with the clock held still."""

import pytest

from memtui import demo
from memtui.tui.app import MemtuiApp

NOW = 1_795_000_000.0


@pytest.fixture
def world(tmp_path):
    """The sample world."""
    return demo.build(str(tmp_path / "world"), now=NOW)


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


async def settle(pilot):
    """Wait until workers are done and the screen is drawn."""
    for _ in range(500):
        await pilot.pause(0.01)
        if not any(worker.is_running for worker in pilot.app.workers):
            break
    await pilot.pause()
