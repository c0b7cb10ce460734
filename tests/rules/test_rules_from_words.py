"""Rules that the words of a memory say: one sentence for each form and language, and sentences that say none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recorded
from memtui.rules import proposals, sentences
from memtui.rules.proposals import rules_of_text
from memtui.rules.rule_hot import parse
from tables import rows


def said(text: str) -> list[str]:
    return list(map(str, rules_of_text(text)))


PNPM = "never npm *, instead pnpm *"
LINT = "always make lint * before git commit *"


@pytest.mark.parametrize("text", rows(__file__, "one command instead of another"))
def test_one_command_instead_of_another(text: str) -> None:
    assert said(text) == [PNPM]


@pytest.mark.parametrize("text", rows(__file__, "one command before another"))
def test_one_command_before_another(text: str) -> None:
    assert said(text) == [LINT]


@pytest.mark.parametrize(("text", "rules"), rows(__file__, "each form"))
def test_each_form(text: str, rules: list[str]) -> None:
    assert said(text) == rules


@pytest.mark.parametrize("text", rows(__file__, "no rule is guessed"))
def test_no_rule_is_guessed(text: str) -> None:
    assert said(text) == []


def test_two_sentences_that_contradict_each_other_make_no_rule() -> None:
    assert said("Use pnpm, not npm.\nUse npm, not pnpm.") == []


WORDS = rows(__file__, "WORDS")


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=4), max_size=14))
def test_whatever_is_written_each_rule_can_be_read_back(words: list[str]) -> None:
    rules = rules_of_text(" ".join(words))
    assert [str(parse(rule.as_row())) for rule in rules] == list(map(str, rules))
    assert len(rules) <= proposals.MOST_RULES


def test_texts_say_the_same_rules_as_ever() -> None:
    recorded.check(__file__, "rules_of_texts", said, lambda text: list(sentences.sentences(text)))
