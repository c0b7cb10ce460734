"""SIGKILL at random points while proposals are applied: it is done or not, the next start finishes or takes back what was
begun, and one undo restores every byte."""

import shutil

import pytest

import turns
from memtui.store.journal import undo
from memtui.store.store import Store
from memtui.tidy import changeset
from memtui.tidy.checks import lint
from store.test_store_kill import random_kills, run_killed

from .stores import World, text_of
from .test_problems import fix, made, over_limit, subject

pytestmark = [pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")]
RUNS = len(turns.share(range(500)))  # a quarter of them, in turn


def planned(world):
    """Proposals of all kinds, in two scopes."""
    return (
        world.proposal("merge", ["a.md", "b.md"], {"a.md": text_of("a", "Both", "[[c]]\n" * 500), "b.md": None}),
        world.proposal("rewrite", ["c.md"], {"c.md": text_of("c")}),
        world.proposal("archive", ["d.md"], {"d.md": None, ".archive/d.md": world.read("d.md")}),
        world.proposal("delete", ["f.md"], {"f.md": None}),
        world.proposal(
            "merge", ["e.md", "g.md"], {"e.md": None, "g.md": None, f"{world.everywhere}/g.md": text_of("g")}
        ),
        world.proposal("relink", ["MEMORY.md"], {"MEMORY.md": world.text("MEMORY.md").replace("# Index", "# All")}),
    )


def reset_to_copy(world):
    """Return what puts a world back to how it is now."""
    copy = f"{world.top}-kept"
    shutil.copytree(world.top, copy)

    def reset():
        shutil.rmtree(world.top)
        shutil.copytree(copy, world.top)

    return reset


def all_or_nothing(world, operation, runs):
    """Kill an operation at random points: all of it is done or nothing, and what is done one undo takes back."""
    before, reset = world.files(), reset_to_copy(world)
    run_killed(operation, None)
    after = world.files()
    assert after != before
    outcomes = set()
    for _ in random_kills(operation, reset, runs):
        store = Store(world.env, world.repo)
        assert store.problem is None
        assert store.journal.unfinished() is None
        now = world.files()
        assert now in (before, after)
        outcomes.add(now == after)
        if now == after:
            assert (undo.run(store.journal, "undo").first().op, world.files()) == ("consolidate", before)
    assert outcomes == {True, False}


@pytest.mark.kill
def test_proposals_killed_at_random_points(tmp_path):
    links = "".join(f"See [[{name}]].\n" for name in "abcdef")
    files = {f"{name}.md": text_of(name, body=links * 20) for name in "abcdefg"}
    index = "# Index\n" + "".join(f"- [{name}]({name}.md) — About {name}\n" for name in "abcdefg")
    world = World(f"{tmp_path}/home", {**files, "MEMORY.md": index})
    proposals = planned(world)

    def operation():
        assert len(changeset.apply(Store(world.env, world.repo), proposals).made) == len(proposals)

    all_or_nothing(world, operation, RUNS)


@pytest.mark.kill
def test_a_fix_of_an_index_killed_at_random_points(tmp_path):
    world = made(f"{tmp_path}/home")
    own, problem = subject(world), over_limit(world)
    lint.check(own)
    all_or_nothing(world, lambda: fix(Store(world.env, world.repo), own, problem), RUNS // 2)
