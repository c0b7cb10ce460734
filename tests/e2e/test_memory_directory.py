"""Where the client keeps its own memory of a project: memtui writes approved drafts there."""

import json

import pytest

from memtui.client import locate_hot

from .client import OLDEST

pytestmark = pytest.mark.client
MARK = "The words of this memory"


@pytest.fixture
def place(world):
    """Write settings, at a place below the world's base."""

    def write(where, value):
        path = world.base / where
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"autoMemoryDirectory": value}))

    return write


def check(world, moved, cwd=None, env=None):
    """The client must load the memory that memtui takes for its own; `moved`: whether that is not the default."""
    cwd = cwd or world.project
    cwd.mkdir(exist_ok=True)
    directory = locate_hot.auto_dir(world.environment(env), str(cwd))
    assert (not directory.startswith(f"{world.config}/projects/-")) is moved
    (world.base / directory).mkdir(parents=True)
    (world.base / directory / "MEMORY.md").write_text(f"- [x](x.md) — {MARK}\n")
    assert MARK in world.claude("hi", cwd=cwd, env=env).main[0].text()


def only_newer(world):
    if OLDEST in str(world.binary.resolve()):
        pytest.skip("older clients do otherwise, see locate_hot.auto_dir")


def test_by_default(world):
    check(world, moved=False)


def test_a_name_of_the_projects_directory(world):
    only_newer(world)
    check(world, moved=True, env={"CLAUDE_CODE_PROJECT_DIR_NAME": "shop_1", "CLAUDE_CONFIG_DIR": str(world.config)})


def test_variables(world):
    check(world, moved=True, env={"CLAUDE_COWORK_MEMORY_PATH_OVERRIDE": str(world.base / "cowork")})
    check(world, moved=True, env={"CLAUDE_CODE_REMOTE_MEMORY_DIR": str(world.base / "remote")})


def test_a_session_in_a_subdirectory(world, place):
    place("my project/.claude/settings.json", str(world.base / "project memory"))
    check(world, moved=False, cwd=world.project / "src")
    only_newer(world)
    place("my project/.claude/settings.local.json", str(world.base / "local memory"))
    check(world, moved=True, cwd=world.project / "src")


def test_a_session_in_a_linked_worktree(world, place):
    only_newer(world)
    world.git("worktree", "add", "-q", str(world.base / "tree"))
    place("my project/.claude/settings.local.json", str(world.base / "local memory"))
    check(world, moved=True, cwd=world.base / "tree")
