"""A thing is named by its id, or by a unique beginning or end of it."""

import pytest

from memtui.base import short_ids
from memtui.base.errors import ConflictError, NotFoundError


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
