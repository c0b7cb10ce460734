"""Install, use and uninstall, by settings and as a plugin."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from .client import REPO, injected

pytestmark = pytest.mark.client

PLUGIN = ("--plugin-dir", str(REPO / "hooks"))


@pytest.fixture
def python(world):
    """A `python3` on the PATH as a fresh machine has it: the interpreter of these tests."""
    place = world.base / "bin"
    place.mkdir()
    (place / "python3").symlink_to(os.path.realpath(sys.executable))
    world.env["PATH"] = f"{place}:{os.environ.get('PATH', '')}"


def notes(run):
    return [b.text for b in injected(run.main[-1], "guidance")]


@pytest.mark.client(always=True)
def test_install_use_and_uninstall_by_settings(world):
    before = '{\n    "env": {"PAGER": "cat"},\n    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}\n}'
    (world.config / "settings.json").write_text(before)
    world.memtui("setup", "hooks", "--yes")
    world.memtui("setup", "hooks", "--yes")
    assert world.settings()["env"] == {"PAGER": "cat"}
    world.leave("A note.", from_="script")
    assert len(notes(world.claude("hi"))) == 1
    world.memtui("setup", "hooks", "--remove", "--yes")
    assert (world.config / "settings.json").read_text() == before
    world.leave("Another note.", from_="script")
    assert injected(world.claude("hi").main[0]) == []
    assert "Another note." in world.waiting()


def test_uninstall_after_the_client_has_rewritten_the_file(world):
    """A client that migrates old settings, as 2.1.197 does with the model's name, lays the file out anew."""
    theirs = {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}
    world.settings({"model": "opus", "hooks": theirs})
    world.memtui("setup", "hooks", "--yes")
    installed = (world.config / "settings.json").read_text()
    world.claude("hi")
    if (world.config / "settings.json").read_text() == installed:  # a newer one has nothing to migrate
        migrated = {key: value for key, value in world.settings().items() if key != "model"}
        (world.config / "settings.json").write_text(json.dumps(migrated, indent=2))
    world.memtui("setup", "hooks", "--remove", "--yes")
    assert world.settings() == {"hooks": theirs}


@pytest.mark.every(of=4)
@pytest.mark.parametrize("scope", ["project", "local"])
def test_project_settings(world, scope):
    world.memtui("setup", "hooks", "--scope", scope, "--yes")
    world.leave("A note.", from_="script")
    assert len(notes(world.claude("hi"))) == 1
    world.memtui("setup", "hooks", "--remove", "--scope", scope, "--yes")
    assert not (world.project / ".claude").exists()


@pytest.mark.client(always=True)
def test_the_plugin_in_a_checkout_needs_no_installation(world, python):
    world.leave("A note.", from_="script")
    world.remember("prefer-pnpm", "Use pnpm, never npm")
    run = world.claude("hi", *PLUGIN)
    assert len(notes(run)) == 1
    assert [b.event for b in injected(run.main[0], "index")] == ["SessionStart"]
    assert [a["content"][:7] for a in run.attachments("hook_system_message")] == ["memtui:"]
    world.leave("Another note.", from_="script")
    assert injected(world.claude("hi").main[0]) == []


def test_a_plugin_that_the_client_installs_is_small_and_serves_sessions(world, python):
    for words in (["marketplace", "add", str(REPO)], ["install", "memtui@memtui"]):
        command = [str(world.binary), "plugin", *words]
        subprocess.run(command, check=True, capture_output=True, cwd=world.project, env=world.environment(), timeout=60)
    copied = [path for path in (world.config / "plugins").rglob("*") if path.is_file()]
    assert any(path.name == "memtui_hook.py" for path in copied)
    assert sum(path.stat().st_size for path in copied) < 2_000_000
    world.leave("A note.", from_="script")
    assert len(notes(world.claude("hi"))) == 1
    status = json.loads(world.memtui("setup", "--json", check=False).stdout)["data"]
    assert status["plugin"]["active"]
    assert not status["plugin"]["problems"]


def test_plugin_and_settings_together_deliver_once(world, python):
    world.install()
    world.remember("prefer-pnpm", "Use pnpm, never npm")
    world.leave("A note.", from_="script")
    world.leave("Draft: use tabs", kind="updates", kind_="correction", time="2026-11-20T10:00:00Z")
    run = world.claude("hi", *PLUGIN)
    assert [b.kind for b in injected(run.main[0])].count("guidance") == 1
    assert (run.main[0].count("prefer-pnpm: Use pnpm"), run.main[0].count("Draft: use tabs")) == (1, 1)
    assert len(run.attachments("hook_system_message")) == 1
    world.memtui("setup", "hooks", "--remove", "--yes")
    world.leave("Another note.", from_="script")
    assert len(notes(world.claude("hi", *PLUGIN))) == 1


def test_blanks_and_quotes_in_every_path(world):
    place = world.base / "it's a place"
    shutil.copytree(REPO / "src" / "memtui", place / "memtui", ignore=shutil.ignore_patterns("__pycache__"))
    world.memtui("setup", "hooks", "--yes", sources=place)
    assert "it's a place" in world.settings()["hooks"]["Stop"][0]["hooks"][0]["command"].replace("'\"'\"'", "'")
    world.leave("A note.", from_="script")
    assert len(notes(world.claude("hi"))) == 1
