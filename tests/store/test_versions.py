"""Every version of a memory that was seen is kept, and what is old is forgotten; a torn log is read as far as it is whole."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.base.errors import MemtuiError, NotFoundError
from memtui.store.history import Intake
from memtui.store.journal.journal import Journal
from memtui.store.versions import trash
from memtui.store.versions.versions import Versions, Writer

from .conftest import AGENT, write


def test_torn_and_foreign_lines_are_passed_over(store):
    directory, versions, look = store
    write(directory / "a.md", "one")
    look()
    with open(versions.path, "ab") as file:
        file.write(b'{"v": 9, "path": "/x"}\nnot json\n[1]\n{"v": 1, "path": "/x", "digest')
    again = Versions(versions.root)
    again.follow()
    assert len(again.of(str(directory), "a.md")) == 1


def test_a_content_that_is_gone_or_damaged_is_said(store):
    directory, versions, look = store
    write(directory / "a.md", "one")
    (found,) = look()
    path = versions.contents.path(found.digest)
    with open(path, "wb") as file:
        file.write(b"other")
    with pytest.raises(MemtuiError, match="damaged"):
        versions.content(found)
    os.unlink(path)
    assert versions.content(found) == b"one", "its file still has it"
    write(directory / "a.md", "two")
    with pytest.raises(NotFoundError):
        versions.content(found)


def test_what_is_old_or_too_much_is_forgotten_but_not_what_a_review_needs(store):
    directory, versions, look = store
    write(directory / "a.md", "1" * 100)
    look()
    for number in range(5):
        write(directory / "a.md", str(number) * (200 + number))
        look()
    assert versions.forget(0.0, 510) == 3
    before, now = versions.unseen([str(directory)])[0]
    assert (versions.content(before), versions.content(now)) == (b"1" * 100, b"4" * 204)
    assert (len(versions.of(str(directory), "a.md")), versions.forget(2e9, 0)) == (3, 1)
    assert trash.sweep(Journal(versions.root), versions) == 4
    assert set(os.listdir(versions.contents.directory)) == {before.digest, now.digest}
    assert versions.forget(2e9, 1) == 0
    again = Versions(versions.root)
    again.follow()
    assert again.unseen([str(directory)]) == [(before, now)]


def test_what_is_forgotten_makes_nothing_new(store):
    directory, versions, look = store
    empty = directory.parent / "empty"
    empty.mkdir()
    Intake(versions, lambda version: AGENT).take_in(str(empty))
    write(directory / "a.md", "one")
    look()
    for number in range(3):
        write(directory / "a.md", str(number))
        look(Writer("person"))
    assert (versions.forget(2e9, 0), look()) == (3, [])
    write(empty / "b.md", "new")
    (found,) = Intake(versions, lambda version: Writer("other")).take_in(str(empty))
    assert (found.writer.by, found.seen) == ("other", False)


# Whole and torn lines of every kind.
LINES = st.lists(
    st.one_of(
        st.binary(max_size=40),
        st.fixed_dictionaries(
            {"v": st.sampled_from([1, 2]), "dir": st.sampled_from(["/a", "/b", 3]), "time": st.text(max_size=5)},
            optional={
                "file": st.sampled_from(["a.md", "b.md", None]),
                "digest": st.sampled_from(["", "d1", "d2", 1]),
                "size": st.one_of(st.integers(), st.text(max_size=2)),
                "stamp": st.one_of(st.integers(), st.none()),
                "by": st.sampled_from(["agent", "person", 1]),
                "seen": st.sampled_from([True, False, "yes"]),
            },
        ).map(lambda row: json.dumps(row).encode()),
    ),
    max_size=12,
)


@given(lines=LINES, cut=st.integers(0, 400), second=st.integers(0, 400))
def test_a_log_that_is_torn_anywhere_is_read_as_far_as_it_is_whole(tmp_path_factory, lines, cut, second):
    root = tmp_path_factory.mktemp("root")
    whole = b"".join(line + b"\n" for line in lines)
    (root / "versions.jsonl").write_bytes(whole[:cut])
    followed = Versions(str(root))
    followed.follow()
    for end in (min(cut + second, len(whole)), len(whole)):
        with open(root / "versions.jsonl", "r+b") as file:
            file.write(whole[: max(cut, end)])
        followed.follow()
    fresh = Versions(str(root))
    fresh.follow()
    for directory in ("/a", "/b"):
        assert followed.files(directory) == fresh.files(directory)
        for file in fresh.files(directory):
            assert followed.of(directory, file) == fresh.of(directory, file)
    assert followed.unseen(["/a", "/b"]) == fresh.unseen(["/a", "/b"])
