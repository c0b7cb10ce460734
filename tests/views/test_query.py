"""The query of a list: words and terms, read as a person types them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.store.memory import Memory
from memtui.store.scopes import Scope
from memtui.store.status import Row
from memtui.views import query
from tables import rows

NAMES = ("type", "is")
WORDS = st.text(st.characters(exclude_categories=("Z", "C"), exclude_characters=':"'), min_size=1, max_size=8)
VALUES = st.text(st.characters(exclude_categories=("C",), exclude_characters='"'), min_size=1, max_size=8)


@given(st.lists(WORDS, max_size=4), st.dictionaries(st.sampled_from(NAMES), VALUES))
def test_words_and_terms_come_back_as_they_were_written(words, terms):
    terms = {name: value for name, value in terms.items() if value.strip() and value == value.strip()}
    text = " ".join([*words, *(query.term(name, value) for name, value in terms.items())])
    assert query.parse(text, NAMES) == query.Query(" ".join(words), terms)


def test_the_last_of_two_terms_of_a_name_counts_and_an_empty_one_does_not():
    assert query.parse("type:a type:b is:", NAMES) == query.Query("", {"type": "b"})


def test_an_unknown_name_is_a_word_and_said():
    found = query.parse('todo:x see "my notes"', NAMES)
    assert (found.words, found.unknown) == ('todo:x see "my notes"', ("todo",))


def row(kind="feedback", deliveries=0):
    return Row(Memory("/m/a.md", "global", "a", "", kind, {}, "", 1, 0.0), "a.md", deliveries=deliveries)


@pytest.mark.parametrize(("text", "found"), rows(__file__, "a memory is found by what its terms say"))
def test_a_memory_is_found_by_what_its_terms_say(text, found):
    assert query.memories(text).matches(Scope("global", "global", "/m"), row(), "shop") == found
