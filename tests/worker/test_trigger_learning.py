"""The worker learns from which memories the agent opened: after which prompt, and what it changed then."""

import json
import time
from pathlib import Path

import pytest

from memtui.base import clock, paths
from memtui.store import triggers
from memtui.store.journal import undo
from memtui.store.store import Store
from memtui.worker import main, recall_uses
from recalls import deliver

SHIP = "how do we put the shop live?"


class World:
    def __init__(self, home):
        self.repo = home / "repo"
        (self.repo / ".git").mkdir(parents=True)
        self.env = {"HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / "config"), "MEMTUI_HOME": str(home / "root")}
        self.root = str(home / "root")
        self.store = Store(self.env, str(self.repo))
        self.auto = Path(self.store.scope("auto").directory)
        self.auto.mkdir(parents=True)
        self.memory("ci")
        self.transcript = str(self.auto.parent / "s1.jsonl")
        self.now = time.time() - 3600

    def memory(self, name):
        (self.auto / f"{name}.md").write_text(f"---\nname: {name}\ndescription: About {name}\n---\n\nText.\n")

    def _row(self, **row):
        self.now += 10
        row["timestamp"] = clock.iso(self.now)
        with open(self.transcript, "a") as file:
            file.write(json.dumps(row) + "\n")

    def asks(self, text, prompt="p1"):
        self._row(type="user", sessionId="s1", promptId=prompt, message={"content": text})

    def edits(self, *files):
        for file in files:
            block = {"type": "tool_use", "name": "Edit", "input": {"file_path": f"{self.repo}/{file}"}}
            self._row(type="assistant", message={"content": [block]})

    def log(self, prompt, **item):
        self.now += 1
        place = {"transcript": self.transcript, "cwd": str(self.repo)}
        deliver(self.root, self.now, item, session_id="s1", prompt_id=prompt, **place)

    def opens(self, name="ci", prompt="p1"):
        self.log(prompt, kind="use", action="read", id=name, path=f"{self.auto}/{name}.md", scope="auto")

    def recalls(self, name="ci", prompt="p1"):
        self.log(prompt, kind="recall", id=name, path=f"{self.auto}/{name}.md", scope="auto")

    def learn(self):
        main.run(self.env, {"session_id": "s1", "cwd": str(self.repo)}, "Stop", ("learn",))
        found = triggers.lines_of(self.root, str(self.auto))
        return {
            file.removesuffix(".md"): [(each.text, round(each.uses)) for each in rows] for file, rows in found.items()
        }


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def test_the_prompt_before_a_memory_was_opened_becomes_a_counted_trigger(world):
    world.asks(SHIP)
    world.opens()
    world.asks("thanks, that is all for today", "p2")
    assert world.learn() == {"ci": [(SHIP, 1)]}
    assert world.learn() == {"ci": [(SHIP, 1)]}
    world.asks(SHIP, "p3")
    world.opens(prompt="p3")
    assert world.learn() == {"ci": [(SHIP, 2)]}


@pytest.mark.parametrize("prompt", ["/release now please", "ship it", "<task-notification>done</task-notification>"])
def test_what_says_too_little_becomes_none(world, prompt):
    world.asks(prompt)
    world.opens()
    assert world.learn() == {}


def test_a_memory_that_came_with_the_very_prompt_needs_no_trigger_for_it(world):
    world.asks(SHIP)
    world.recalls()
    world.opens()
    world.asks("what about the canary of the shop?", "p2")
    world.opens(prompt="p2")
    assert world.learn() == {"ci": [("what about the canary of the shop?", 1)]}


def test_a_prompts_secret_is_not_kept_and_extraction_off_learns_nothing(world):
    world.asks(f"why does the key ghp_{'a1B2' * 9} not work in CI?")
    world.opens()
    ((line, _),) = world.learn()["ci"]
    assert "[redacted" in line
    Path(world.root, "config.toml").write_text("extract = false\n")
    world.asks(SHIP, "p2")
    world.opens(prompt="p2")
    assert [text for text, _ in world.learn()["ci"]] == [line]


def test_a_memory_that_was_renamed_meanwhile_learns_under_its_new_name(world):
    world.asks(SHIP)
    world.opens()
    world.now = time.time()
    world.store.rename(world.store.find("ci"), "pipeline")
    assert world.learn() == {"pipeline": [(SHIP, 1)]}


def test_what_a_person_removed_is_not_learned_again_until_it_is_undone(world):
    world.asks(SHIP)
    world.opens()
    world.learn()
    triggers.change(world.store, world.store.find("ci"), remove=[SHIP])
    world.asks(SHIP, "p2")
    world.opens(prompt="p2")
    assert world.learn() == {}
    undo.run(world.store.journal, "undo").first()
    assert [text for text, _ in world.learn()["ci"]] == [SHIP]


def test_damaged_state_and_files_cost_no_error(world):
    world.asks(SHIP)
    world.opens()
    for name in (recall_uses.LEARNED, f"triggers/{paths.project_key('x')}.jsonl"):
        path = Path(world.root, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b'{"v": 1, "ends": {"/x": "y"\xff')
    assert world.learn() == {"ci": [(SHIP, 1)]}
    assert not Path(world.root, "log/errors.jsonl").exists()
