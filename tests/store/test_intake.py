"""What is new in a directory becomes versions, with who wrote them and whether a person has seen them."""

import os

import pytest

from memtui.base import clock_hot
from memtui.store import history
from memtui.store.history import Intake
from memtui.store.versions.versions import GONE, Versions, Writer
from memtui.store.versions.writers import Writers
from recalls import deliver
from tables import rows

from .conftest import AGENT, write


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


def test_what_an_unfinished_change_writes_is_no_version_yet(store, monkeypatch):
    directory, _, look = store
    for name in "ab":
        write(directory / f"{name}.md", name)
    busy = history.Since([], {os.path.realpath(directory / "a.md")}, "")
    monkeypatch.setattr(history, "read_since", lambda *_: busy)
    assert [each.file for each in look()] == ["b.md"]


def test_the_first_memory_of_a_directory_is_unseen_if_an_agent_made_it(store):
    directory, versions, look = store
    write(directory / "a.md", "one")
    look()
    other = directory.parent / "other"
    other.mkdir()
    write(other / "made.md", "by the agent")
    os.utime(other / "made.md", ns=(0, write.clock))
    (found,) = Intake(versions, lambda version: AGENT).take_in(str(other))
    assert (found.writer, found.seen) == (AGENT, False)
    old = directory.parent / "old"
    old.mkdir()
    (old / "a.md").write_text("written long ago")
    os.utime(old / "a.md", (0, 1_600_000_000))
    (found,) = Intake(versions, lambda version: Writer("other")).take_in(str(old))
    assert (found.writer.by, found.seen) == ("first", True)


@pytest.mark.parametrize(("late", "by"), [(0, "agent"), (-90, "first"), (30, "agent")])
def test_what_an_agent_wrote_before_the_first_look_of_all_is_unseen(store, late, by):
    directory, versions, _ = store
    now = 1_700_000_000.0
    write(directory / "made.md", "by the agent in the first session")
    os.utime(directory / "made.md", (now, now))
    wrote = {"kind": "use", "action": "wrote", "path": str(directory / "made.md")}
    deliver(versions.root, now, wrote, time=clock_hot.iso(now + late), session_id="s")
    (found,) = Intake(versions, Writers(versions.root).of).take_in(str(directory))
    assert (found.writer.by, found.seen) == (by, by == "first")


@pytest.mark.parametrize(("steps", "missed"), rows(__file__, "a person is shown what of the memories known is gone"))
def test_a_person_is_shown_what_of_the_memories_known_is_gone(store, steps, missed):
    directory, versions, look = store
    for step in steps.split():
        name, _, text = step.partition("=")
        if step in {"look", "other"}:
            look(Writer("other") if step == "other" else None)
        elif text:
            write(directory / f"{name}.md", text)
        else:
            (directory / f"{name[1:]}.md").unlink()
    unseen = versions.unseen([str(directory)])
    assert {now.file: versions.content(before).decode() for before, now in unseen} == missed
    assert all((now.digest, versions.content(now)) == (GONE, b"") for _, now in unseen)
    assert look() == []
