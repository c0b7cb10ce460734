"""Sessions in which no hook ran."""

import json
import os
import time

import pytest
import test_status

from memtui.base import clock_hot, findings, paths_hot, session_state_hot
from memtui.hooks import runner_hot, worker_start_hot
from memtui.hooks.install import checkup

NOW = 1_800_000_000.0
HOUR = 3600.0


class World(test_status.World):
    """A home whose hooks were installed a day ago, with a project whose sessions are written as the client does."""

    def __init__(self, tmp_path):
        super().__init__(tmp_path)
        self.settings = self.install()
        day_ago = NOW - 24 * HOUR
        os.utime(f"{self.root}/installs.json", (day_ago, day_ago))

    def session(self, name, hours, *, served=False, cwd=None, entrypoint="cli", answered=True):
        """Write a session that began so many hours ago."""
        cwd = str(cwd or self.project)
        at = NOW - hours * HOUR
        place = self.home / ".claude" / "projects" / paths_hot.slug(cwd)
        place.mkdir(parents=True, exist_ok=True)
        common = {"cwd": cwd, "entrypoint": entrypoint, "timestamp": clock_hot.iso(at)}
        kinds = ["user", "assistant"] if answered else ["user"]
        (place / f"{name}.jsonl").write_text("".join(json.dumps({"type": kind, **common}) + "\n" for kind in kinds))
        os.utime(place / f"{name}.jsonl", (at + 60, at + 60))
        if served:
            session_state_hot.SessionState(self.root, name).save()
            os.utime(session_state_hot.path(self.root, name), (at, at))

    def problems(self, cwd=None):
        return checkup.unserved_sessions(self.env, str(cwd or self.project), NOW)


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def test_sessions_without_a_hook_mark_are_counted_since_the_last_with_one(world):
    world.session("long ago", 25)  # before the installation
    world.session("unanswered", 2, answered=False)
    assert world.problems() == []
    world.session("a", 9)
    world.session("b", 8, served=True)
    assert world.problems() == []
    world.session("c", 3)
    world.session("d", 2)
    (problem,) = world.problems()
    assert problem.level == "problem"
    said = findings.message(problem)
    assert all(words in said for words in ("the 2 newest sessions", "3h ago", "ran 8h ago"))


def test_sessions_of_subdirectories_count_and_none_where_it_is_off(world, tmp_path):
    other = tmp_path / "project-src"
    world.session("a", 2, cwd=other)
    assert world.problems() == []
    world.session("b", 2, cwd=world.project / "src")
    (problem,) = world.problems()
    assert str(world.project / "src") in findings.message(problem)
    world.session("a", 2)
    with open(f"{world.root}/config.toml", "w") as file:
        file.write('mode = "off"\n')
    assert [found.code for found in checkup.hooks(world.env, str(world.project), NOW)] == ["hooks.ok"]
    os.unlink(f"{world.root}/config.toml")
    world.settings.unlink()
    assert [found.code for found in checkup.hooks(world.env, str(world.project), NOW)] == ["hooks.absent"]


def test_a_turn_without_a_transcript_notes_the_claims_of_its_session_alone(home):
    hook = runner_hot.Hook("Stop", home.env, {"session_id": "s1", "cwd": str(home.project)}, time.monotonic())
    _, inbox = hook.inboxes()[0]
    os.makedirs(f"{inbox}/claimed")
    for name in ("guidance-s1.md", "guidance-s2.md"):
        open(f"{inbox}/claimed/{name}", "w").close()
    worker_start_hot._note_claims(hook)
    assert session_state_hot.load_part(hook.root, "s1", "stopped")["claims"] == ["guidance-s1.md"]
