"""A worker that is killed while it learns from use leaves whole rows, and the next one counts each use once."""

import shutil

import pytest

from hooks.killing import Child, every_point
from memtui.recall import bindings
from memtui.store import sidecars
from memtui.worker import index_updates, recall_uses

from .test_trigger_learning import SHIP, World

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


@pytest.fixture
def world(tmp_path):
    (tmp_path / "home").mkdir()
    return World(tmp_path / "home")


@pytest.fixture
def copies(world, tmp_path):
    """A function that keeps the data root as it is, and gives another one, which puts it there again."""

    def keep():
        shutil.copytree(world.root, tmp_path / "copy")

        def reset():
            shutil.rmtree(world.root)
            shutil.copytree(tmp_path / "copy", world.root)

        return reset

    return keep


def rows(world):
    return {kind: sidecars.rows(world.root, kind, str(world.auto)) for kind in sidecars.KINDS}


def test_wherever_learning_is_killed_the_next_one_completes_it(world, copies):
    world.memory("deploy")
    world.asks("which job ships the shop?")
    world.opens()
    world.asks("and where does it ship to, then?", "p2")
    recall_uses.learn(world.env, world.root)
    before = rows(world)
    for number, name in enumerate(("ci", "deploy"), 3):
        world.asks(SHIP, f"p{number}")
        world.opens(name, f"p{number}")
    reset = copies()
    recall_uses.learn(world.env, world.root)
    after = rows(world)
    assert after != before
    assert len(after[sidecars.TRIGGERS]) == 2

    def run(point):
        reset()
        child = Child(lambda: recall_uses.learn(world.env, world.root), point=point).wait()
        there = rows(world)
        for kind in sidecars.KINDS:
            assert there[kind] in (before[kind], after[kind])
        recall_uses.learn(world.env, world.root)
        assert rows(world) == after
        return not child.killed

    assert every_point(run) > 5


@pytest.mark.slow
def test_a_worker_killed_anywhere_leaves_whole_lists_the_next_completes(world, copies):
    """Nothing changes between the two: the next worker finds an index that is up to date."""
    where = [("auto", str(world.auto))]

    def lists():
        return [bindings.listed(world.root, file) for file in index_updates.COLUMNS]

    def says(words):
        head = f"---\nname: ci\ndescription: About ci\npaths: [{words}/*]\nforbids: [{words}]\n---\n\nText.\n"
        (world.auto / "ci.md").write_text(head)

    says("old")
    index_updates.update(world.root, where)
    before = lists()
    says("new one")
    reset = copies()
    index_updates.update(world.root, where)
    after = lists()
    assert [each[str(world.auto)] for each in before] == [{"ci.md": ["old/*"]}, {"ci.md": ["old"]}]
    assert [each[str(world.auto)] for each in after] == [{"ci.md": ["new one/*"]}, {"ci.md": ["new one"]}]

    def run(point):
        reset()
        child = Child(lambda: index_updates.update(world.root, where), point=point).wait()
        for listed, *whole in zip(lists(), before, after, strict=True):
            assert listed in whole
        index_updates.update(world.root, where)
        assert lists() == after
        return not child.killed

    assert every_point(run) > 5
