"""What was delivered under an earlier name of a memory counts for the memory."""

import pytest

from memtui.deliver.statistics import Statistics
from memtui.store.journal import undo
from memtui.store.journal.changes import FileChange
from memtui.store.journal.journal import Journal
from memtui.store.status import Usage
from memtui.store.versions import moves
from recalls import deliver


class World:
    """A directory of memories, its journal, and a clock that goes on by a second with each change."""

    def __init__(self, top):
        self.root = str(top / "memtui")
        self.top = top / "memory"
        self.top.mkdir()
        self.time = 1_790_000_000.0
        self.journal = Journal(self.root, by="test", now=lambda: self.time)

    def path(self, name):
        return f"{self.top}/{name}.md"

    def tick(self):
        self.time += 1.0

    def make(self, name, text=b"one", op="new"):
        self.tick()
        return self.journal.run(op, [FileChange(self.path(name), None, text)], f"{op} {name}")

    def remove(self, name, text=b"one"):
        self.tick()
        return self.journal.run("delete", [FileChange(self.path(name), text, None)], f"delete {name}")

    def rename(self, old, new, text=b"one"):
        self.tick()
        changes = [FileChange(self.path(new), None, text), FileChange(self.path(old), text, None)]
        return self.journal.run("rename", changes, f"rename {old} to {new}")

    def deliver(self, name, via=None):
        self.tick()
        item = {"kind": "recall", "id": name, "path": f"{via or self.top}/{name}.md"}
        deliver(self.root, self.time, item, chars=1)

    def counts(self):
        """The deliveries by the name of the memory."""
        usage = {path: found.deliveries for path, found in Usage(self.root).memories.items()}
        return {path.rpartition("/")[2].removesuffix(".md"): count for path, count in usage.items()}


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def test_deliveries_follow_a_memory_through_all_its_names_and_back(world):
    (world.top / "a.md").write_bytes(b"one")
    world.deliver("a")
    world.rename("a", "b")
    world.deliver("b")
    second = world.rename("b", "c")
    world.deliver("c")
    assert world.counts() == {"c": 3}
    world.tick()
    undo.run(world.journal, "undo", second)
    assert world.counts() == {"b": 3}
    world.deliver("b")
    world.tick()
    undo.run(world.journal, "redo")
    assert world.counts() == {"c": 4}


def test_another_memory_under_the_old_name_has_only_what_came_after(world):
    (world.top / "a.md").write_bytes(b"one")
    world.deliver("a")
    world.rename("a", "b")
    (world.top / "a.md").write_bytes(b"one")  # by the client
    world.deliver("a")
    assert world.counts() == {"a": 1, "b": 1}
    world.rename("a", "c")
    world.make("a")
    world.deliver("a")
    assert world.counts() == {"a": 1, "b": 1, "c": 1}


def test_a_memory_in_the_trash_keeps_its_deliveries_if_its_name_was_reused(world):
    (world.top / "old.md").write_bytes(b"one")
    world.deliver("old")
    world.rename("old", "a")
    deleted = world.remove("a")
    assert world.counts() == {"a": 1}
    world.make("a")
    assert world.counts() == {}
    world.deliver("a")
    world.rename("a", "b")
    assert world.counts() == {"b": 1}
    world.tick()
    world.journal.run("restore", [FileChange(world.path("a"), None, b"one")], "restore a", of=deleted)
    assert world.counts() == {"a": 1, "b": 1}


def test_what_was_counted_is_counted_anew_after_a_rename(world):
    (world.top / "a.md").write_bytes(b"one")
    world.deliver("a")
    statistics = Statistics(world.root, lambda: world.time, lambda: moves.load(world.root))
    statistics.count(lambda _: True)
    world.rename("a", "b")
    statistics.count(lambda _: True)
    assert {path: counts.recalled for path, counts in statistics.recalls.memories.items()} == {world.path("b"): 1}
