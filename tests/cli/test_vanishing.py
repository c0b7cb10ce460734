"""Files that go, or can't be read, while they are listed: git checks something else out, a second memtui deletes."""

import os
import shutil
from pathlib import Path

import pytest

from memtui.base import fs_hot, paths_hot
from memtui.client import locate_hot

COMMANDS = (
    *(["list"], ["list", "--all-projects", "is:problem"], ["list", "is:never"], ["search", "pnpm"], ["check"]),
    *(["trust", "--list"], ["trust", "--yes"], ["doctor"], ["status"], ["inbox"], ["inbox", "J5VMX3"]),
    *(["note", "CI is red"], ["new", "a-new-one", "--body", "text"], ["undo", "--list"]),
)


def gone(path):
    path.unlink(missing_ok=True)


def directory(path):
    gone(path)
    path.mkdir(exist_ok=True)


def loop(path):
    gone(path)
    path.symlink_to(path.name)


def no_directory(path):
    shutil.rmtree(path.parent, ignore_errors=True)


def file_for_directory(path):
    if path.parent.is_dir():
        shutil.rmtree(path.parent)
        path.parent.write_text("a file")


@pytest.fixture
def after_listing(monkeypatch):
    """What happens to every memory after the directory was listed, and before it is read."""

    def after(happens):
        walk = locate_hot.walk

        def walked(directory, *more):
            found = walk(directory, *more)
            for name, _ in found:
                happens(Path(directory, name))
            return found

        monkeypatch.setattr(locate_hot, "walk", walked)

    return after


@pytest.mark.every(step=5)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("happens", [gone, directory, loop, no_directory, file_for_directory], ids=lambda f: f.__name__)
def test_a_memory_that_goes_after_it_was_listed_fails_nothing(memtui, after_listing, happens, command):
    after_listing(happens)
    done = memtui(*command, check=False)
    assert done.code in {0, 5}, done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("command", [["rm", "prefer-pnpm"], ["edit", "prefer-pnpm", "--type", "user"]])
def test_what_is_named_and_gone_is_not_found(memtui, after_listing, command):
    after_listing(gone)
    done = memtui(*command, check=False)
    assert done.code == 3
    assert "prefer-pnpm" in done.err


@pytest.mark.every(step=5)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_one_that_can_not_be_read_is_told_and_the_rest_goes_on(memtui, monkeypatch, command):
    open_regular = fs_hot.open_regular

    def denied(path, *args, **more):
        if path.endswith("prefer-pnpm.md"):
            raise PermissionError(13, "Permission denied", path)
        return open_regular(path, *args, **more)

    monkeypatch.setattr(fs_hot, "open_regular", denied)
    done = memtui(*command, check=False)
    assert done.code in {0, 5}, done.err
    if command == ["list"]:
        assert "Permission denied" in done.out
        assert "deploy" in done.out


@pytest.mark.every(step=5)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_directory_that_can_not_be_read_is_told_and_the_rest_goes_on(memtui, monkeypatch, world, command):
    scandir, place = locate_hot.posix.scandir, world.shop + "/.claude/memory"

    class Posix:
        def __getattr__(self, name):
            return getattr(os, name)

        def scandir(self, path):
            if path == place:
                raise PermissionError(13, "Permission denied", path)
            return scandir(path)

    monkeypatch.setattr(locate_hot, "posix", Posix())
    done = memtui(*command, check=False)
    assert done.code in ({0, 5} if command[0] != "trust" else {0, 1}), done.err
    assert "Traceback" not in done.err
    if command[0] == "trust":
        assert "Permission denied" in done.out + done.err


# --- an inbox file that can't be read is named, and keeps nobody from the rest


@pytest.fixture
def broken(world):
    """The shop's inbox with a directory where the pending updates should be."""
    path = Path(paths_hot.inbox_dir(world.root, paths_hot.project_key(world.shop)), "pending-updates.md")
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
    assert (memtui.json("status")["unread"], memtui("approve", "J5VMX3", check=False).code) == (data["unread"], 3)
    memtui("note", "a note of long ago", "--expires", "2026-12-01")
    messages = [f["message"] for f in memtui.json("doctor", check=False)["findings"] if f["area"] == "inbox"]
    assert any("is a directory" in message for message in messages)
    assert not any("can't be looked at" in message for message in messages)


@pytest.mark.usefixtures("as_a_user")
def test_a_closed_file_is_named(memtui, world):
    path = Path(paths_hot.inbox_dir(world.root, paths_hot.project_key(world.shop)), "pending-items.md")
    path.chmod(0)
    assert "You may not read" in memtui("inbox", "--kind", "todos").err


@pytest.fixture
def long(world):
    """The shop's guidance with a log of 3 MB in its middle."""
    path = Path(paths_hot.inbox_dir(world.root, paths_hot.project_key(world.shop)), "guidance.md")
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
