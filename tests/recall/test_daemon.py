"""The daemon of the extra `semantic`: it answers as the model itself does, and harms nobody when it can't."""

import contextlib
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from memtui.base import fs_hot
from memtui.base.errors import MemtuiError
from memtui.recall import daemon, index_build, segment_hot, semantic_hot, sentences
from waiting import eventually

SOURCES = Path(semantic_hot.__file__).parents[2]
PATIENCE = 60.0


class TinyModel:
    """Words about the same subject have the same direction; all else adds a little of its own."""

    name = "tiny"
    SUBJECTS = (("release", "publish", "live", "deploy"), ("cat", "dog", "pet"), ("login", "password"))

    def __init__(self, delay=0.0):
        self.delay = delay

    def embed(self, texts):
        time.sleep(self.delay)
        for text in texts:
            values = [0.01] * 16
            for word in text.lower().split():
                for at, words in enumerate(self.SUBJECTS):
                    values[at] += word.strip(".,") in words
                values[8 + len(word) % 8] += 0.1
            yield values


def status(root):
    try:
        return semantic_hot.ask(root, {"op": "status"}, PATIENCE)
    except semantic_hot.AbsentError:
        return {}


@pytest.fixture
def root(tmp_path):
    fs_hot.makedirs(str(tmp_path / "root"))
    return str(tmp_path / "root")


@pytest.fixture
def run(root):
    """Starts daemons in threads; ends them."""
    threads = []

    def start(model=None, **more):
        thread = threading.Thread(target=daemon.serve, args=(root, lambda: model or TinyModel()), kwargs=more)
        thread.start()
        threads.append(thread)
        assert eventually(lambda: status(root).get("pid"))
        return thread

    yield start
    with contextlib.suppress(semantic_hot.AbsentError):  # it may have ended by itself
        semantic_hot.ask(root, {"op": "stop"}, PATIENCE)
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()


IN_A_PROCESS = """
import sys
sys.path[:0] = {paths!r}
from memtui.recall import daemon
from tests.recall.test_daemon import TinyModel
print(daemon.serve({root!r}, lambda: TinyModel({delay})), flush=True)
"""


def process(root, delay=0.0):
    code = IN_A_PROCESS.format(paths=[str(SOURCES), *map(str, Path(__file__).parents[1:3])], root=root, delay=delay)
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_its_answers_are_the_models_own_and_only_its_user_reaches_it(root, run, monkeypatch):
    run()
    for text in ("publish the release", "", "déjà vu 東京\n", "x" * 9000):
        answer = semantic_hot.ask(root, {"op": "embed", "text": text[: semantic_hot.MOST_TEXT]}, PATIENCE)
        assert bytes.fromhex(answer["row"]) == sentences.row(TinyModel(), text)
        assert answer["key"] == sentences.key_of("tiny")
    monkeypatch.setattr(daemon, "SUCCESSION", 0.05)
    pid = status(root)["pid"]
    assert daemon.serve(root, TinyModel) is False
    assert status(root)["pid"] == pid
    assert stat.S_IMODE(os.stat(semantic_hot.place(root)).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(semantic_hot.socket_of(root)).st_mode) == 0o600
    os.chmod(semantic_hot.place(root), 0o755)
    assert status(root) == {}
    daemon.private(root)  # as the next daemon does
    assert status(root)
    monkeypatch.setattr(semantic_hot, "user_of", lambda _: os.geteuid() + 1)
    assert status(root) == {}
    monkeypatch.undo()


@pytest.mark.slow
def test_it_ends_when_idle_and_leaves_no_socket(root, run):
    run(idle=0.3).join(PATIENCE)
    assert not os.path.exists(semantic_hot.socket_of(root))
    assert semantic_hot.closest(root, [], "text", 5) is None


def tell(root, data):
    """Send bytes as they are; the answer."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(semantic_hot.socket_of(root))
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        return connection.recv(1000)


def test_a_request_of_another_version_ends_it(root, run):
    thread = run()
    assert b"ended" in tell(root, b'{"op": "status", "version": "older"}\n')
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert not os.path.exists(semantic_hot.socket_of(root))


@pytest.mark.slow
def test_one_that_is_slow_is_not_waited_for(root, run):
    answers = threading.Event()

    class SlowModel(TinyModel):
        def embed(self, texts):
            answers.wait(PATIENCE)
            return super().embed(texts)

    run(SlowModel())
    assert semantic_hot.closest(root, [("none", 1, ())], "text", 5) is None
    answers.set()


@pytest.mark.parametrize("nonsense", [b"", b"nonsense\n", b"[]\n", b'{"version": 1, "v": 2}\n', b"\xff" * 70_000])
def test_nonsense_harms_only_its_own_connection(root, run, nonsense):
    run()
    with contextlib.suppress(ConnectionError):
        tell(root, nonsense)
    assert eventually(lambda: not os.path.exists(semantic_hot.socket_of(root)) or status(root))


@pytest.mark.slow
def test_one_killed_during_a_request_costs_nothing_and_is_replaced(root, run):
    killed = process(root, delay=30)
    assert eventually(lambda: status(root))
    threading.Timer(0.03, killed.send_signal, [signal.SIGKILL]).start()
    begin = time.monotonic()
    with pytest.raises(semantic_hot.AbsentError):
        semantic_hot.ask(root, {"op": "embed", "text": "hello"}, PATIENCE)
    assert time.monotonic() - begin < PATIENCE / 2
    killed.communicate()
    assert os.path.exists(semantic_hot.socket_of(root))  # stale
    assert semantic_hot.closest(root, [("none", 1, ())], "text", 5) is None
    run()
    assert status(root)["pid"] == os.getpid()


def test_a_model_that_cant_be_loaded_is_noted(root):
    def load():
        raise MemtuiError("no such model")

    with pytest.raises(MemtuiError):
        daemon.serve(root, load)
    assert "no such model" in Path(semantic_hot.place(root), "failed").read_text()
    assert status(root) == {}


# Vectors of memories


@pytest.fixture
def memories(root, tmp_path):
    directory = tmp_path / "memory"
    directory.mkdir()
    texts = {"cd": "How we publish.", "pets": "The cat and the dog.", "auth": "A password is needed."}
    for name, text in texts.items():
        (directory / f"{name}.md").write_text(f"---\nname: {name}\ndescription: {text}\n---\n{text}\n")
    index_build.bring_up_to_date(root, str(directory))
    return str(directory)


def segments(root, directory):
    manifest = segment_hot.read_manifest(root, directory)
    return [(entry["name"], entry["number"], ()) for entry in manifest.segments]


def files(root, directory, numbers):
    opened = segment_hot.Segment(root, segment_hot.read_manifest(root, directory).segments[0])
    found = [opened.row(number)[0] for number in numbers]
    opened.close()
    return found


@pytest.mark.slow
def test_the_nearest_memories_are_found_by_sentences(root, run, memories, monkeypatch):
    monkeypatch.setattr(semantic_hot, "PATIENCE", PATIENCE)
    run()
    assert semantic_hot.closest(root, segments(root, memories), "deploy it", 5) is None
    semantic_hot.ask(root, {"op": "fill", "directories": [memories]}, PATIENCE)
    assert eventually(lambda: not status(root)["waiting"])
    monkeypatch.setattr(semantic_hot.ask, "__defaults__", (PATIENCE,))
    (cosines,) = semantic_hot.closest(root, segments(root, memories), "go live", 5)
    assert files(root, memories, [max(cosines, key=cosines.get)]) == ["cd.md"]


def test_what_was_made_is_kept_for_the_next_segment(root, memories):
    asked = []

    def make(text):
        asked.append(text)
        return sentences.row(TinyModel(), text)

    filler = sentences.Filler(root, TinyModel(), make)
    assert filler.fill(memories) == 3
    before = len(asked)
    assert filler.fill(memories) == 0
    Path(memories, "new.md").write_text("---\nname: new\ndescription: A dog.\n---\nA dog.\n")
    index_build.bring_up_to_date(root, memories)
    filler.fill(memories)
    assert len(asked) == before + 1
    kept = os.listdir(f"{root}/recall/sentences")
    assert sorted(kept) == sorted(f"{name}.{filler.key}" for name, *_ in segments(root, memories))


@pytest.mark.parametrize("harm", [b"", b"x", b"memtui sentences"])
def test_a_damaged_file_is_no_file_and_made_again(root, memories, harm):
    filler = sentences.Filler(root, TinyModel())
    filler.fill(memories)
    (path,) = Path(root, "recall/sentences").iterdir()
    whole = path.read_bytes()
    path.write_bytes(harm or whole[:-1])
    with pytest.raises(OSError):
        semantic_hot.Sentences(str(path), 3)
    filler.fill(memories)
    assert path.read_bytes() == whole


def test_a_memory_that_changed_since_has_no_vectors(root, memories):
    Path(memories, "cd.md").write_text("other")
    sentences.Filler(root, TinyModel()).fill(memories)
    (path,) = Path(root, "recall/sentences").iterdir()
    assert sorted(bool(made.rows) for made in sentences.read(str(path))) == [False, True, True]


def test_texts_are_divided_with_an_overlap_and_nothing_is_lost():
    words = [f"word{at}" for at in range(1000)]
    found = sentences.passages([" ".join(words), "", "a trigger"])
    assert found[-1] == "a trigger"
    assert {word for passage in found for word in passage.split()} >= set(words)
    assert all(len(passage) <= sentences.PASSAGE for passage in found)
    assert len(sentences.passages(["東" * 100_000])) == sentences.MOST_PASSAGES
