"""The lines of the tree of scopes."""

import pytest

from memtui.store.scopes import Scope
from memtui.tui.screens.memories.rows import Place
from memtui.views import colours

PROJECT = Scope("project", "project", "/w/memory")
AGENT = Scope("agent", "agent:reviewer", "/h/reviewer")


@pytest.mark.parametrize(
    ("place", "text", "style"),
    [
        (Place("project", "project shop", 3, (PROJECT,)), "  project shop", "bold"),
        (Place("project", "project shop", 0, (PROJECT,)), "  project shop", "dim"),
        (Place("project", "project shop", 0, (PROJECT,), unread=True), "  project shop", "bold"),
        (Place("agents", "agents", 2, (AGENT, AGENT), fold=False), "▸ agents", "bold"),
        (Place("agents", "agents", 2, (AGENT, AGENT), fold=True), "▾ agents", "bold"),
        (Place("agent:reviewer", "reviewer", 2, (AGENT,), depth=1), "    reviewer", "dim"),
    ],
)
def test_a_line_is_bold_at_the_top_and_dim_below_or_without_memories(place, text, style):
    name = place.draw()[0]
    assert (name.plain, name.style) == (text, style)


def test_a_scope_that_can_not_be_read_or_is_not_trusted_has_a_mark():
    broken = Scope("project", "project", "/w/memory", problem="It can't be read")
    foreign = Scope("project", "project", "/w/memory", trusted=False)
    for scope in (broken, foreign):
        name = Place("project", "project shop", 1, (scope,)).draw()[0]
        assert name.plain.endswith(" !")
        assert name.spans[-1].style == colours.PROBLEM
    assert not Place("all", "all here", 1, (broken, foreign)).draw()[0].plain.endswith("!")
