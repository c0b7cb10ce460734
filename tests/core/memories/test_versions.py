"""Every version of a memory that was seen is kept, with who wrote it and whether a person has seen it."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.core.base.errors import NotFoundError
from memtui.core.memories.versions import GONE, Versions, Writer

AGENT = Writer("agent", "7c1e55a0", "p1")


@pytest.fixture
def store(tmp_path):
    directory = tmp_path / "memory"
    directory.mkdir()
    versions = Versions(str(tmp_path / "root"), lambda: 1_700_000_000.0)

    def look(writer=AGENT):
        return versions.take_in(str(directory), lambda version: writer)

    return directory, versions, look


def write(path, text):
    path.write_text(text)
    os.utime(path, ns=(0, write.clock))
    write.clock += 1_000_000_000


write.clock = 1_700_000_000_000_000_000


def test_what_is_there_at_the_first_look_counts_as_seen(store):
    directory, versions, look = store
    write(directory / "a.md", "one")
    assert [(each.writer.by, each.seen) for each in look()] == [("first", True)]
    assert versions.unseen([str(directory)]) == []
    assert look() == []


def test_what_an_agent_changes_is_unseen_until_a_person_has_seen_it(store):
    directory, versions, look = store
    write(directory / "a.md", "one")
    look()
    write(directory / "a.md", "two")
    write(directory / "b.md", "new")
    assert [each.writer for each in look()] == [AGENT] * 2
    unseen = {now.file: (before, now) for before, now in versions.unseen([str(directory)])}
    before, now = unseen["a.md"]
    assert (versions.content(before), versions.content(now)) == (b"one", b"two")
    assert unseen["b.md"][0] is None
    versions.see([now])
    assert [now.file for _, now in versions.unseen([str(directory)])] == ["b.md"]
    again = Versions(versions.root)
    again.follow()
    assert [now.file for _, now in again.unseen([str(directory)])] == ["b.md"]


def test_the_first_memory_of_a_directory_is_unseen_if_an_agent_made_it(store):
    directory, versions, look = store
    write(directory / "a.md", "one")
    look()
    other = directory.parent / "other"
    other.mkdir()
    write.clock = max(write.clock, 1_700_000_100_000_000_000)
    write(other / "made.md", "by the agent")
    os.utime(other / "made.md", ns=(0, write.clock))
    (found,) = versions.take_in(str(other), lambda version: AGENT)
    assert (found.writer, found.seen) == (AGENT, False)
    old = directory.parent / "old"
    old.mkdir()
    (old / "a.md").write_text("written long ago")
    os.utime(old / "a.md", (0, 1_600_000_000))
    (found,) = versions.take_in(str(old), lambda version: AGENT)
    assert (found.writer.by, found.seen) == ("first", True)


def test_a_directory_without_memories_is_looked_at_too(store):
    directory, _, look = store
    assert look(Writer("other")) == []
    write(directory / "a.md", "one")
    assert [(each.writer.by, each.seen) for each in look(Writer("other"))] == [("other", False)]


def test_a_memory_that_a_person_knew_is_missed_when_it_is_deleted_after_a_change(store):
    directory, versions, look = store
    write(directory / "a.md", "one")
    look()
    write(directory / "a.md", "two")
    look()
    (directory / "a.md").unlink()
    look(Writer("other"))
    ((before, now),) = versions.unseen([str(directory)])
    assert (versions.content(before), now.digest) == (b"one", GONE)


def test_what_a_person_writes_through_memtui_is_seen(store):
    directory, versions, look = store
    write(directory / "a.md", "one")
    look()
    write(directory / "a.md", "two")
    look(Writer("person"))
    assert versions.unseen([str(directory)]) == []
    assert [each.writer.by for each in versions.of(str(directory), "a.md")] == ["first", "person"]


def test_a_text_that_was_seen_before_needs_no_second_look(store):
    directory, versions, look = store
    write(directory / "a.md", "one")
    look()
    write(directory / "a.md", "two")
    look()
    write(directory / "a.md", "one")
    write(directory / "renamed.md", "one")
    look()
    assert versions.unseen([str(directory)]) == []


def test_a_deleted_file_is_a_version_and_its_text_stays(store):
    directory, versions, look = store
    write(directory / "a.md", "one")
    look()
    (directory / "a.md").unlink()
    assert [each.digest for each in look()] == [GONE]
    before, now = versions.unseen([str(directory)])[0]
    assert (versions.content(before), versions.content(now)) == (b"one", b"")
    assert look() == []


def test_one_that_was_written_and_deleted_unseen_is_nobodys_business(store):
    directory, versions, look = store
    write(directory / "a.md", "one")
    look()
    write(directory / "b.md", "new")
    look()
    (directory / "b.md").unlink()
    look()
    assert versions.unseen([str(directory)]) == []


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
    path = f"{versions.contents}/{found.digest}"
    with open(path, "wb") as file:
        file.write(b"other")
    with pytest.raises(NotFoundError, match="damaged"):
        versions.content(found)
    os.unlink(path)
    assert versions.content(found) == b"one", "its file still has it"
    write(directory / "a.md", "two")
    with pytest.raises(NotFoundError):
        versions.content(found)


def test_memories_in_subdirectories_are_taken_in_and_the_index_is_not(store):
    directory, _, look = store
    (directory / "team").mkdir()
    write(directory / "team" / "a.md", "one")
    write(directory / "MEMORY.md", "- [a](team/a.md)")
    assert [each.file for each in look()] == ["team/a.md"]


def test_what_is_old_or_too_much_is_forgotten_but_never_what_a_review_needs(store):
    directory, versions, look = store
    write(directory / "a.md", "1" * 100)
    look()
    for number in range(5):
        write(directory / "a.md", str(number) * (200 + number))
        look()
    assert versions.forget(0.0, 510) == (3, 200 + 201 + 202)
    before, now = versions.unseen([str(directory)])[0]
    assert (versions.content(before), versions.content(now)) == (b"1" * 100, b"4" * 204)
    assert len(versions.of(str(directory), "a.md")) == 3
    assert versions.forget(2e9, 0) == (1, 203)
    assert len(os.listdir(versions.contents)) == 2
    assert versions.forget(2e9, 1) == (0, 0)
    again = Versions(versions.root)
    again.follow()
    assert again.unseen([str(directory)]) == [(before, now)]


def test_what_is_forgotten_makes_nothing_new(store):
    directory, versions, look = store
    empty = directory.parent / "empty"
    empty.mkdir()
    versions.take_in(str(empty), lambda version: AGENT)
    write(directory / "a.md", "one")
    look()
    for number in range(3):
        write(directory / "a.md", str(number))
        look(Writer("person"))
    assert versions.forget(2e9, 0)[0] == 3
    assert look() == []
    write(empty / "b.md", "new")
    (found,) = versions.take_in(str(empty), lambda version: Writer("other"))
    assert (found.writer.by, found.seen) == ("other", False)


def test_a_memory_that_is_gone_and_known_to_be_is_forgotten(store):
    directory, versions, look = store
    write(directory / "a.md", "one")
    look()
    (directory / "a.md").unlink()
    look(Writer("person"))
    assert versions.forget(2e9, 0) == (2, 3)
    assert os.listdir(versions.contents) == []
    assert look() == []


def test_what_another_process_forgot_is_followed(store):
    directory, versions, look = store
    write(directory / "a.md", "one")
    look()
    for number in range(9):
        write(directory / "a.md", "x" * number)
        look(Writer("person"))
    other = Versions(versions.root, versions.now)
    other.forget(2e9, 0)
    for number in range(9):
        write(directory / "a.md", "y" * number)
        other.take_in(str(directory), lambda version: AGENT)
    versions.follow()
    assert versions.of(str(directory), "a.md") == other.of(str(directory), "a.md")


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
