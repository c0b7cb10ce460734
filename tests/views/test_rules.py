"""The words for rules: how often they were kept, since when, and whether that changed."""

import pytest

from memtui.rules.counts import Held
from memtui.rules.rule_hot import parse
from memtui.views import rules

NOW, DAY = 1_795_000_000.0, 86400
NPM = {"never": {"command": "npm *"}, "instead": {"command": "pnpm *"}}
RULE = parse(NPM)


def held(since=9.5, **counts):
    return Held(RULE, NOW - since * DAY, **counts)


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        (
            held(opportunities=32, kept=31, opportunities_before=20, kept_before=6, low=0.9, high=0.99),
            "kept 31 of 32 in 9 days (90% interval 90–99%) · before: 6 of 20 · kept more often since",
        ),
        (
            held(opportunities=4, kept=2, opportunities_before=9, kept_before=9, low=0.2, high=0.8),
            "kept 2 of 4 in 9 days (90% interval 20–80%) · before: 9 of 9 · kept less often since",
        ),
        (
            held(1, opportunities=3, kept=2, opportunities_before=2, kept_before=1, low=0.3, high=0.9),
            "kept 2 of 3 in 1 day (90% interval 30–90%) · before: 1 of 2 · no clear change yet",
        ),
        (held(0.2, opportunities=1, kept=1, low=0.5, high=1.0), "kept 1 of 1 today (90% interval 50–100%)"),
        (held(opportunities_before=3, kept_before=0), "no opportunity in 9 days · before: 0 of 3"),
        (held(), "no opportunity in 9 days"),
    ],
)
def test_how_often_a_rule_was_kept(counts, words):
    assert rules.held(counts, NOW) == words


def test_all_rules_are_summed_up():
    assert (rules.total({}), rules.total({"a": [held()]})) == ("", "1 memory, no opportunity yet")
    before = held(opportunities_before=4, kept_before=1)
    assert rules.total({"a": [before]}) == "1 memory, no opportunity since written, kept 1 of 4 times before"
    counts = held(opportunities=30, kept=28, opportunities_before=18, kept_before=11)
    assert rules.total({"a": [counts], "b": [held()]}) == "2 memories, kept 93% since written, 61% before"
