"""Two ways to say a rule are known as one; two rules are not: the recorded pairs by which thresholds are judged."""

import pytest

from memtui.base.similarity import SAME_DRAFT, rule_of, similarity


def same(one, other):
    pair = [similarity(rule_of(first), rule_of(second)) for first, second in ((one, other), (other, one))]
    assert pair[0].score == pair[1].score
    assert 0 <= pair[0].score <= 1
    assert pair[0].says_same(SAME_DRAFT) == pair[1].says_same(SAME_DRAFT)
    return pair[0].says_same(SAME_DRAFT)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use pnpm instead of npm", "Always use pnpm, not npm"),
        ("Use pnpm instead of npm", "Please use pnpm rather than npm for installs"),
        ("Never push to main without asking me", "Don't push to main without asking me first"),
        ("Run the linter before each commit", "Always run the linter before every commit"),
        ("Write tests for the parser first", "write the tests of the parser first."),
        ("请始终使用中文回答我的问题", "始终使用中文回答我的问题"),
        ("Nimm immer pnpm statt npm", "Nimm pnpm, nicht npm"),
        ("Don't commit to main", "Never commit to main"),
        ("以后请用中文回答", "以后请用中文回答。"),
    ],
)
def test_the_same_rule(one, other):
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use pnpm, not npm", "Use npm, not pnpm"),
        ("Use pnpm over npm", "Use npm over pnpm"),
        ("Use pnpm for packages", "Never use pnpm for packages"),
        ("Indent Python files with 2 spaces", "Indent Python files with 4 spaces"),
        ("Put the fixtures into the tests folder", "Put the logos into the assets folder"),
        ("Run the linter before each commit", "Run the tests before each push"),
        ("Use tabs", "Use tabs in the Makefile of the docs"),
        ("Use it", "Use it"),
        ("Deploy from main to staging", "Deploy from staging to main"),
        ("Nimm pnpm statt npm", "Nimm npm statt pnpm"),
        ("Limit lines to 100 characters", "Limit lines to 120 characters"),
        ("Never ask before you run the whole test suite", "Ask before you run the whole test suite"),
        ("", ""),
    ],
)
def test_another_rule(one, other):
    assert not same(one, other)
