"""What only Qwen Code has: commands of the person's own, and hooks that run beside ours."""

import json

import pytest

from memtui.client.agents import qwen

from .test_agents import CORRECTIONS
from .world import count

pytestmark = pytest.mark.client


@pytest.fixture
def agent():
    return "qwen"


def test_words_of_files_and_commands_are_no_corrections(on, model):
    on.memtui("config", "set", "extract_confidence", "0")
    attached, template = CORRECTIONS[:2]
    (on.project / "more.txt").write_text(attached + "\n")
    (on.qwen / "commands").mkdir()
    (on.qwen / "commands" / "review.md").write_text(template + "\n")
    with on.session() as session:
        session.say("look at @more.txt")
        session.say("/review")
    on.run("/review")
    assert all(any(text in request.text() for request in model.requests) for text in (attached, template))
    assert on.heard() == ""
    assert on.errors() == []


def test_a_persons_hooks_run_beside_ours_and_stay_when_ours_go(world):
    mine = {"type": "command", "command": "echo theirs >> ran"}
    theirs = {"hooks": {event.own: [{"hooks": [mine]}] for event in qwen.PROGRAM.events}}
    world.hooks_file.write_text(json.dumps(theirs))
    world.install()
    world.leave("The build is broken.")
    assert count(world.run("hello").main[0], "The build is broken.") == [1]
    assert (world.project / "ran").read_text().count("theirs") == 3  # start, prompt, stop
    world.memtui("setup", "hooks", "--agent", "qwen", "--remove", "--yes")
    settings = json.loads(world.hooks_file.read_text())
    assert {key: value for key, value in settings.items() if key != "$version"} == theirs  # Qwen Code adds that
