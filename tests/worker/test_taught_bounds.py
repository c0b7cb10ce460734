"""However contrary a person's decisions are, what they teach never makes drafts worse than as shipped by more than the margin."""

from dataclasses import replace

import pytest

from memtui.base import paths
from memtui.client.transcripts.conversation import Turn
from memtui.inbox import file as inbox_file
from memtui.learn import classifier, personal, write
from memtui.review.entries import Review
from memtui.worker import main

from .test_decided import World

DECIDED = 120


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def leave(world, number, row):
    """A draft as a worker leaves it, of a message with the features of a shipped one whose answer is known."""
    turn = Turn(f"Always use {number} for builds.", "prompt", uuid=f"v{number}", session="s1", agent="Done.")
    draft = replace(classifier.draft_of(turn, classifier.shipped()), judged=(row.scores, row.values))
    slug = paths.project_key(world.project)
    fields = write.fields_of(draft, world.project)
    name = inbox_file.add_entry(paths.inbox_dir(world.root, slug), "updates", fields, write.text_of(draft))
    personal.note(world.root, name, slug, draft)
    return name


@pytest.mark.slow
def test_who_decides_the_contrary_of_what_is_right_teaches_within_the_margin(world):
    rows = personal.validation()[:DECIDED]
    wrong = {leave(world, number, row): any(row.truths) for number, row in enumerate(rows)}
    Review(world.root).reject([each for each in world.drafts() if wrong[each.id]], never=True)
    Review(world.root).reject([each for each in world.drafts() if not wrong[each.id]])
    main.run(world.env, world.payload, "Stop", ("decisions",))
    found = world.taught()
    assert found.total == len(rows)
    assert found.features > 0
    assert found.halved > 0
    for name, (shipped, now) in found.figures.items():
        assert now >= shipped - personal.MARGIN, name
