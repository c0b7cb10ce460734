"""What `hooks status` finds, and when the plugin's hooks stand down."""

import json
from pathlib import Path

import pytest

from memtui.base import findings
from memtui.client import settings_files_hot
from memtui.client.agents.program import PROGRAM
from memtui.hooks import environment_hot
from memtui.hooks.install import entries, status
from memtui.hooks.install import installation as install

PLUGIN_ROOT = Path(__file__).resolve().parents[2] / "hooks"


class World:
    """A home with one project, and hooks installed by the real engine."""

    def __init__(self, tmp_path):
        self.home = tmp_path / "home"
        self.project = tmp_path / "project"
        (self.project / ".git").mkdir(parents=True)
        (self.project / "src").mkdir()
        self.user = self.home / ".claude" / "settings.json"
        self.user.parent.mkdir(parents=True)
        self.env = {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}
        self.root = str(self.home / ".claude" / "memtui")

    def install(self, scope="user", **more):
        path = install.settings_path(self.env, str(self.project), scope)
        install.apply(install.plan(path, "install", env=self.env, scope=scope, **more))
        return Path(path)

    def status(self, where=None):
        return status.status(self.env, str(where or self.project))

    def set(self, path, **values):
        value = json.loads(path.read_text()) if path.exists() else {}
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({**value, **values}))

    def enable_plugin(self, place=PLUGIN_ROOT):
        self.set(self.user, enabledPlugins={"memtui@memtui": True, "other@x": True})
        plugins = self.user.parent / "plugins"
        plugins.mkdir()
        copy = [{"scope": "user", "installPath": str(place), "version": "0.1.0"}]
        (plugins / "installed_plugins.json").write_text(json.dumps({"version": 2, "plugins": {"memtui@memtui": copy}}))

    def active(self, where=None, event="SessionEnd", **env):
        return environment_hot.settings_install_active(
            self.root, {**self.env, **env}, str(where or self.project), event
        )


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.setattr(settings_files_hot, "MANAGED", str(tmp_path / "managed"))
    return World(tmp_path)


def one(problems, *words):
    """The single problem that holds all these words."""
    found = [told for told in map(findings.message, problems) if all(word in told for word in words)]
    assert len(found) == 1, problems
    return found[0]


def test_an_installation_is_found_with_every_event_but_not_from_below(world):
    for scope in ("user", "project", "local"):
        path = world.install(scope)
        report = world.status()
        assert report.problems == []
        for event, hooks in report.events().items():
            assert [(hook.source, hook.path, hook.current) for hook in hooks] == [(scope, str(path), True)], event
            assert hooks[0].interpreter == entries.choose_interpreter()
            assert hooks[0].interpreter_exists
            assert hooks[0].launcher_exists
        path.unlink()
    path = world.install("project")
    report = world.status(world.project / "src")
    assert not report.installed
    one(report.problems, str(path), f"started in {world.project}")


def test_what_is_not_installed_or_gone_or_another_memtui_is_told_apart(world, tmp_path):
    report = world.status()
    assert (report.installed, report.problems, report.plugin.active, world.active()) == (False, [], False, False)
    assert [file.scope for file in report.files] == ["user", "project", "local"]
    world.install(interpreter="/gone/python3", launcher="/gone/memtui/hooks/launch.py")
    problems = world.status().problems
    one(problems, "/gone/python3", "does not exist", "setup hooks --scope user")
    one(problems, "/gone/memtui/hooks/launch.py", "does not exist")
    other = tmp_path / "other" / "memtui" / "hooks" / "launch.py"
    other.parent.mkdir(parents=True)
    other.write_text("")
    world.install(launcher=str(other))
    one(world.status().problems, "another installation of memtui", str(other))


def test_a_hook_changed_by_hand_skipped_or_missing_is_noticed(world):
    path = world.install()
    text = path.read_text()
    path.write_text(text.replace(" -I -S ", " -S -I "))
    one(world.status().problems, "differently")
    value = json.loads(text)
    value["hooks"]["Stop"][0]["hooks"][0]["timeout"] = "10"
    path.write_text(json.dumps(value))
    report = world.status()
    one(report.problems, "malformed hook", "`hooks.Stop.0.hooks.0`")
    assert not report.events()["Stop"]
    del value["hooks"]["Stop"]
    path.write_text(json.dumps(value))
    one(world.status().problems, "no memtui hook for Stop")


def test_the_same_command_in_two_files_is_fine_and_two_commands_are_not(world):
    world.install()
    local = world.install("local")
    assert world.status().problems == []  # the client runs the same command once
    local.write_text(local.read_text().replace("exec ", ""))
    assert len([p for p in world.status().problems if "runs 2 memtui hooks" in findings.message(p)]) == len(
        PROGRAM.events
    )


def test_settings_that_turn_hooks_off_or_can_not_be_read_are_a_problem(world):
    path = world.install()
    world.set(path, disableAllHooks=True)
    report = world.status()
    assert report.disabled_by == str(path)
    one(report.problems, "Claude Code runs no hooks", "says so (`disableAllHooks`)")
    world.set(world.project / ".claude" / "settings.local.json", disableAllHooks=False)
    assert world.status().disabled_by is None
    world.set(path, cleanupPeriodDays=0)
    report = world.status()
    assert not report.installed
    assert report.unreadable
    one(report.problems, str(world.user), "as a whole", "`cleanupPeriodDays`")
    world.user.write_text("// no\n{}")
    said = one(world.status().problems, str(world.user))
    assert "skips" in said
    assert "malformed JSON" in said
    assert said.count(str(world.user)) == 1
    world.user.unlink()
    world.user.mkdir()
    one(world.status().problems, str(world.user), "could not be read")


def test_every_managed_file_and_setting_that_stops_hooks_is_noticed(world, tmp_path):
    user = world.install()
    for key, value in (
        ("allowManagedHooksOnly", True),
        ("strictPluginOnlyCustomization", True),
        ("strictPluginOnlyCustomization", ["hooks"]),
        ("disableAllHooks", True),
    ):
        for name in ("managed-settings.json", "managed-settings.d/10-hooks.json"):
            managed = tmp_path / "managed" / name
            managed.parent.mkdir(parents=True, exist_ok=True)
            world.set(managed, **{key: value})
            assert world.status().disabled_by == str(managed)
            one(world.status().problems, str(managed), f"says so (`{key}`)")
            managed.unlink()
        if key != "disableAllHooks":  # what only an administrator may set does nothing elsewhere
            world.set(user, **{key: value})
            assert (world.status().disabled_by, world.status().problems) == (None, [])


@pytest.mark.parametrize("there", [True, False])
def test_the_plugin_is_found_beside_settings_hooks_until_it_is_disabled(world, tmp_path, there):
    world.enable_plugin(PLUGIN_ROOT if there else tmp_path / "gone")
    report = world.status()
    if there:
        assert report.plugin.active
        assert report.plugin.install_path == str(PLUGIN_ROOT)
        assert {entry.source for entry in report.entries} == {"plugin"}
        assert all(report.events().values())
        world.install()
        one(world.status().problems, "Both the plugin and the settings", "/plugin disable memtui@memtui")
    else:
        one(report.problems, "launcher", "gone")
    world.set(world.project / ".claude" / "settings.local.json", enabledPlugins={"memtui@memtui": False})
    assert not world.status().plugin.active
    assert world.status().problems == []


def test_with_hooks_in_settings_the_plugin_stands_down_where_they_run(world, tmp_path):
    for scope in ("project", "local"):
        path = world.install(scope)
        assert world.active()
        # The client does not look for settings above the directory it was started in.
        assert not world.active(world.project / "src")
        assert world.active(world.project / "src", CLAUDE_PROJECT_DIR=str(world.project))
        assert not world.active(CLAUDE_PROJECT_DIR=str(world.project / "src"))
        assert not world.active(tmp_path)
        path.unlink()
    world.install()
    assert world.active()
    assert world.active(tmp_path)
    assert world.active(event="Stop")
    assert not world.active(event="Notification")


def test_the_plugin_takes_over_where_settings_hooks_are_gone_or_dead(world):
    path = world.install()
    text = path.read_text()
    value = json.loads(text)
    del value["hooks"]["Stop"]
    path.write_text(json.dumps(value))
    assert not world.active(event="Stop")
    assert world.active(event="SessionEnd")
    path.write_text("{}")
    assert not world.active()
    path.unlink()
    assert not world.active()
    path.write_text(text)
    assert world.active()
    record = Path(world.root, "installs.json")
    record.write_text(record.read_text().replace(json.dumps(entries.choose_interpreter()), '"/gone/python"'))
    assert not world.active()


def test_hooks_that_are_not_seen_for_a_file_nobody_can_read_are_told_apart(world):
    assert not world.status().unreadable
    world.install()
    local = world.project / ".claude" / "settings.local.json"
    local.parent.mkdir(exist_ok=True)
    local.write_text("{")
    assert not world.status().unreadable, "these are there"
    world.user.write_text("{")
    assert world.status().unreadable
