"""Two ways to say a rule are known as one; two rules are not: the recorded pairs by which thresholds are judged."""

import pytest

from memtui.base.similarity import SAME_DRAFT, rule_of, similarity
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
