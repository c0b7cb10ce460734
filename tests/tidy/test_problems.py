"""Problems by cause, and the fix of a MEMORY.md that is over its limit: whole, journaled, undone byte by byte, also killed."""

import random
import shutil
import statistics

import pytest

import turns
from memtui.recall import places
from memtui.store.index.index import MAX_LINES, budget, parse_index
from memtui.store.journal import undo
from memtui.store.memory import read_memory
from memtui.store.status import Usage
from memtui.store.store import Store
from memtui.tidy import composed_files, lint, lint_fixes
from store.test_store_kill import run_killed

from .stores import World, text_of

pytestmark = [pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")]
MORE = 30
NOW = 1_795_000_000.0
RUNS = len(turns.share(range(200)))  # a quarter of them, in turn
QUICK = 25


@pytest.fixture
def world(tmp_path):
    return made(f"{tmp_path}/home")


def made(top):
    names = [f"m{number}" for number in range(MAX_LINES + MORE)]
    index = "# Shop\n\n" + "".join(f"- [{name}]({name}.md) — Rule of {name}\n" for name in names)
    return World(top, {**{f"{name}.md": text_of(name) for name in names}, "MEMORY.md": index})


def subject(world):
    return lint.here(world.env, world.repo, world.root, NOW, Usage(world.root), set())


def causes(own):
    return lint_fixes.by_cause(lint.check(own))


def over_limit(world):
    (found,) = (each for each in causes(subject(world)) if each.cause == "memories.cut")
    return found


def fix(store, own, found):
    """Fix a problem as `memtui check --fix` does, and return the fixes of files."""
    own.memories or lint.check(own)
    planned = lint_fixes.plan(own, found.parts)
    composed_files.apply(store, planned)
    return planned


def test_an_index_over_its_limit_is_one_problem(world):
    found = over_limit(world)
    assert found.sentence == f"MEMORY.md of auto is over its limit: {MORE + 2} memories not loaded."
    assert (found.action, found.remedy, len(found.memories)) == ("fix", "memtui check --fix", MORE + 2)


def test_its_fix_is_one_change_and_undo_gives_the_bytes_back(world):
    before = world.files()
    own = subject(world)
    (done,) = fix(world.store, own, over_limit(world))
    assert done.files[0].after == world.read("MEMORY.md")
    assert budget(world.read("MEMORY.md")).cut_line is None
    assert {path for path, data in world.files().items() if before.get(path) != data} == {world.path("MEMORY.md")}
    assert not [each for each in causes(subject(world)) if each.cause in {"memories.cut", "memories.no_line"}]
    undo.run(world.store.journal, "undo")
    assert world.files() == before


def test_recall_still_looks_at_what_the_index_leaves_out(world):
    own = subject(world)
    fix(world.store, own, over_limit(world))
    kept = parse_index(world.read("MEMORY.md")).recall_only
    assert len(kept) == MORE + 2
    assert ("auto", world.auto) in places.of_prompt(world.env, world.root, world.repo)
    assert all(read_memory(world.path(each.target), "auto").broken is None for each in kept)


def test_memories_that_no_index_lists_are_all_listed_in_one_fix(tmp_path):
    names = [f"m{number:04}" for number in range(2 * MAX_LINES)]
    world = World(f"{tmp_path}/home", {**{f"{name}.md": text_of(name) for name in names}, "MEMORY.md": "# Shop\n"})
    own = subject(world)
    found = lint.check(own)
    composed_files.apply(world.store, lint_fixes.plan(own, found))
    index = parse_index(world.read("MEMORY.md"))
    assert [each.target for each in index.lines_of_memories] == [f"{name}.md" for name in names]
    assert budget(world.read("MEMORY.md")).cut_line is None
    assert len(index.recall_only) > MAX_LINES


def test_new_lines_of_others_do_not_unsettle_it(world):
    fix(world.store, subject(world), over_limit(world))
    world.write("MEMORY.md", world.text("MEMORY.md") + "- [m1 again](m1.md) — a line that Claude wrote\n")
    fix(world.store, subject(world), over_limit(world))
    assert budget(world.read("MEMORY.md")).cut_line is None
    assert world.text("MEMORY.md").count("<!--") == 1


def killed_at_random_points(top, runs):
    world = made(top)
    own, found = subject(world), over_limit(world)
    before, kept = world.files(), f"{top}-kept"
    shutil.copytree(world.top, kept)

    def reset():
        shutil.rmtree(world.top)
        shutil.copytree(kept, world.top)

    def operation():
        fix(Store(world.env, world.repo), own, found)

    own.memories or lint.check(own)
    times = []
    for _ in range(3):
        reset()
        times.append(run_killed(operation, None)[1])
    after = world.files()
    assert after != before
    took, seed = statistics.median(times), random.randrange(1 << 32)
    print("seed", seed)
    chance, outcomes = random.Random(seed), set()
    for _ in range(runs):
        reset()
        run_killed(operation, chance.uniform(took / 2, took * 1.1))
        store = Store(world.env, world.repo)
        assert store.problem is None
        assert store.journal.unfinished() is None
        now = world.files()
        assert now in (before, after)
        outcomes.add(now == after)
        if now == after:
            undo.run(store.journal, "undo")
            assert world.files() == before
    assert outcomes


@pytest.mark.kill
def test_killed_at_random_points(tmp_path):
    killed_at_random_points(f"{tmp_path}/home", RUNS)


@pytest.mark.slow
def test_killed_at_some_points(tmp_path):
    killed_at_random_points(f"{tmp_path}/home", QUICK)
