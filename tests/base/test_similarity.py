"""Two ways to say a rule are known as one; two rules are not: the recorded pairs by which thresholds are judged."""

import pytest

import recorded
from memtui.base.similarity import SAME_DRAFT, holds, rule_of, similarity, words
from tables import rows


def same(one, other):
    pair = [similarity(rule_of(first), rule_of(second)) for first, second in ((one, other), (other, one))]
    assert pair[0].score == pair[1].score
    assert 0 <= pair[0].score <= 1
    assert pair[0].says_same(SAME_DRAFT) == pair[1].says_same(SAME_DRAFT)
    return pair[0].says_same(SAME_DRAFT)


@pytest.mark.parametrize(("one", "other"), rows(__file__, "the same rule"))
def test_the_same_rule(one, other):
    assert same(one, other)


@pytest.mark.parametrize(("one", "other"), rows(__file__, "another rule"))
def test_another_rule(one, other):
    assert not same(one, other)


def test_pairs_are_as_alike_as_ever():
    def read(one, other):
        alike = similarity(rule_of(one), rule_of(other))
        same = [alike.score, alike.shared, alike.contradicts, alike.says_same(0.3)]
        return [*same, words(one), rule_of(one).order, holds(rule_of(one), rule_of(other))]

    recorded.check(__file__, "pairs", read)
