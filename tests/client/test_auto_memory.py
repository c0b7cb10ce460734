"""What keeps Claude Code's own memory from being loaded."""

import json

import pytest

from memtui.client import applied_settings, settings_files

VARIABLE = applied_settings.VARIABLE


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Where each scope's settings are, and what tells whether the memory is off."""
    monkeypatch.setattr(settings_files, "MANAGED", str(tmp_path / "managed"))
    env = {"HOME": str(tmp_path / "home")}
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    files = {
        "user": tmp_path / "home" / ".claude" / "settings.json",
        "project": project / ".claude" / "settings.json",
        "local": project / ".claude" / "settings.local.json",
        "managed": tmp_path / "managed" / "managed-settings.d" / "10.json",
    }

    def off(variable=None, /, **settings):
        for scope, value in settings.items():
            files[scope].parent.mkdir(parents=True, exist_ok=True)
            files[scope].write_text(json.dumps(value))
        by = applied_settings.auto_memory_off(env if variable is None else {**env, VARIABLE: variable}, str(project))
        return next((scope for scope, path in files.items() if str(path) == by), by)

    return off


def test_the_nearest_file_decides_and_an_administrators_before_all(world):
    assert world(user={"autoMemoryEnabled": False}) == "user"
    assert world(project={"autoMemoryEnabled": True}) == ""
    assert world(local={"autoMemoryEnabled": False}) == "local"
    assert world(managed={"autoMemoryEnabled": True}) == ""
    assert world(managed={"autoMemoryEnabled": False}) == "managed"


def test_a_file_that_the_client_skips_decides_nothing(world):
    assert world(user={"autoMemoryEnabled": False}, local={"autoMemoryEnabled": True, "model": 5}) == "user"
    assert world(local={"autoMemoryEnabled": "no"}) == "user"


@pytest.mark.parametrize(("value", "off"), [("1", VARIABLE), ("on", VARIABLE), ("0", ""), ("false", ""), ("", "user")])
def test_the_variable_overrides_the_setting_both_ways(world, value, off):
    assert world(value, user={"autoMemoryEnabled": False}) == off


def test_a_variable_in_a_settings_file_counts(world):
    assert world(project={"env": {VARIABLE: "true"}}) == "project"
    assert world(local={"env": {VARIABLE: 0}}) == ""
