"""An inbox file that can't be read is named, and keeps nobody from the rest."""

from pathlib import Path

import pytest

from memtui.base import paths


@pytest.fixture
def broken(world):
    """The shop's inbox with a directory where the pending updates should be."""
    path = Path(paths.inbox_dir(world.root, paths.project_key(world.shop)), "pending-updates.md")
    path.unlink()
    path.mkdir()
    return path


@pytest.mark.parametrize(
    "words", [[], ["status"], ["inbox"], ["inbox", "--kind", "todos"], ["note", "--list"], ["doctor"]], ids=" ".join
)
def test_it_is_named_with_what_to_do(memtui, broken, words):
    done = memtui(*words, check=False)
    assert done.code in {0, 5}
    said = " ".join((done.out + done.err).split())
    if words not in (["inbox", "--kind", "todos"], ["note", "--list"]):
        assert f"{broken.name} is a directory" in said
        assert f"mv {broken}" in said.replace("- ", "-") or words == ["doctor"]
    assert memtui(*words, "--json", check=False).code == done.code


def test_what_can_be_read_is_still_there(memtui, broken):
    assert "Ask Jo" in memtui("inbox", "--kind", "todos").out
    data = memtui.json("inbox")
    assert {entry["kind"] for entry in data["entries"]} >= {"changed", "todo"}
    assert str(broken) in data["unread"][0]["message"]
    assert memtui.json("status")["unread"] == data["unread"]
    assert memtui("approve", "J5VMX3", check=False).code == 3


def test_the_doctor_goes_on_with_the_other_inboxes(memtui, broken, world):
    memtui("note", "a note of long ago", "--expires", "2026-12-01")
    found = [f["message"] for f in memtui.json("doctor", check=False)["findings"] if f["area"] == "inbox"]
    assert any("is a directory" in message for message in found)
    assert not any("can't be looked at" in message for message in found)


@pytest.mark.usefixtures("as_a_user")
def test_a_closed_file_is_named(memtui, world):
    path = Path(paths.inbox_dir(world.root, paths.project_key(world.shop)), "pending-items.md")
    path.chmod(0)
    assert "You may not read" in memtui("inbox", "--kind", "todos").err


@pytest.fixture
def long(world):
    """The shop's guidance with a log of 3 MB in its middle."""
    path = Path(paths.inbox_dir(world.root, paths.project_key(world.shop)), "guidance.md")
    with path.open("a") as file:
        file.write("error: no such file\n" * 150_000)
    return path


@pytest.mark.parametrize(
    "words", [["status"], ["inbox"], ["note", "--list"], ["note", "newest"], ["doctor"]], ids=" ".join
)
def test_an_inbox_too_long_to_be_read_is_named_with_what_to_do(memtui, long, words):
    done = memtui(*words, check=False)
    said = " ".join((done.out + done.err).split())
    assert f"{long.name} is larger than 1 MB" in said
    assert "Remove what is not a note" in said


def test_a_note_is_not_left_where_no_session_would_get_it(memtui, long):
    before = long.read_bytes()
    assert memtui("note", "newest", check=False).code != 0
    assert long.read_bytes() == before
