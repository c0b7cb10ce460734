"""What a SIGKILL leaves of the log and the contents of versions can be read, and the next look completes it: at a quarter of
the seeds, in turn (tests/turns.py)."""

import os
import random
import signal
import time

import pytest

import turns
from memtui.base import fastjson_hot, fs_hot, ids_hot
from memtui.store.history import Intake
from memtui.store.journal.journal import Journal
from memtui.store.versions import trash
from memtui.store.versions.versions import Versions, Writer

pytestmark = pytest.mark.kill
RUNS = 500
MOST_SECONDS = 0.025
AGENT = Writer("agent", "s1", "p1")
PERSON = Writer("person")


def look(root, directory):
    versions = Versions(root)
    Intake(versions, lambda version: AGENT).take_in(directory)
    return versions


def work(root, directory, seed):
    """Change memories and take them in, see some, forget some, without end."""
    choose = random.Random(seed)
    clock = 0
    while True:
        for _ in range(choose.randrange(1, 4)):
            clock += 1
            path = f"{directory}/{choose.choice('abc')}.md"
            if choose.random() < 0.2 and os.path.exists(path):
                os.unlink(path)
            else:
                fs_hot.write_atomic(path, b"x" * choose.randrange(1, 5000) + str(clock).encode(), durable=False)
        versions = look(root, directory)
        unseen = [now for _, now in versions.unseen([directory])]
        if unseen and choose.random() < 0.5:
            versions.see(unseen[:1])
        if choose.random() < 0.3:
            versions.forget(0.0, choose.randrange(1, 20_000))
            trash.sweep(Journal(root), versions)


def killed(root, directory, seed):
    child = os.fork()
    if not child:
        try:
            work(root, directory, seed)
        finally:
            os._exit(1)
    time.sleep(random.Random(seed).uniform(0.0, MOST_SECONDS))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "it failed by itself"


def seen_of(versions, directory):
    """The memories of which a person has seen a version."""
    return {each.path for file in versions.files(directory) for each in versions.of(directory, file) if each.seen}


def test_wherever_it_is_killed_the_log_and_the_contents_can_be_used(tmp_path):
    root, directory = str(tmp_path / "root"), str(tmp_path / "memory")
    os.mkdir(directory)
    look(root, directory)
    torn = 0
    for seed in turns.share(range(RUNS)):
        killed(root, directory, seed)
        lines = fs_hot.read_or_empty(f"{root}/versions.jsonl").split(b"\n")
        damaged = [line for line in lines if line and not fastjson_hot.loads_dict(line)]
        # A kill may tear the line that is being written; the next one does not lengthen it.
        assert len(damaged) <= torn + 1, f"run {seed}: torn within the log: {damaged[-1][:80]!r}"
        torn = len(damaged)
        before = Versions(root)
        before.follow()
        seen = seen_of(before, directory)
        versions = look(root, directory)
        for file in versions.files(directory):
            known = versions.of(directory, file)
            for each in known:
                versions.content(each)  # raises where it is missing or damaged
            there = fs_hot.read_or_empty(f"{directory}/{file}")
            assert known[-1].digest == (ids_hot.digest(there) if os.path.exists(f"{directory}/{file}") else ""), seed
        assert seen <= seen_of(versions, directory), f"run {seed}: what was seen is seen no more"
        again = Intake(versions, lambda version: PERSON).take_in(directory)
        assert again == [], f"run {seed}: the second look finds more"
