"""Rules with the real client: what an agent keeps is counted, and what it ignores is pinned, then refused."""

import pytest

from waiting import eventually

from . import habits
from .habits import Habit, Plant

pytestmark = pytest.mark.client

TOLD, ANYWAY, IGNORED = Habit(0, "told", "instead"), Habit(1, "anyway", "text"), Habit(2, "ignores", "option")


@pytest.fixture
def plant(on, monkeypatch):
    """Agents that always do the same."""
    monkeypatch.setattr(habits, "KEEPS", {"told": (0, 1), "anyway": (1, 1), "ignores": (0, 0)})
    monkeypatch.setattr(habits, "STUBBORN", 0)
    return Plant(on, [TOLD, ANYWAY, IGNORED], 0)


def held(on, habit):
    (counts,) = on.memtui_json("show", habit.name)["held"]
    return tuple(counts[key] for key in ("kept", "opportunities", "kept_before", "opportunities_before"))


def approve(on, code, file):
    """Approve the one step that is proposed, and wait until hooks have what it made."""
    (step,) = on.memtui_json("consolidate")["changes"]
    assert (step["codes"], step["files"][0]["path"]) == ([code], str(on.config / f"memory/{IGNORED.name}.md"))
    on.memtui("approve", step["id"], "--yes")
    assert eventually((on.root / file).exists)


def test_what_is_kept_is_counted_and_what_is_ignored_is_refused_at_last(on, plant):
    def run(session):
        done = plant.run(session, plant.habits)
        assert (done.returncode, done.stdout) == (0, "Done.")
        assert eventually(on.workers_ended)
        return plant.reached()

    assert list(run(0).values()) == [1, 0, 1]
    plant.remember()
    for session in (1, 2):
        assert list(run(session).values()) == [0, 0, 1]
    assert [held(on, habit) for habit in plant.habits] == [(2, 2, 0, 1), (2, 2, 1, 1), (0, 2, 0, 1)]
    assert on.memtui_json("activity", "--broken")["broken"][0]["line"] == "ship02 s002r1 --force"
    approve(on, "rules.pin", "recall/pinned")
    assert run(3)[IGNORED] == 1
    approve(on, "rules.refuse", "rules/enforced")
    assert (run(4)[IGNORED], plant.agent.refused) == (0, 1)
    on.memtui("undo")
    assert eventually(lambda: not (on.root / "rules/enforced").exists())
    assert (run(5)[IGNORED], on.errors()) == (1, [])
