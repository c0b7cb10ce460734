"""Files that go, or can't be read, while they are listed: git checks something else out, a second memtui deletes."""

import os
import shutil
from pathlib import Path

import pytest

from memtui.base import fs
from memtui.client import locate

COMMANDS = (
    ["list"],
    ["list", "--all-projects", "is:problem"],
    ["list", "is:never"],
    ["search", "pnpm"],
    ["check"],
    ["trust", "--list"],
    ["trust", "--yes"],
    ["doctor"],
    ["status"],
    ["inbox"],
    ["inbox", "J5VMX3"],
    ["note", "CI is red"],
    ["new", "a-new-one", "--body", "text"],
    ["undo", "--list"],
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
        walk = locate.walk

        def walked(directory, *more):
            found = walk(directory, *more)
            for name, _ in found:
                happens(Path(directory, name))
            return found

        monkeypatch.setattr(locate, "walk", walked)

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
    open_regular = fs.open_regular

    def denied(path, *args, **more):
        if path.endswith("prefer-pnpm.md"):
            raise PermissionError(13, "Permission denied", path)
        return open_regular(path, *args, **more)

    monkeypatch.setattr(fs, "open_regular", denied)
    done = memtui(*command, check=False)
    assert done.code in {0, 5}, done.err
    if command == ["list"]:
        assert "Permission denied" in done.out
        assert "deploy" in done.out


@pytest.mark.every(step=5)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_directory_that_can_not_be_read_is_told_and_the_rest_goes_on(memtui, monkeypatch, world, command):
    scandir, place = locate.posix.scandir, world.shop + "/.claude/memory"

    class Posix:
        def __getattr__(self, name):
            return getattr(os, name)

        def scandir(self, path):
            if path == place:
                raise PermissionError(13, "Permission denied", path)
            return scandir(path)

    monkeypatch.setattr(locate, "posix", Posix())
    done = memtui(*command, check=False)
    assert done.code in ({0, 5} if command[0] != "trust" else {0, 1}), done.err
    assert "Traceback" not in done.err
    if command[0] == "trust":
        assert "Permission denied" in done.out + done.err
