"""The lines of a file, last first, by blocks of any size."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.base import reverse_lines_hot


@given(st.lists(st.binary(max_size=30), max_size=20), st.integers(1, 40), st.booleans())
def test_they_are_the_lines_forwards_reversed_with_their_places(tmp_path_factory, lines, block, ended):
    path = str(tmp_path_factory.getbasetemp() / "lines")
    data = b"\n".join(lines) + b"\n" * ended
    with open(path, "wb") as file:
        file.write(data)
    found = list(reverse_lines_hot.lines(path, block=block))
    assert [line for _, line in found] == [line for line in reversed(data.split(b"\n")) if line.strip()]
    assert all(data[start : start + len(line)] == line for start, line in found)
    for number, (start, _) in enumerate(found):
        assert list(reverse_lines_hot.lines(path, start, block=block)) == found[number + 1 :]


@given(
    st.lists(st.binary(max_size=12), max_size=20),
    st.binary(min_size=1, max_size=3).filter(lambda word: b"\n" not in word),
    st.integers(1, 40),
    st.booleans(),
    st.booleans(),
)
def test_lines_with_a_word_are_those_of_all_lines_that_hold_it(tmp_path_factory, lines, word, block, ended, fold):
    path = str(tmp_path_factory.getbasetemp() / "sought")
    data = b"\n".join(lines) + b"\n" * ended
    with open(path, "wb") as file:
        file.write(data)
    word = word.lower() if fold else word
    expected = [line for line in data.split(b"\n") if word in (line.lower() if fold else line)]
    found = list(reverse_lines_hot.lines(path, -1, word, fold, block=block))
    assert [line for _, line in found] == expected[::-1]
    assert all(data[start : start + len(line)] == line for start, line in found)


@pytest.mark.parametrize("needle", [b"", b"word"])
@pytest.mark.parametrize("ended", [b"", b"\n"])
def test_a_line_that_nobody_wrote_as_a_record_is_not_held(tmp_path, needle, ended):
    path = tmp_path / "log"
    path.write_bytes(b"word" * 100 + b"\na word\n" + b"word" * 200 + b"\nlast word" + ended)
    found = reverse_lines_hot.lines(str(path), -1, needle, longest=100, block=16)
    assert [line for _, line in found] == [b"last word", b"a word"]
    path.write_bytes(b"a word\n" + b"word" * 200 + ended)
    assert [line for _, line in reverse_lines_hot.lines(str(path), -1, needle, longest=100, block=16)] == [b"a word"]


def test_no_more_is_read_than_there_is_time_for(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"line\n" * 100)
    found = reverse_lines_hot.lines(str(path), within=40, block=16)
    assert next(found) == (495, b"line")
    with pytest.raises(reverse_lines_hot.TooFarError):
        list(found)
