"""A sudden end at random points of every writer of the store: nothing is lost, every file is readable, and the next start
finishes or takes back what was begun.

Children are forked from this warm process, so that a run costs a few milliseconds.
"""

import gc
import os
import random
import shutil
import signal
import time

import pytest

import turns
from memtui.base import fastjson_hot, fs_hot
from memtui.inbox import file_hot, format_hot
from memtui.store import triggers, trust_grants, trust_hot
from memtui.store.journal import undo
from memtui.store.journal.changes import FileChange
from memtui.store.journal.text_edit import TextEdit
from memtui.store.store import Store

pytestmark = [
    pytest.mark.kill,
    # A parallel test runner has a thread of its own, which the children never touch.
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning"),
]

RUNS = len(turns.share(range(500), turns.TURNS))
ONE = b"---\nname: one\ndescription: first\nmetadata:\n  type: user\n---\nSee [[two]].\n"
TWO = b"---\nname: two\ndescription: second\ntype: project\n---\n" + b"A line of some length for [[one]].\n" * 200
INDEX = b"# Index\n- [one](one.md) - first\n- [two](two.md) - second\n"


class World:
    """A small store in a directory of its own, which can be put back to how it was."""

    def __init__(self, top):
        self.top = top
        self.env = {"HOME": top}
        self.repo = f"{top}/repo"
        self.project = f"{self.repo}/.claude/memory"
        self.root = f"{top}/.claude/memtui"
        self.updates = f"{self.root}/global/pending-updates.md"
        os.makedirs(f"{self.repo}/.git")
        for name, data in {"one.md": ONE, "two.md": TWO, "MEMORY.md": INDEX}.items():
            fs_hot.write_atomic(f"{self.project}/{name}", data, durable=False)
        for text in ("Use pnpm", "Never npm"):
            file_hot.add_entry(f"{self.root}/global", "updates", {}, text)
        trust_grants.grant(self.root, self.project)

    @property
    def store(self):
        return Store(self.env, self.repo)

    def undo(self):
        return undo.run(self.store.journal, "undo").first()

    def redo(self):
        return undo.run(self.store.journal, "redo").first()

    def all(self):
        found = {}
        for place, _, names in os.walk(self.top):
            for name in names:
                found[f"{place}/{name}"] = fs_hot.read_bytes(f"{place}/{name}")
        return found

    def files(self):
        """What a person has: the memories with their triggers, the indexes and the inbox."""
        texts = {path: data for path, data in self.all().items() if path.endswith(".md")}
        return texts | {"triggers": {file: [each.text for each in found] for file, found in self.triggers().items()}}

    def triggers(self):
        return triggers.lines_of(self.root, self.project)

    def reset(self, files):
        shutil.rmtree(self.top)
        os.makedirs(f"{self.repo}/.git")
        for path, data in files.items():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)


def nothing(world):
    pass


def deleted(world):
    world.store.delete(world.store.find("one"))


def renamed(world):
    world.store.rename(world.store.find("one"), "uno")


def undone(world):
    renamed(world)
    world.undo()


def approve(world):
    """What a review does: an entry out of the inbox and a new memory, in one step."""
    entry = format_hot.read(world.updates)[0]
    path = f"{world.top}/.claude/memory/pnpm.md"
    changes = [FileChange(path, None, b"Use pnpm\n"), TextEdit(world.updates, entry.raw, "", "", 0)]
    world.store.journal.run("approve", changes, "approve")


def triggered(world):
    triggers.change(world.store, world.store.find("one"), ["put it live"])


WRITERS = {
    "create": (nothing, lambda w: w.store.create(w.store.scope("project"), "three", "third", "user", "text")),
    "edit": (nothing, lambda w: w.store.edit(w.store.find("one"), {"description": "other", "body": "x\n" * 5000})),
    "retype": (nothing, lambda w: w.store.edit(w.store.find("two"), {"type": "user"}, op="retype")),
    "rename": (nothing, renamed),
    "move": (nothing, lambda w: w.store.move(w.store.find("two"), w.store.scope("global"))),
    "copy": (nothing, lambda w: w.store.copy(w.store.find("two"), w.store.scope("global"))),
    "delete": (nothing, deleted),
    "restore": (deleted, lambda w: w.store.restore(w.store.trash()[0].id)),
    "purge": (deleted, lambda w: w.store.purge(w.store.trash()[0].id)),
    "undo": (renamed, lambda w: w.undo()),
    "redo": (undone, lambda w: w.redo()),
    "transaction": (nothing, approve),
    "recovery": (None, lambda w: w.store.scopes()),
    "triggers": (nothing, triggered),
    "rename with triggers": (triggered, renamed),
    "delete with triggers": (triggered, deleted),
    "trust": (nothing, lambda w: trust_grants.grant(w.root, w.project, {"three.md": b"three\n"})),
}


UNDOABLE = {"create", "edit", "retype", "rename", "move", "copy", "delete", "restore", "transaction", "triggers"}


@pytest.fixture
def world(tmp_path):
    return World(f"{tmp_path}/home")


def run_killed(operation, delay):
    """Fork, let the child do it, end it after `delay` seconds (None: let it end); whether it had ended by itself, and
    the seconds that it took.

    The kernel ends it by the child's own alarm, as by a SIGKILL: this process may wait for its turn on a busy machine.
    """
    ready, go = os.pipe()
    pid = os.fork()
    if not pid:
        code = 1
        try:
            gc.disable()
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            os.write(go, b"x")
            if delay is not None:
                signal.setitimer(signal.ITIMER_REAL, max(delay, 1e-6))
            operation()
            code = 0
        finally:
            os._exit(code)
    os.close(go)
    os.read(ready, 1)
    os.close(ready)
    start = time.perf_counter()
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the operation failed by itself"
    return not os.WIFSIGNALED(status), time.perf_counter() - start


def random_kills(operation, reset, runs):
    """Kill an operation at a random point that many times, each time in a world that was put back, and yield after each."""
    times = []
    for _ in range(5):
        reset()
        times.append(run_killed(operation, None)[1])
    took = sorted(times)[2]  # this process may notice late that the child began, and take it for quick
    seed = random.randrange(1 << 32)
    print("seed", seed)
    chance = random.Random(seed)
    ended = 0
    for _ in range(runs):
        reset()
        by_itself, _ = run_killed(operation, chance.uniform(0, took))
        ended += by_itself
        # However busy the machine is by now: about a third shall come to their end.
        took *= 0.55 if by_itself else 1.3
        yield
    assert ended < runs * 0.7, "most were killed at work"


def half_done(world):
    """Leave the intent of a rename with its first change made: the new file stands beside the old one."""
    before = world.files()
    renamed(world)
    with open(f"{world.root}/journal.jsonl", "rb") as file:
        intent = file.readline()
    after = world.files()
    for path, data in before.items():
        if path.endswith(".md"):
            fs_hot.write_atomic(path, data)
    fs_hot.write_atomic(f"{world.root}/journal.jsonl", intent)
    assert set(world.files()) > set(before)
    return before, after


@pytest.mark.parametrize("name", WRITERS)
def test_killed_at_random_points(world, name):
    prepare, operation = WRITERS[name]
    possible = []
    if prepare is None:
        possible += half_done(world)
    else:
        prepare(world)
    start = world.all()
    before = world.files()
    run_killed(lambda: operation(world), None)
    after = world.files()
    possible += [before, after]
    outcomes = []
    for _ in random_kills(lambda: operation(world), lambda: world.reset(start), RUNS):
        store = world.store
        assert store.problem is None
        assert store.journal.unfinished() is None
        found = world.files()
        assert found in possible
        outcomes.append(found == after)
        check_readable(world, store)
        if name in UNDOABLE and found == after:
            assert world.undo().op == {"transaction": "approve"}.get(name, name)
            assert world.files() == before
    # Where the files change, both ends were seen.
    if prepare is not None and before != after:
        assert 0 < sum(outcomes) < RUNS


def check_readable(world, store):
    ledger = store.journal.ledger()
    assert ledger.skipped <= 1
    assert all(each.state != "intent" for each in ledger.transactions.values())
    for each in ledger.transactions.values():
        if each.state in {"done", "undone"} and each.op != "purge":
            store.journal.changes_of(each.record)  # every content is there
    if os.path.exists(trust_hot.path(world.root)):
        assert isinstance(fastjson_hot.loads(fs_hot.read_bytes(trust_hot.path(world.root))), dict)
    for place in (world.project, f"{world.top}/.claude/memory"):
        left = os.listdir(place) if os.path.isdir(place) else []
        assert [each for each in left if not each.endswith(".md")] == []
    for item in store.trash():
        assert item.memory.raw == ONE
