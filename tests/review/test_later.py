"""What is hidden until later is read back, and odd files hide nothing."""

import pytest

from memtui.base import fs
from memtui.base.dates import NEVER
from memtui.review.waiting_entries import hide, later_path, load_hidden
from memtui.store.journal.journal import Journal


@pytest.fixture
def root(tmp_path):
    return str(tmp_path)


def test_odd_files_hide_nothing(root):
    odd = b'{"until": {"one": 3, "two": null, "three": "soon"}}'
    for data in (b"", b"\xff", b"[]", b"{", b'{"until": 3}', odd, b"[" * 5000):
        fs.write_atomic(later_path(root), data)
        assert load_hidden(root) == {}


def test_an_empty_key_is_neither_written_nor_read(root):
    hide(Journal(root, by="test", now=lambda: 1000.0), ["", "one"], NEVER, "hide 2")
    with open(later_path(root)) as file:
        assert '""' not in file.read()
    with open(later_path(root), "w") as file:
        file.write('{"v": 1, "until": {"": "never", "one": "never"}}')
    assert load_hidden(root) == {"one": NEVER}
