"""The worker counts what came of recalled memories, and what a person corrects in what a session was given."""

import os
import time

import pytest

from memtui.deliver import uses_hot
from memtui.learn.signals import Signal
from memtui.worker import recall_uses
from recalls import deliver

PNPM = (
    "---\nname: prefer-pnpm\ndescription: Install packages with pnpm, not npm\n---\nThe lock file is pnpm-lock.yaml.\n"
)


class Home:
    def __init__(self, home):
        self.root = str(home / "root")
        self.memories = home / "memory"
        self.memories.mkdir()
        self.pnpm = self.memory("prefer-pnpm.md", PNPM)
        self.other = self.memory("deploys.md", "---\nname: deploys\n---\nDeploy on Monday mornings.\n")

    def memory(self, name, text):
        path = self.memories / name
        path.write_text(text)
        self.age(path)
        return str(path)

    def age(self, path, seconds=3600.0):
        os.utime(path, (time.time() - seconds,) * 2)

    def log(self, session, *items, ago=0.0):
        deliver(self.root, time.time() - ago, *items, session_id=session)

    def recall(self, session, *paths, ago=0.0):
        items = [{"kind": "recall", "id": path, "scope": "auto", "path": path, "chars": 400} for path in paths]
        self.log(session, *items, ago=ago)

    def read(self, session, path):
        self.log(session, {"kind": "use", "action": "read", "path": path})

    def corrects(self, session, words, evidence="u1", kind="correction", agent="I ran npm install.", **more):
        said = Signal(kind, "x", "feedback", "project", words, "", 0.8, evidence, session, agent=agent, **more)
        return recall_uses.note_corrections(self.root, session, str(self.memories), [said])

    @property
    def known(self):
        found = uses_hot.load(self.root, [self.pnpm, self.other])
        return {path.rpartition("/")[2]: each[:3] for path, each in found.items()}


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


def test_what_a_hook_learns_is_counted_as_counting_anew_would(home):
    home.recall("s1", home.pnpm, home.other, ago=30)
    recall_uses.update(home.root)
    assert home.known == {"prefer-pnpm.md": (1, 0, 0), "deploys.md": (1, 0, 0)}
    home.read("s1", home.pnpm)
    home.read("s2", home.other)
    recall_uses.update(home.root)
    assert home.known == {"prefer-pnpm.md": (1, 1, 0), "deploys.md": (1, 0, 0)}
    for number in range(6):
        home.recall(f"s{number % 2}", home.pnpm, ago=20 - number)
        home.read(f"s{number % 3}", home.pnpm)
        recall_uses.update(home.root)
    followed = home.known
    os.unlink(f"{home.root}/{recall_uses.STATE}")
    recall_uses.update(home.root)
    assert home.known == followed


def test_a_torn_state_is_counted_anew(home):
    home.recall("s1", home.pnpm)
    recall_uses.update(home.root)
    for data in (b"", b"torn", uses_hot.pack({})):
        with open(f"{home.root}/{recall_uses.STATE}", "wb") as out:
            out.write(data)
        home.recall("s1", home.other)
        recall_uses.update(home.root)
    assert home.known == {"prefer-pnpm.md": (1, 0, 0), "deploys.md": (3, 0, 0)}


def test_a_memory_that_changed_begins_anew_and_one_that_went_is_forgotten(home):
    home.recall("s1", home.pnpm, home.other, ago=1800)
    recall_uses.update(home.root)
    home.age(home.pnpm, 60)
    os.unlink(home.other)
    home.recall("s2", home.pnpm)
    recall_uses.update(home.root)
    assert home.known == {"prefer-pnpm.md": (1, 0, 0)}
    os.unlink(f"{home.root}/{recall_uses.STATE}")
    recall_uses.update(home.root)
    assert home.known == {"prefer-pnpm.md": (1, 0, 0)}


def test_a_correction_counts_for_the_memory_of_that_session_it_concerns(home):
    home.recall("s1", home.pnpm, home.other, ago=60)
    assert home.corrects("s1", "No, install the packages with pnpm") == 1
    assert home.corrects("s1", "No, install the packages with pnpm") == 0  # met again after a compaction
    recall_uses.update(home.root)
    assert home.known == {"prefer-pnpm.md": (1, 0, 1), "deploys.md": (1, 0, 0)}
    home.recall("s1", home.pnpm, ago=60)
    assert home.corrects("s2", "No, install the packages with pnpm") == 0
    assert home.corrects("s1", "The colours of the button are wrong") == 0
