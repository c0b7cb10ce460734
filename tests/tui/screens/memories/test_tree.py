"""The lines of the tree of scopes."""

from memtui.store.scopes import Scope
from memtui.tui.screens.memories.rows import Place
from memtui.views import colours


def test_a_scope_that_can_not_be_read_or_is_not_trusted_has_a_mark():
    broken = Scope("project", "project", "/w/memory", problem="It can't be read")
    foreign = Scope("project", "project", "/w/memory", trusted=False)
    for scope in (broken, foreign):
        name = Place("project", "project shop", 1, (scope,)).draw()[0]
        assert name.plain.endswith(" !")
        assert name.spans[-1].style == colours.PROBLEM
    assert not Place("all", "all here", 1, (broken, foreign)).draw()[0].plain.endswith("!")
