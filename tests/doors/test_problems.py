"""One truth about what is wrong: doctor, the badge of the tab, Setup, the Inbox and `check` tell the same findings with the same
counts."""

from collections import Counter

import pytest

from e2e.worlds import DemoWorld
from memtui.base.finding import Finding
from memtui.store.status import LETTERS

from .conftest import Doors


@pytest.fixture
def world(tmp_path):
    made = DemoWorld(tmp_path)
    # A memory in another project's store that its index lacks, and a store that has no index.
    stores = sorted((made.config / "projects").glob("*/memory"))
    stores[0].joinpath("unlisted.md").write_text("---\nname: unlisted\n---\n\nSee [[nothing-there]].\n")
    return made


@pytest.fixture
def doors(world, monkeypatch, capsys):
    env = {key: value for key, value in world.environment().items() if key != "PYTHONPATH"}
    return Doors(env, world.project, world.world.now, monkeypatch, capsys)


def counts(rows):
    """Count findings by code, as doctor's JSON has them."""
    found = Counter()
    for each in rows:
        if each["level"] != "ok":
            found[each["code"], each["level"]] += 1
    return found


def touched(doctor, wanted):
    """Count the memories and lines that doctor's findings of some codes are about."""
    return sum(len(each["memories"]) for each in doctor["findings"] if wanted(each["code"]))


def setup(app):
    screen = app.screen
    found = Counter()
    for row in screen.all_rows:
        if isinstance(row.about, Finding) and row.about.level != "ok":
            found[row.about.code, row.about.level] += 1
    return found, screen.snapshot.problems, app.data.facts.waiting["setup"]


def tab(app):
    return app.data.facts.waiting["inbox"]


@pytest.mark.slow
async def test_all_tell_the_same_findings_with_the_same_counts(doors):
    doctor = doors.told("doctor")
    told = counts(doctor["findings"])
    problems = sum(number for (_, level), number in told.items() if level == "problem")
    assert problems == doctor["problems"] > 0
    assert doctor["notes"] == sum(told.values()) - problems

    shown, counted, badge = await doors.shown("setup", setup)
    of_setup = counts(each for each in doctor["findings"] if each["place"] == "setup")
    assert shown == of_setup
    assert counted == badge == sum(number for (_, level), number in of_setup.items() if level == "problem")

    of_memories = counts(each for each in doctor["findings"] if each["place"] == "inbox" and each["level"] == "problem")
    in_check = counts(doors.told("check")["causes"])
    assert {key: in_check[key] for key in of_memories} == of_memories

    listed = doors.told("list")["memories"]
    written = [flag for each in listed for flag in each["flags"] if not flag.startswith("changed since")]
    assert len(written) == touched(doctor, lambda code: code in LETTERS)

    indexes = doors.told("check")["indexes"]
    own = Counter(each["own"] for index in indexes for each in index["dangling"])
    assert own[True] == touched(doctor, "memories.dangling".__eq__)
    assert own[False] == touched(doctor, "memories.mention".__eq__)
    lines = touched(doctor, {"memories.no_line", "memories.no_index"}.__contains__)
    assert sum(len(index["missing"]) for index in indexes) == lines


@pytest.mark.slow
async def test_all_tell_how_much_is_to_decide_with_one_number(doors):
    count = doors.told("inbox")["count"]
    assert doors.told("status")["to_decide"] == count > 10
    assert await doors.shown("memories", tab) == count, "before the Inbox was opened"
    assert await doors.shown("inbox", tab) == count
    assert await doors.shown("inbox", lambda app: app.screen.summary().plain.split()[0]) == str(count)
