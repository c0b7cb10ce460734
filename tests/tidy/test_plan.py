"""The plan: what overlaps is merged, what lint can fix is fixed, what no longer helps goes; the same memories give the same
plan, and after it was applied there is nothing left to propose."""

import os
from dataclasses import replace

import pytest

from memtui.base import clock_hot
from memtui.store import sidecars, trust_grants
from memtui.store.status import Usage
from memtui.tidy import changeset, plan
from memtui.tidy.checks import lint
from tables import rows

from .stores import World, text_of

NOW = clock_hot.parse("2026-11-21T09:00:00Z")
BODIES = (
    "The lock file of npm breaks the frozen install of CI.",
    "A frozen install breaks with the lock file of npm on CI. Twice.",
)
PNPM = text_of("prefer-pnpm", "Use pnpm in this repository, never npm", BODIES[0])
AGAIN = text_of("pnpm-only", "Never npm: this repository uses pnpm", BODIES[1])
REVIEW = text_of("review", "What to look at first in a review", "Names, tests, then the error paths.")
INDEX = (
    "- [prefer-pnpm](prefer-pnpm.md) — packages\n- [pnpm-only](pnpm-only.md) — packages again\n"
    "- [review](review.md) — how to review\n- [gone](gone.md) — not there\n"
)


@pytest.fixture
def world(tmp_path):
    files = {"prefer-pnpm.md": PNPM, "pnpm-only.md": AGAIN, "review.md": REVIEW, "MEMORY.md": INDEX}
    return World(f"{tmp_path}", files)


def planned(world, **changed):
    subject = lint.here(world.env, world.repo, world.root, NOW, Usage(world.root), sidecars.kept_apart(world.root))
    subject = replace(subject, scopes=[replace(scope, **changed) for scope in subject.scopes])
    return plan.plan(world.store, subject)


def only(world, kind):
    return [each for each in planned(world).proposals if each.kind == kind]


@pytest.mark.parametrize(("one", "other"), rows(__file__, "memories that say the opposite are not merged but named"))
def test_memories_that_say_the_opposite_are_not_merged_but_named(world, one, other):
    world.write("one.md", text_of("one", "What the team does about it", one))
    world.write("other.md", text_of("other", "What the team does about it", other))
    found = planned(world)
    assert ["one" in str(each.data) for each in found.findings if each.code == "memories.contradict"] == [True]
    assert not [each for each in found.proposals if each.kind == "merge" and "one.md" in str(each.files)]


def test_empty_memories_go_and_expired_ones_are_archived(world):
    world.write("stub.md", text_of("stub", "A stub", "TODO"))
    old = text_of("old", "Freeze of the release")
    world.write("old.md", old.replace("metadata:", "expires: 2026-01-01\nmetadata:"))
    found = {os.path.basename(each.files[0].path): each.kind for each in planned(world).proposals}
    assert (found["stub.md"], found["old.md"]) == ("delete", "archive")
    assert not changeset.apply(world.store, planned(world).proposals).refused
    assert os.path.exists(world.path(".archive/old.md"))


def test_untrusted_memories_of_a_repository_are_not_merged(world):
    for name in ("prefer-pnpm.md", "pnpm-only.md"):
        world.write(f"{world.project}/{name}", world.read(name))
        os.unlink(world.path(name))
    merges = [each for each in only(world, "merge") if each.files[0].path.startswith(world.project)]
    assert merges == []
    trust_grants.grant(world.root, world.project)
    assert [each for each in only(world, "merge") if each.files[0].path.startswith(world.project)]
    assert "merge" not in {each.kind for each in planned(world, writable=False).proposals}
