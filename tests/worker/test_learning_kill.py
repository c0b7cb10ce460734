"""A worker that is killed while it learns from use leaves whole rows, and the next one counts each use once."""

import shutil

import pytest

from hooks.killing import Child, every_point
from memtui.recall import bindings, index_build
from memtui.store import sidecars
from memtui.worker import index_updates, trigger_learning

from .test_trigger_learning import SHIP, World

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


@pytest.fixture
def world(tmp_path):
    (tmp_path / "home").mkdir()
    return World(tmp_path / "home")


def rows(world):
    return {kind: sidecars.rows(world.root, kind, str(world.auto)) for kind in sidecars.KINDS}


def test_wherever_learning_is_killed_the_next_one_completes_it(world, tmp_path):
    world.memory("deploy")
    world.asks("which job ships the shop?")
    world.opens()
    world.asks("and where does it ship to, then?", "p2")
    trigger_learning.learn(world.env, world.root)
    before = rows(world)
    for number, name in enumerate(("ci", "deploy"), 3):
        world.asks(SHIP, f"p{number}")
        world.opens(name, f"p{number}")
    shutil.copytree(world.root, tmp_path / "kept")

    def reset():
        shutil.rmtree(world.root)
        shutil.copytree(tmp_path / "kept", world.root)

    trigger_learning.learn(world.env, world.root)
    after = rows(world)
    assert after != before
    assert len(after[sidecars.TRIGGERS]) == 2

    def run(point):
        reset()
        child = Child(lambda: trigger_learning.learn(world.env, world.root), point=point).wait()
        there = rows(world)
        for kind in sidecars.KINDS:
            assert there[kind] in (before[kind], after[kind])
        trigger_learning.learn(world.env, world.root)
        assert rows(world) == after
        return not child.killed

    assert every_point(run) > 5


def test_wherever_the_listing_of_bound_memories_is_killed_it_is_the_old_one_or_the_new_one(world, tmp_path):
    def binds(*globs):
        head = f"---\nname: ci\ndescription: About ci\npaths: [{', '.join(globs)}]\n---\n\nText.\n"
        (world.auto / "ci.md").write_text(head)
        index_build.bring_up_to_date(world.root, str(world.auto), table=None)

    binds("old/*")
    index_updates.list_bound(world.root, [str(world.auto)])
    before = bindings.listed(world.root, bindings.PATHS)
    binds("new/*")
    shutil.copytree(world.root, tmp_path / "kept")
    index_updates.list_bound(world.root, [str(world.auto)])
    after = bindings.listed(world.root, bindings.PATHS)
    assert before != after
    assert before.keys() == after.keys() == {str(world.auto)}

    def run(point):
        shutil.rmtree(world.root)
        shutil.copytree(tmp_path / "kept", world.root)
        child = Child(lambda: index_updates.list_bound(world.root, [str(world.auto)]), point=point).wait()
        assert bindings.listed(world.root, bindings.PATHS) in (before, after)
        index_updates.list_bound(world.root, [str(world.auto)])
        assert bindings.listed(world.root, bindings.PATHS) == after
        return not child.killed

    assert every_point(run) >= 2


def test_wherever_a_worker_that_indexes_is_killed_the_next_one_lists_what_is_bound_and_what_is_forbidden(
    world, tmp_path
):
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
    shutil.copytree(world.root, tmp_path / "kept")
    index_updates.update(world.root, where)
    after = lists()
    assert [each[str(world.auto)] for each in before] == [{"ci.md": ["old/*"]}, {"ci.md": ["old"]}]
    assert [each[str(world.auto)] for each in after] == [{"ci.md": ["new one/*"]}, {"ci.md": ["new one"]}]

    def run(point):
        shutil.rmtree(world.root)
        shutil.copytree(tmp_path / "kept", world.root)
        child = Child(lambda: index_updates.update(world.root, where), point=point).wait()
        index_updates.update(world.root, where)
        assert lists() == after
        return not child.killed

    assert every_point(run) > 5
