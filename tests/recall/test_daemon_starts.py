"""One daemon serves a root, however many start at once and whenever one is killed; and what stops it."""

import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

import sentence_daemon
from memtui.base import fs_hot
from memtui.client import process_hot
from memtui.recall import daemon, semantic_hot, sentences
from memtui.worker import sentence_vectors
from tables import rows
from waiting import eventually

START = "from memtui.recall import daemon; import sys; daemon.SUCCESSION = 0.5; daemon.main(sys.argv[1:])"


@pytest.fixture
def root(tmp_path):
    root = str(tmp_path / "root")
    sentence_daemon.prepare(root)
    daemon.private(root)
    return root


@pytest.fixture
def start(root):
    """Starts daemons as a session does, but that these are the test's own; kills those that are left."""
    processes = []

    def begin():
        command = [sentence_vectors.processes.python(root), "-c", START, root]
        environment = {**os.environ, "PYTHONPATH": sentence_vectors.processes.paths_hot.SOURCES}
        processes.append(subprocess.Popen(command, env=environment))
        return processes[-1]

    yield begin
    for process in processes:
        process.kill()
        process.wait()


@pytest.mark.kill
@pytest.mark.parametrize("turn", range(6))
def test_one_of_three_is_left_whenever_the_one_before_was_killed(root, start, turn):
    killed = start()
    time.sleep(random.Random().uniform(0, 0.2 + 0.2 * turn))
    killed.kill()
    killed.wait()
    started = [start() for _ in range(3)]
    assert eventually(lambda: sum(process.poll() is None for process in started) == 1)
    (alive,) = [process for process in started if process.poll() is None]
    assert eventually(lambda: sentence_vectors.status(root).get("pid") == alive.pid)
    assert sorted(set(os.listdir(semantic_hot.place(root))) - {"models", "failed"}) == ["lock", "socket"]
    assert sentence_vectors.stop(root)
    assert (alive.wait(5), sentence_vectors.doing(root, {})) == (0, sentence_vectors.NONE)
    assert not sentence_vectors.stop(root)


@pytest.mark.slow
def test_stop_ends_one_that_loads_its_model_and_one_that_hangs(root, start):
    sentence_daemon.prepare(root, model="heavy")
    loads = start()
    assert eventually(lambda: sentence_vectors.is_held(root))
    assert sentence_vectors.stop(root)
    assert loads.wait(5) == -signal.SIGKILL
    sentence_daemon.prepare(root)
    hangs = start()
    assert eventually(lambda: sentence_vectors.status(root))
    hangs.send_signal(signal.SIGSTOP)
    assert sentence_vectors.doing(root, {}) == sentence_vectors.SILENT
    assert sentence_vectors.stop(root)
    assert (hangs.wait(5), sentence_vectors.doing(root, {})) == (-signal.SIGKILL, sentence_vectors.NONE)


def test_stop_ends_one_that_says_late_which_process_it_is(root):
    sleeps = subprocess.Popen(["sleep", "60"])
    identity = [sleeps.pid, process_hot._stat(sleeps.pid)[2], process_hot._here()]
    with fs_hot.Lock(semantic_hot.place(root) + "/lock", 0.0) as lock:
        name = lambda: os.write(lock.fd, sentence_vectors.fastjson_hot.dumps(identity).encode())
        threading.Timer(0.05, name).start()
        ended = threading.Thread(target=lambda: (sleeps.wait(), lock.__exit__()))
        ended.start()
        assert sentence_vectors.stop(root)
        ended.join()
    assert sleeps.returncode == -signal.SIGKILL


@pytest.mark.parametrize("named", [b"", b"[]", b"{", b"[0, 1]", b"reused", b"own of an unlocked file"])
def test_stop_kills_only_the_process_that_holds_the_lock(root, monkeypatch, named):
    monkeypatch.setattr(sentence_vectors, "NAMING", 0.05)
    bystander = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    identity = [bystander.pid, process_hot._stat(bystander.pid)[2], process_hot._here()]
    if named == b"reused":
        named = sentence_vectors.fastjson_hot.dumps([identity[0], "7", identity[2]]).encode()
    lock = fs_hot.Lock(semantic_hot.place(root) + "/lock", 0.0)
    with lock:
        if b"own" in named:
            named = sentence_vectors.fastjson_hot.dumps(identity).encode()
            lock.__exit__()
        with open(lock.path, "wb") as file:
            file.write(named)
        sentence_vectors.stop(root)
    assert bystander.poll() is None
    bystander.communicate(b"\n")


def test_no_second_daemon_is_started_while_one_loads_its_model(root, monkeypatch):
    started = []
    monkeypatch.setattr(sentence_vectors.processes, "start", lambda *words: started.append(words))
    with fs_hot.Lock(semantic_hot.place(root) + "/lock", 0.0):
        assert not sentence_vectors.keep({}, root, "/", [], time.time())
    assert started == []
    assert sentence_vectors.keep({}, root, "/", [], time.time())


@pytest.mark.parametrize(("endpoint", "proxies", "words"), rows(__file__, "a network that is missing is said at once"))
def test_a_network_that_is_missing_is_said_at_once(monkeypatch, endpoint, proxies, words):
    monkeypatch.setattr("urllib.request.getproxies", lambda: proxies)
    begun = time.monotonic()
    with pytest.raises(sentences.MemtuiError, match=words):
        sentences.must_be_reached(endpoint)
    assert time.monotonic() - begun < 5
    monkeypatch.undo()
    sentences.must_be_reached(sentence_daemon.hub())
