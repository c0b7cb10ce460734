"""`memtui model sentences`: switched on it starts the daemon, says what that does, and ends it again."""

import pytest

import sentence_daemon
from memtui.recall import sentences
from memtui.worker import sentence_vectors
from waiting import eventually

pytestmark = pytest.mark.slow


@pytest.fixture
def root(world, monkeypatch):
    sentence_daemon.prepare(world.root)
    monkeypatch.setattr(sentences, "installed", lambda: True)
    monkeypatch.setattr(sentence_vectors.processes.subprocess, "Popen", Started)
    yield world.root
    sentence_daemon.end(world.root)


class Started(sentence_vectors.processes.subprocess.Popen):
    """A process that nobody waits for: Python warns of such, which a command that ends does not see."""

    def __del__(self):
        self.returncode = 0


def test_without_the_extra_it_is_not_switched_on(memtui, world):
    done = memtui("model", "sentences", "on", check=False)
    assert (done.code, sentences.INSTALL in done.err) == (1, True)
    assert memtui.json("model", "sentences")["on"] is False


def test_on_starts_the_daemon_and_off_ends_it(memtui, root):
    memtui("config", "set", "semantic", "false")
    assert memtui.json("model", "sentences", "on") == {"changed": True, "started": True}
    sentence_daemon.ready(root)
    said = memtui.json("model", "sentences")
    assert (said["on"], said["daemon"], said["loaded"]) == (True, "running", "tiny")
    assert said["ready"] == said["memories"] > 0
    out = memtui("model", "sentences").out
    assert f"is running, process {said['pid']}" in out
    assert f"{said['ready']} of {said['memories']} memories" in out
    assert memtui.json("model", "sentences", "off") == {"changed": True, "stopped": True}
    assert eventually(lambda: not sentence_vectors.is_held(root))
    assert memtui.json("model", "sentences")["daemon"] == "none"
    memtui("undo", "--yes")
    assert memtui.json("model", "sentences")["on"] is True
