"""Which settings files the client skips, and for what, and what keeps its own memory from being loaded.
tests/e2e/test_settings.py asks the client itself."""

import json

import pytest

import recorded
from memtui.client import applied_settings, settings_files_hot

from .settings_cases import COMMAND, READ, SKIPPED, SKIPPED_TEXTS

HOOKS = {"SessionStart": [{"hooks": [COMMAND]}]}


@pytest.fixture
def read(tmp_path):
    def write_and_read(text):
        path = tmp_path / "settings.json"
        path.write_text(text)
        return applied_settings.read(str(path))

    return write_and_read


@pytest.mark.parametrize("name", SKIPPED)
def test_a_file_with_a_wrong_value_counts_as_empty_and_the_key_is_named(read, name):
    settings, key = SKIPPED[name]
    found = read(json.dumps({"language": "Latin", **settings}))
    assert (found.value, found.why) == ({}, f"it does not take the value of `{key}`")


@pytest.mark.parametrize("name", READ)
def test_what_the_client_takes_or_leaves_out_alone_is_no_fault(read, name):
    found = read(json.dumps(READ[name]))
    assert not found.why
    assert found.value == READ[name] or name == "an event that is null"


@pytest.mark.parametrize("name", SKIPPED_TEXTS)
def test_a_text_that_is_not_json_counts_as_empty(read, name):
    found = read(SKIPPED_TEXTS[name].replace("HOOKS", json.dumps(HOOKS)))
    assert found.value == {}
    assert found.why


def test_a_malformed_hook_that_guards_nothing_is_left_out_alone(read):
    whole = {"hooks": [COMMAND]}
    found = read(json.dumps({"hooks": {"Stop": [{"hooks": [{}, COMMAND]}, "x", whole]}}))
    assert not found.why
    assert [key for key, _ in found.skipped] == ["hooks.Stop.0.hooks.0", "hooks.Stop.1"]
    assert found.value == {"hooks": {"Stop": [whole, whole]}}


@pytest.mark.parametrize("settings", [settings for settings, _ in SKIPPED.values()])
def test_of_a_managed_file_a_wrong_value_does_not_lose_the_others(tmp_path, settings):
    path = tmp_path / "managed-settings.json"
    path.write_text(json.dumps({**settings, "disableAllHooks": True}))
    found = applied_settings.read(str(path), managed=True)
    assert not found.why
    assert found.value["disableAllHooks"] is True


VARIABLE = applied_settings.VARIABLE


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Where each scope's settings are, and what tells whether the memory is off."""
    monkeypatch.setattr(settings_files_hot, "MANAGED", str(tmp_path / "managed"))
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
    assert world("1", user={"env": {VARIABLE: "perhaps"}}) == ""
    assert (world(user={"autoMemoryEnabled": False}), world(project={"autoMemoryEnabled": True})) == ("user", "")
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
    assert (world(project={"env": {VARIABLE: "true"}}), world(local={"env": {VARIABLE: 0}})) == ("project", "")


def test_files_are_taken_as_ever(tmp_path):
    def read(text, managed):
        (tmp_path / "settings.json").write_text(text)
        return list(applied_settings.read(str(tmp_path / "settings.json"), managed))

    recorded.check(__file__, "settings_texts", read)
