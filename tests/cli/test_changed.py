"""What somebody else wrote: the inbox lists it with its difference; approve marks it as seen, reject restores."""

import os
from pathlib import Path

import pytest

from memtui.workspace import Workspace

from .conftest import NOW
from .test_history import logged_write, path_of

SESSION = "7c1e55a0-3b1f-4f6e-9a58-2f6f0d1c8b11"


@pytest.fixture
def memtui(memtui, world):
    """The command line, after a first look at the memories and when nothing waits."""
    look(world)
    memtui("approve", "flaky-upload-test", "--yes")
    return memtui


def look(world):
    """Do what the worker does at the end of a turn."""
    Workspace(dict(world.env), world.shop, by="cli", now=NOW).take_in()


def write(path, text, at=100):
    path.write_text(text)
    os.utime(path, (NOW + at, NOW + at))


def listed(memtui, *more):
    rows = memtui.json("inbox", "--kind", "changed", *more)["entries"]
    return {(row["name"], row["change"], row["by"]) for row in rows}


@pytest.fixture
def three(memtui, world):
    """One memory that the agent changed, one that an editor made, one that is gone."""
    path = path_of(memtui, "prefer-pnpm")
    write(path, path.read_text() + "The agent's line.\n")
    logged_write(world, path, SESSION, "p1")
    write(path.parent / "made.md", "---\nname: made\ndescription: made\n---\nBy an editor.\n", 5000)
    gone = next(each for each in path.parent.glob("*.md") if each.name not in {"MEMORY.md", "made.md", path.name})
    before = gone.read_bytes()
    gone.unlink()
    return path, gone, before


def test_one_that_changed_again_since_it_was_taken_in_is_not_overwritten(memtui, world, monkeypatch):
    path = path_of(memtui, "prefer-pnpm")
    write(path, "---\nname: prefer-pnpm\n---\nOne.\n")
    look(world)

    def late(self):
        write(path, "---\nname: prefer-pnpm\n---\nTwo.\n", 200)

    monkeypatch.setattr(Workspace, "look", late)
    done = memtui("reject", "prefer-pnpm", check=False)
    assert (done.code, path.read_text()[-5:]) == (4, "Two.\n")
    assert "changed again meanwhile" in done.err


@pytest.mark.every(step=5)
@pytest.mark.parametrize(
    "commands",
    [
        [["edit", "prefer-pnpm", "--description", "mine"]],
        [["edit", "prefer-pnpm", "--type", "user"]],
        [["mv", "prefer-pnpm", "use-pnpm"]],
        [["trust", "--yes", "prefer-pnpm"], ["mv", "prefer-pnpm", "--scope", "global"]],
        [["mv", "prefer-pnpm", "use-pnpm"], ["edit", "use-pnpm", "--description", "mine"], ["undo"]],
        [["rm", "prefer-pnpm"], ["undo"]],
        [["rm", "prefer-pnpm"], ["history", "--restore"]],
    ],
    ids=lambda commands: " ".join(each[0] for each in commands),
)
@pytest.mark.parametrize("looked", [False, True])
def test_what_nobody_has_seen_waits_whatever_memtui_does_with_it(memtui, world, commands, looked):
    path = path_of(memtui, "prefer-pnpm")  # no look of memtui sees the line before its next change
    write(path, path.read_text() + "A line of somebody else.\n")
    if looked:
        look(world)
    for command in commands:
        item = [memtui.json("history")["trash"][0]["id"]] if command[0] == "history" else []
        memtui(command[0], *item, *command[1:])
    (row,) = memtui.json("inbox", "--kind", "changed")["entries"]
    assert (row["change"], row["by"]) == ("edited", "other")
    assert "+A line of somebody else." in row["diff"]
    known = memtui.json("history", row["name"])["versions"]
    first = next(
        each
        for each in known
        if "somebody else" in memtui.json("history", row["name"], "--show", str(each["number"]))["text"]
    )
    assert (first["by"], first["seen"]) == ("other", False)
    memtui("reject", row["name"])
    assert "somebody else" not in path_of(memtui, row["name"]).read_text()
    assert listed(memtui) == set()


def test_looking_writes_nothing_among_files_of_another_user(memtui, three, world, monkeypatch):
    """As with sudo, after which they could not be written any more."""
    run = Path(world.env["HOME"], ".claude/memtui/run")
    for file in ("unseen.json", "versions.lock"):
        (run / file).unlink()
    monkeypatch.setattr("memtui.base.paths_hot.stranger", lambda _: 12345)
    Workspace(dict(world.env), world.shop, by="cli", now=NOW).look()
    assert not {"unseen.json", "versions.lock"} & set(os.listdir(run))
    monkeypatch.undo()
    Workspace(dict(world.env), world.shop, by="cli", now=NOW).look()
    assert {"unseen.json", "versions.lock"} <= set(os.listdir(run))
