"""What the subconscious wants to note in a block, and a memory says already."""

from types import SimpleNamespace

import pytest

from memtui.models.selection import CatalogueEntry
from memtui.models.subconscious import agent, transcript_view
from tables import rows

SAID = "We deploy on Tuesdays only, and the audit is tomorrow."


class Answering:
    """A model with one answer."""

    def __init__(self, **parts):
        self.parts = parts

    def ask(self, *_, **__):
        return self.parts


@pytest.mark.parametrize(("old", "new", "refused"), rows(__file__, "what a memory says needs no block"))
def test_what_a_memory_says_needs_no_block(old, new, refused):
    heard = transcript_view.Heard()
    heard.add(transcript_view.PERSON, SAID)
    memory = CatalogueEntry("auto", "/m", "days.md", "days", "Deploys happen on Tuesdays only", ())
    edit = {"block": "project_context", "old": old, "new": new, "quote": "We deploy on Tuesdays only"}
    wishes = agent.Wishes()
    agent.ask(
        Answering(edits=[edit]), agent.Situation("", {}, (), heard, (), [memory]), wishes, SimpleNamespace(texts=[])
    )
    assert bool(wishes.refused) is refused
    assert wishes.edits == ([] if refused else [("project_context", old, new)])
