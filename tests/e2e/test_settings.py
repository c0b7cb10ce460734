"""Which of its settings files the client skips, as memtui tells it: each case runs, or does not run, a hook."""

import json

import pytest

from client.settings_cases import READ, READ_TEXTS, SKIPPED, SKIPPED_TEXTS
from memtui.client import applied_settings

pytestmark = pytest.mark.client


@pytest.fixture
def mark(world):
    """A file that a hook at the session's start makes, and that hook."""
    path = world.base / "ran"
    return path, {"SessionStart": [{"hooks": [{"type": "command", "command": f"touch '{path}'"}]}]}


def agree(world, mark, path):
    """Run the client; what it and memtui made of the file must be the same. Returns what the client said of it."""
    run = world.claude("hi")
    assert run.main, run.stderr
    assert bool(applied_settings.read(str(path)).value.get("hooks")) is mark[0].exists()
    return run.stderr


@pytest.mark.every
@pytest.mark.parametrize("name", SKIPPED)
def test_one_wrong_value_makes_the_client_skip_the_file(world, mark, name):
    settings, key = SKIPPED[name]
    world.settings({**settings, "hooks": {**mark[1], **settings.get("hooks", {})}})
    said = agree(world, mark, world.config / "settings.json")
    assert not mark[0].exists()
    assert not said or f"({key})" in said


@pytest.mark.every
@pytest.mark.parametrize("name", READ)
def test_other_values_lose_nothing_else(world, mark, name):
    settings = READ[name]
    world.settings({**settings, "hooks": {**mark[1], **settings.get("hooks", {})}})
    agree(world, mark, world.config / "settings.json")
    assert mark[0].exists()


@pytest.mark.every
@pytest.mark.parametrize("name", [*SKIPPED_TEXTS, *READ_TEXTS])
def test_the_client_reads_plain_json_alone(world, mark, name):
    text = {**SKIPPED_TEXTS, **READ_TEXTS}[name].replace("HOOKS", json.dumps(mark[1]))
    (world.config / "settings.json").write_text(text)
    agree(world, mark, world.config / "settings.json")
    assert mark[0].exists() is (name in READ_TEXTS)


def test_doctor_names_the_file_and_the_key_that_keep_a_note_waiting(on):
    on.settings({**on.settings(), "cleanupPeriodDays": 0})
    on.leave("A note.", from_="script")
    on.claude("hi")
    assert "A note." in on.waiting()
    said = on.memtui("doctor", check=False).stdout
    assert "settings.json" in said
    assert "`cleanupPeriodDays`" in said
    assert "All good" not in said
    assert "No hook of memtui's ran in the 1 newest session" in " ".join(said.split())
    assert "`cleanupPeriodDays`" in on.memtui("setup", check=False).stdout
    on.settings({key: value for key, value in on.settings().items() if key != "cleanupPeriodDays"})
    on.claude("hi")
    assert "A note." not in on.waiting()
    assert "No hook of memtui's ran" not in " ".join(on.memtui("doctor", check=False).stdout.split())
