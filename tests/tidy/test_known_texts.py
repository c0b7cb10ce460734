"""A text that says what another says is known by its words; one that says the opposite is not."""

import pytest

from memtui.tidy.similarity import KnownTexts


def is_known(one, other):
    texts = KnownTexts(0.7)
    texts.add(one, "that")
    return texts.find(other) == "that"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use pnpm, not npm", "use pnpm, not npm."),
        ("Use pnpm, not npm", "Use pnpm instead of npm"),
        ("Ask before writing a database migration", "Ask me before you write a migration"),
        ("Don't commit to main", "Never commit to main"),
        ("Run the tests before each commit", "Run tests before every commit"),
        ("以后请用中文回答", "以后请用中文回答。"),
    ],
)
def test_the_same_rule_in_other_words_is_known(one, other):
    assert is_known(one, other)
    assert is_known(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use pnpm, not npm", "Use npm, not pnpm"),
        ("Use pnpm instead of npm", "Use npm instead of pnpm"),
        ("Never ask before you run the whole test suite", "Ask before you run the whole test suite"),
        ("Don't commit to main", "Commit to main"),
        ("Limit lines to 100 characters in Python files", "Limit lines to 120 characters in Python files"),
        ("Write commit messages in English", "Write commit messages in German"),
        ("Deploy on Tuesdays", "Deploy on Fridays"),
    ],
)
def test_the_opposite_or_another_case_is_not(one, other):
    assert not is_known(one, other)
    assert not is_known(other, one)


@pytest.mark.parametrize("text", ["", "not", "!", "the"])
def test_texts_that_tell_nothing_are_no_trouble(text):
    assert not is_known("Use pnpm, not npm", text)
    assert not is_known(text, "Use pnpm, not npm")
