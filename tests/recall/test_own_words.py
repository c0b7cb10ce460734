"""Which terms a text has, and which words of a prompt count: the person's own, and the identifiers of error lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recorded
from memtui.recall import gloss_hot, own_words_hot, words_hot
from tables import rows


@pytest.mark.parametrize(("prompt", "why"), rows(__file__, "what is no question of a person counts for nothing"))
def test_what_is_no_question_of_a_person_counts_for_nothing(prompt, why):
    assert own_words_hot.counted(prompt) == ("", why)


@pytest.mark.parametrize("prompt", rows(__file__, "a prompt in a persons words counts whole"))
def test_a_prompt_in_a_persons_words_counts_whole(prompt):
    assert own_words_hot.counted(prompt) == (prompt, "")


@pytest.mark.parametrize(("text", "expected"), rows(__file__, "a word is split and kept whole"))
def test_a_word_is_split_and_kept_whole(text, expected):
    assert words_hot.terms(text) == expected


@given(st.text())
def test_any_text_has_terms_without_blanks_and_in_any_case_alike(text):
    found = words_hot.terms(text)
    assert all(term and not any(char.isspace() for char in term) for term in found)
    assert words_hot.terms(text) == found


def test_prompts_and_words_count_as_ever():
    own = [own_words_hot.is_pasted, own_words_hot.is_error, own_words_hot.identifiers]
    lines = lambda text: [[read(line) for read in own] for line in text.split("\n")[:9]]
    recorded.check(__file__, "prompts", own_words_hot.counted, lines)
    words = [words_hot.terms, words_hot.folded, words_hot.tells, gloss_hot.language, gloss_hot.in_english]
    recorded.check(__file__, "words", *words)
