"""The indexes of memories are brought up to date by whoever changes memories, in a process that nobody waits for."""

import os

import pytest

from memtui.recall import bindings_hot, index_build, query_hot
from memtui.recall_preview import Recalling
from memtui.rules import enforced_hot
from memtui.store import index_requests
from memtui.store.journal.journal import Journal
from memtui.store.store import Store
from memtui.worker import main
from memtui.workspace import Workspace
from waiting import eventually


@pytest.fixture
def world(tmp_path):
    class World:
        root = str(tmp_path / "root")
        directory = str(tmp_path / "config" / "memory")
        cwd = str(tmp_path)

        def __init__(self):
            self.env = {"HOME": self.cwd, "CLAUDE_CONFIG_DIR": self.cwd + "/config", "MEMTUI_HOME": self.root}

        def write(self, name, text):
            os.makedirs(self.directory, exist_ok=True)
            with open(f"{self.directory}/{name}.md", "w") as file:
                file.write(f"---\nname: {name}\ndescription: {text}\n---\n")

        def names(self, text):
            return [hit.name for hit in query_hot.search(self.root, [("global", self.directory)], text)]

    return World()


def test_a_worker_makes_the_index_of_a_session(world):
    world.write("release", "How to publish")
    main.run(world.env, {"session_id": "s1", "cwd": world.cwd}, "SessionStart", ("recall",))
    assert world.names("publish it") == ["release"]


def test_a_change_made_through_memtui_asks_for_the_index_once(world, monkeypatch):
    started = []
    monkeypatch.setattr(index_requests, "start", lambda root, due: due and started.append(due))
    world.write("release", "How to publish")
    store = Store(world.env, world.cwd)
    store.create(store.scope("global"), "coffee", "Where it is", "reference", "In the kitchen.")
    assert started == []  # there is no index yet
    index_build.bring_up_to_date(world.root, world.directory)
    store.delete(store.find("coffee"))
    store.delete(store.find("release"))
    assert started == [[world.directory]]


@pytest.mark.slow
def test_a_change_made_through_memtui_is_found_soon_after(world):
    world.write("release", "How to publish")
    index_build.bring_up_to_date(world.root, world.directory)
    store = Store(world.env, world.cwd)
    store.create(store.scope("global"), "coffee", "Where the espresso machine is", "reference", "In the kitchen.")
    assert eventually(lambda: world.names("espresso")[:1] == ["coffee"])
    assert Journal(world.root).unfinished() is None


def test_what_a_dry_run_of_recall_indexes_is_listed_for_the_hooks(world):
    """`memtui recall` and the screen of the same name find a change first; no worker sees it as one after that."""
    world.write("release", "How to publish\nforbids: [npm install]")
    assert Recalling(Workspace(world.env, world.cwd, by="cli")).bring_up_to_date() == 1
    row = {"never": {"command": "npm * install *"}, "enforce": "refuse"}
    assert bindings_hot.listed(world.root, enforced_hot.FILE) == {world.directory: {"release.md": [row]}}
    world.write("release", "How to publish\nrules:\n- never: {path: dist/**}\n- never: {path: lib/*}\n  enforce: ask")
    Recalling(Workspace(world.env, world.cwd, by="cli")).bring_up_to_date()
    row = {"never": {"path": "lib/*"}, "enforce": "ask"}
    assert bindings_hot.listed(world.root, enforced_hot.FILE) == {world.directory: {"release.md": [row]}}


@pytest.mark.parametrize("damage", [os.unlink, lambda path: os.truncate(path, 0)])
def test_a_list_for_the_hooks_that_is_lost_is_made_again(world, damage):
    """As after a power failure: these files are not waited for."""
    world.write("release", "How to publish\nforbids: [npm install]")
    run = lambda: main.run(world.env, {"session_id": "s1", "cwd": world.cwd}, "SessionStart", ("recall",))
    run()
    listed = bindings_hot.listed(world.root, enforced_hot.FILE)
    assert listed
    damage(f"{world.root}/{enforced_hot.FILE}")
    assert bindings_hot.listed(world.root, enforced_hot.FILE) == {}
    run()
    assert bindings_hot.listed(world.root, enforced_hot.FILE) == listed


def test_a_long_index_starts_the_time_limit_of_a_worker_again(world, monkeypatch):
    monkeypatch.setattr(index_build, "STEP", 1)
    for name in ("release", "coffee", "harbour"):
        world.write(name, "How to publish")
    limits = []
    main.run(world.env, {"session_id": "s1", "cwd": world.cwd}, "SessionStart", ("recall",), lambda: limits.append(1))
    assert len(limits) > 3
    assert len(world.names("publish it")) == 3
