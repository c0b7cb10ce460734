"""One home, used by its own path and through a link to it: the same directory is the same everywhere."""

import pytest

from memtui.base import paths_hot
from memtui.hooks import runner_hot

LINKED = {
    "MEMTUI_HOME": {"MEMTUI_HOME": "memtui"},
    "CLAUDE_CONFIG_DIR": {"CLAUDE_CONFIG_DIR": "config", "MEMTUI_HOME": ""},
    "HOME": {"HOME": "home", "CLAUDE_CONFIG_DIR": "", "MEMTUI_HOME": ""},
}


@pytest.fixture(params=LINKED)
def through(request, world, tmp_path):
    """The environment in which one variable names a link, and those that follow from it are not set."""
    for name, place in (("memtui", world.root), ("config", world.config), ("home", world.env["HOME"])):
        (tmp_path / name).symlink_to(place)
    names = {name: str(tmp_path / value) if value else "" for name, value in LINKED[request.param].items()}
    return {**world.env, **names}


def test_what_memtui_wrote_and_installed_is_in_order_through_a_link_to_it(memtui, through, world):
    memtui("list")
    (row,) = memtui.json("inbox", "--kind", "changed")["entries"]
    assert row["prompt_text"] == "add tests for the new components"
    memtui("edit", "prefer-pnpm", "--description", "Always pnpm")
    memtui.env |= through
    memtui("list")
    memtui("edit", "prefer-pnpm", "--description", "Never npm")
    memtui.env |= world.env
    assert "prefer-pnpm" not in memtui("inbox", "--kind", "changed").out
    assert "outside memtui" not in memtui("history", "prefer-pnpm").out
    memtui("setup", "hooks", "--yes")
    before = memtui.json("setup")
    memtui.env |= through
    assert memtui.json("setup") == before
    assert "keeps the hooks from running" not in memtui("status").out
    memtui("setup", "hooks", "--yes")
    memtui.env |= world.env
    assert memtui.json("setup") == before
    for argv in (
        ["UserPromptSubmit", "--root", world.root, "--config", world.config],
        ["UserPromptSubmit", "--root", paths_hot.root(through), "--config", paths_hot.config_dir(through)],
    ):
        env, error = runner_hot._believed(through, argv)
        assert (paths_hot.root(env), error) == (world.root, None)
    linked = ["UserPromptSubmit", "--root", through["MEMTUI_HOME"] or world.root, "--config", world.config]
    assert runner_hot._believed(world.env, linked)[1] is None
