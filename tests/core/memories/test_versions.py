"""Every version of a memory that was seen is kept, with who wrote it and whether a person has seen it."""

import os

import pytest

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
    assert len(versions.forget(0.0, 510)) == 3
    before, now = versions.unseen([str(directory)])[0]
    assert (versions.content(before), versions.content(now)) == (b"1" * 100, b"4" * 204)
    assert len(versions.of(str(directory), "a.md")) == 3
    assert len(versions.forget(2e9, 10**9)) == 1
    assert len(os.listdir(versions.contents)) == 2
    assert versions.forget(2e9, 0) == []
    again = Versions(versions.root)
    again.follow()
    assert again.unseen([str(directory)]) == [(before, now)]
