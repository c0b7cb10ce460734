"""Problems by cause, and the fix of a MEMORY.md that is over its limit: whole, journaled, undone byte by byte."""

import pytest

from memtui.recall import places_hot
from memtui.store.index.index import MAX_LINES, budget, parse_index
from memtui.store.journal import undo
from memtui.store.memory import read_memory
from memtui.store.status import Usage
from memtui.tidy import changeset
from memtui.tidy.checks import lint, lint_fixes

from .stores import World, text_of

MORE = 30
NOW = 1_795_000_000.0


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
    changeset.apply(store, planned)
    return planned


def test_an_index_over_its_limit_is_one_problem_whose_fix_undo_takes_back(world):
    problem = over_limit(world)
    assert problem.sentence == f"MEMORY.md of auto is over its limit: {MORE + 2} memories not loaded."
    assert (problem.action, problem.remedy, len(problem.memories)) == ("fix", "memtui check --fix", MORE + 2)
    before = world.files()
    (planned,) = fix(world.store, subject(world), problem)
    assert planned.files[0].after == world.read("MEMORY.md")
    assert budget(world.read("MEMORY.md")).cut_line is None
    assert {path for path, data in world.files().items() if before.get(path) != data} == {world.path("MEMORY.md")}
    assert not [each for each in causes(subject(world)) if each.cause in {"memories.cut", "memories.no_line"}]
    # Recall still looks at what the index leaves out.
    lines = parse_index(world.read("MEMORY.md")).recall_only
    assert len(lines) == MORE + 2
    assert ("auto", world.auto) in places_hot.of_prompt(world.env, world.root, world.repo)
    assert all(read_memory(world.path(line.target), "auto").broken is None for line in lines)
    undo.run(world.store.journal, "undo")
    assert world.files() == before


def test_memories_that_no_index_lists_are_all_listed_in_one_fix(tmp_path):
    names = [f"m{number:04}" for number in range(2 * MAX_LINES)]
    world = World(f"{tmp_path}/home", {**{f"{name}.md": text_of(name) for name in names}, "MEMORY.md": "# Shop\n"})
    own = subject(world)
    changeset.apply(world.store, lint_fixes.plan(own, lint.check(own)))
    index = parse_index(world.read("MEMORY.md"))
    assert [each.target for each in index.lines_of_memories] == [f"{name}.md" for name in names]
    assert budget(world.read("MEMORY.md")).cut_line is None
    assert len(index.recall_only) > MAX_LINES
