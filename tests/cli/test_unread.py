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


@pytest.mark.slow
def test_it_is_named_with_what_to_do_and_what_can_be_read_is_still_there(memtui, broken):
    for words in ("", "status", "inbox", "inbox --kind todos", "note --list", "doctor"):
        done = memtui(*words.split(), check=False)
        assert done.code in {0, 5}
        said = " ".join((done.out + done.err).split())
        if words not in {"inbox --kind todos", "note --list"}:
            assert f"{broken.name} is a directory" in said
            assert f"mv {broken}" in said.replace("- ", "-") or words == "doctor"
        assert memtui(*words.split(), "--json", check=False).code == done.code
    assert "Ask Jo" in memtui("inbox", "--kind", "todos").out
    data = memtui.json("inbox")
    assert {entry["kind"] for entry in data["entries"]} >= {"changed", "todo"}
    assert str(broken) in data["unread"][0]["message"]
    assert memtui.json("status")["unread"] == data["unread"]
    assert memtui("approve", "J5VMX3", check=False).code == 3
    memtui("note", "a note of long ago", "--expires", "2026-12-01")
    messages = [f["message"] for f in memtui.json("doctor", check=False)["findings"] if f["area"] == "inbox"]
    assert any("is a directory" in message for message in messages)
    assert not any("can't be looked at" in message for message in messages)


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


def test_an_inbox_too_long_to_be_read_is_named_with_help_and_gets_no_note(memtui, long):
    before = long.read_bytes()
    for words in ("status", "inbox", "note --list", "note newest", "doctor"):
        done = memtui(*words.split(), check=False)
        said = " ".join((done.out + done.err).split())
        assert f"{long.name} is larger than 1 MB" in said
        assert "Remove what is not a note" in said
        assert done.code or words != "note newest"
    assert long.read_bytes() == before
