"""SIGKILL at random points while proposals are applied: it is done or not, the next start finishes or takes back what was
begun, and one undo restores every byte."""

import random
import shutil
import statistics

import pytest

import turns
from memtui.store.journal import undo
from memtui.store.store import Store
from memtui.tidy import composed_files
from store.test_store_kill import run_killed

from .stores import World, text_of

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning"),
]
RUNS = len(turns.share(range(500)))  # a quarter of them, in turn
QUICK = 40


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


def killed_at_random_points(top, runs):
    links = "".join(f"See [[{name}]].\n" for name in "abcdef")
    files = {f"{name}.md": text_of(name, body=links * 20) for name in "abcdefg"}
    index = "# Index\n" + "".join(f"- [{name}]({name}.md) — About {name}\n" for name in "abcdefg")
    world = World(top, {**files, "MEMORY.md": index})
    found = planned(world)
    before = world.files()
    kept = f"{top}-kept"
    shutil.copytree(world.top, kept)

    def reset():
        shutil.rmtree(world.top)
        shutil.copytree(kept, world.top)

    def operation():
        assert len(composed_files.apply(Store(world.env, world.repo), found).made) == len(found)

    times = []
    for _ in range(5):
        reset()
        times.append(run_killed(operation, None)[1])
    after = world.files()
    assert after != before
    took = statistics.median(times)
    seed = random.randrange(1 << 32)
    print("seed", seed)
    chance = random.Random(seed)
    ended, outcomes = 0, []
    while len(outcomes) < runs or (not any(outcomes) and len(outcomes) < 4 * runs):  # `took` may be far off at first
        reset()
        by_itself, _ = run_killed(operation, chance.uniform(0, took))
        ended += by_itself
        took *= 0.9 if by_itself else 1.035
        store = Store(world.env, world.repo)
        assert store.problem is None
        assert store.journal.unfinished() is None
        now = world.files()
        assert now in (before, after)
        outcomes.append(now == after)
        if now == after:
            assert undo.run(store.journal, "undo").first().op == "consolidate"
            assert world.files() == before
    assert ended < len(outcomes) * 0.7
    assert 0 < sum(outcomes) < len(outcomes)


@pytest.mark.kill
def test_killed_at_random_points(tmp_path):
    killed_at_random_points(f"{tmp_path}/home", RUNS)


@pytest.mark.slow
def test_killed_at_some_points(tmp_path):
    killed_at_random_points(f"{tmp_path}/home", QUICK)
