"""ULIDs sort by time, hashes name content, and a thing is named by its id or a unique beginning or end of it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.base import ids_hot, short_ids
from memtui.base.errors import ConflictError, NotFoundError

SECONDS = st.floats(0, 2**47 / 1000)


@given(SECONDS)
def test_an_id_is_a_ulid_that_tells_its_time_to_the_millisecond(seconds):
    name = ids_hot.new_id(seconds)
    assert re.fullmatch("[0-7][0-9A-HJKMNP-TV-Z]{25}", name)
    assert abs(ids_hot.id_time(name) - seconds) <= 0.001
    assert ids_hot.id_time(name.lower()) == ids_hot.id_time(name)


@given(SECONDS, SECONDS)
def test_ids_of_later_milliseconds_sort_after_earlier_ones(one, other):
    if int(one * 1000) < int(other * 1000):
        assert ids_hot.new_id(one) < ids_hot.new_id(other)


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_has_a_hash_lone_surrogates_too(text):
    assert len(ids_hot.content_hash(text)) == 16


def test_ids_are_given_by_a_unique_beginning_or_end():
    names = ["01AAAA1111", "01AAAA2222", "01BBBB2222"]
    assert short_ids.match("1111", names, "note") == "01AAAA1111"
    assert short_ids.match("01bb", names, "note") == "01BBBB2222"
    assert short_ids.match("01AAAA2222", names, "note") == "01AAAA2222"
    errors = {"2222": ConflictError, "01AA": ConflictError, "111": NotFoundError, "9999": NotFoundError}
    for ref, error in errors.items():
        with pytest.raises(error):
            short_ids.match(ref, names, "note")
    # The beginning of what people see is enough.
    names = ["01M7Q3SGXM6ZERYRGZ7PJ5VMX3", "01M7Q3SGXM6ZERYRGZ7PVGHARY"]
    assert short_ids.match("J5VM", names, "entry") == names[0]
    assert short_ids.match("vghar", names, "entry") == names[1]
