"""Which settings files the client skips, and for what. tests/e2e/test_settings.py asks the client itself."""

import json

import pytest

from memtui.client import applied_settings

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
    assert found.value == {}
    assert [fault.key for fault in found.faults] == [key]
    assert all(fault.why for fault in found.faults)


@pytest.mark.parametrize("name", READ)
def test_what_the_client_takes_or_leaves_out_alone_is_no_fault(read, name):
    found = read(json.dumps(READ[name]))
    assert not found.faults
    assert found.value == READ[name] or name == "an event that is null"


@pytest.mark.parametrize("name", SKIPPED_TEXTS)
def test_a_text_that_is_not_json_counts_as_empty(read, name):
    found = read(SKIPPED_TEXTS[name].replace("HOOKS", json.dumps(HOOKS)))
    assert found.value == {}
    assert [fault.key for fault in found.faults] == [""]


def test_a_malformed_hook_that_guards_nothing_is_left_out_alone(read):
    whole = {"hooks": [COMMAND]}
    found = read(json.dumps({"hooks": {"Stop": [{"hooks": [{}, COMMAND]}, "x", whole]}}))
    assert not found.faults
    assert [fault.key for fault in found.skipped] == ["hooks.Stop.0.hooks.0", "hooks.Stop.1"]
    assert found.value == {"hooks": {"Stop": [whole, whole]}}


@pytest.mark.parametrize("settings", [settings for settings, _ in SKIPPED.values()])
def test_of_a_managed_file_a_wrong_value_does_not_lose_the_others(tmp_path, settings):
    path = tmp_path / "managed-settings.json"
    path.write_text(json.dumps({**settings, "disableAllHooks": True}))
    found = applied_settings.read(str(path), managed=True)
    assert not found.faults
    assert found.value["disableAllHooks"] is True
