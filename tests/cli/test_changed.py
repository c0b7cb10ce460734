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


def test_changes_are_listed_with_who_wrote_them_and_taken_back_as_seen(memtui, three, world):
    root = Path(world.root)
    before = (root / "versions.jsonl").read_bytes(), sorted(os.listdir(root / "trash"))
    gone = three[1]
    assert listed(memtui) == {
        ("prefer-pnpm", "edited", "agent"),
        ("made", "new", "other"),
        (gone.stem, "deleted", "other"),
    }
    memtui.env["COLUMNS"] = "120"
    out = memtui("inbox").out
    assert "prefer-pnpm, by Claude" in out
    assert "made, new, outside memtui" in out
    assert f"{gone.stem}, deleted, outside memtui" in out
    assert "+The agent's line." in memtui("inbox", "prefer-pnpm").out
    assert "+By an editor." in memtui("inbox", "made").out
    assert memtui.json("inbox", "made")["change"] == "new"
    assert ((root / "versions.jsonl").read_bytes(), sorted(os.listdir(root / "trash"))) == before
    path, gone, before = three
    changed = path.read_bytes()
    memtui("reject", *(name for name, _, _ in listed(memtui)))
    assert gone.read_bytes() == before
    assert not (path.parent / "made.md").exists()
    assert b"The agent's line" not in path.read_bytes()
    assert listed(memtui) == set()
    assert any(row["name"] == "made" for row in memtui.json("history")["trash"])
    memtui("undo", "--yes")
    assert path.read_bytes() == changed
    assert (path.parent / "made.md").exists()
    assert not gone.exists()


def test_a_kept_change_is_not_listed_until_undone_or_changed_again(memtui, three):
    path = three[0]
    before = listed(memtui)
    assert "undo" in memtui("approve", "prefer-pnpm", "made", "--yes").err
    assert len(listed(memtui)) == 1
    assert "keep 2 memories" in memtui("undo").out
    assert listed(memtui) == before
    memtui("undo", "--redo")
    write(path, path.read_text() + "Another.\n", 9000)
    assert ("prefer-pnpm", "edited", "other") in listed(memtui)
    lines = [each.strip() for each in memtui("inbox", "prefer-pnpm").out.splitlines()]
    assert "+Another." in lines
    assert "+The agent's line." not in lines, "that was seen"
    assert "keep" in memtui("undo").out
    assert path.read_text().endswith("Another.\n")
    lines = [each.strip() for each in memtui("inbox", "prefer-pnpm").out.splitlines()]
    assert {"+The agent's line.", "+Another."} <= {*lines}
    memtui("approve", *(name for name, _, _ in listed(memtui)), "--yes")
    assert listed(memtui) == set()


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


def test_with_the_gate_off_nothing_is_listed_and_what_it_hides_is_said(memtui, three, world):
    look(world)
    log = Path(world.root, "versions.jsonl")
    before = log.read_bytes()
    memtui("config", "set", "gate", "off")
    write(three[0], "changed\n", 9000)
    assert listed(memtui) == set()
    assert log.read_bytes() == before
    said = " ".join(memtui("inbox").out.split())
    assert "The gate is off, so what others change is not listed." in said
    assert "memtui config set gate show" in said
    for verb in ("approve", "reject"):
        refused = memtui(verb, "concise-answers", check=False)
        told = " ".join(refused.err.split())
        assert "The gate is off, so what others change is not listed." in told
        assert "memtui config set gate show" in told
        assert "Nobody else" not in told
        assert refused.code == 3
    memtui("config", "set", "gate", "show")
    assert "gate" not in memtui("inbox").out
    assert "nobody looks" not in " ".join(memtui("doctor", check=False).out.split())


@pytest.mark.slow
def test_one_of_a_repository_is_one_row_and_keeping_it_trusts_it(memtui, three, world):
    """prefer-pnpm was trusted as it was."""
    rows = [each for each in memtui.json("inbox")["entries"] if each.get("name") == "prefer-pnpm"]
    assert [each["kind"] for each in rows] == ["changed"]
    assert "sessions get it once you keep it" in memtui("inbox", "prefer-pnpm").out
    refused = memtui("approve", "prefer-pnpm", check=False)
    assert "+The agent's line." in refused.out
    assert "--yes answers yes" in refused.err
    assert "prefer-pnpm.md" not in memtui.json("trust", "--list")["trusted"]
    done = memtui.json("approve", "prefer-pnpm", "--yes")
    assert done["trusted"] == done["kept"] != []
    assert "prefer-pnpm.md" in memtui.json("trust", "--list")["trusted"]
    assert "prefer-pnpm" not in {each.get("name") for each in memtui.json("inbox")["entries"]}
    memtui("undo", "--yes")
    assert "prefer-pnpm.md" not in memtui.json("trust", "--list")["trusted"]
    assert "prefer-pnpm" in {each.get("name") for each in memtui.json("inbox", "--kind", "changed")["entries"]}
    _, gone, _ = three
    assert memtui.json("approve", gone.stem)["trusted"] == []


def test_all_of_what_nobody_trusted_is_shown_before_keeping_trusts_it(memtui, three):
    """made.md was written by hand into the repository, was seen, and changed since."""
    made = three[0].parent / "made.md"
    memtui("approve", "made", "--yes")
    memtui("trust", "--remove", "made")
    write(made, made.read_text() + "A second line.\n", 9000)
    shown = memtui("approve", "made", check=False).out
    assert "+By an editor." in shown
    assert "+A second line." in shown


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
