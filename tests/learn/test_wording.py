"""Descriptions say what to do, in one line and without inverting anything; names are short and stable."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.learn import wording
from tables import rows

RULES = [
    *("use pnpm for packages", "never push to main", "not mock the database", "keep the lock file as it is"),
    "write no comments in tests",
    "ask before you delete anything that isn't yours",
    "run the linter without fixing",
]
LEADS = ["", "No, ", "no wait, ", "ok so ", "actually ", "also, ", "from now on ", "please ", "going forward, "]


@pytest.mark.parametrize(("text", "description"), rows(__file__, "a description is the sentence without lead ins"))
def test_a_description_is_the_sentence_without_lead_ins(text, description):
    assert wording.describe(text) == description


@given(st.sampled_from(LEADS), st.sampled_from(RULES), st.sampled_from(["", ".", "!", "?"]))
def test_no_word_of_a_rule_is_lost_and_none_comes_in(lead, rule, end):
    assert wording.describe(lead + rule + end).lower() == rule + end.rstrip(".!")


@pytest.mark.parametrize(("text", "name"), rows(__file__, "a name has the content words of its text"))
def test_a_name_has_the_content_words_of_its_text(text, name):
    assert wording.slug(text) == name


def test_texts_in_other_scripts_have_names_of_their_own():
    texts = ("以后请用中文回答", "以后请用英文回答", "Всегда запускай pnpm", "Никогда не запускай pnpm")
    names = {wording.slug(text) for text in texts}
    assert len(names) == 4
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)


WORDS = "use never the file before new not and main instead cache of don't".split()


@given(st.lists(st.sampled_from(WORDS), min_size=3, max_size=12))
def test_a_name_does_not_end_on_a_word_that_something_must_follow(words):
    name = wording.slug(" ".join(words))
    assert len(name.split("-")) <= 2 * wording.MAX_NAME_WORDS
    assert name.split("-")[-1] not in {"before", "not", "and", "instead", "the", "of"} or len(name.split("-")) == 1
