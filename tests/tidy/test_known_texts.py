"""A text that says what another says is known by its words; one that says the opposite is not."""

import pytest

from memtui.tidy.similarity import KnownTexts


def is_known(one, other):
    texts = KnownTexts(0.7)
    texts.add(one, "that")
    return texts.find(other) == "that"


@pytest.mark.parametrize(
    ("one", "other", "known"),
    [
        ("Use pnpm, not npm", "use pnpm, not npm.", True),
        ("Ask before writing a database migration", "Ask me before you write a migration", True),
        ("Use pnpm, not npm", "Use npm, not pnpm", False),
        *(("Use pnpm, not npm", text, False) for text in ("", "not", "!", "the")),
    ],
)
def test_the_same_rule_in_other_words_is_known_and_another_is_not(one, other, known):
    assert is_known(one, other) == is_known(other, one) == known
