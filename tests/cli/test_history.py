"""`memtui history`: every version of a memory with who wrote it, what it changed, and the way back."""

import json
import os
from pathlib import Path

import pytest

from memtui.base import clock_hot, ids_hot

from .conftest import NOW


def path_of(memtui, name):
    return Path(next(m["path"] for m in memtui.json("list")["memories"] if m["name"] == name))


def logged_write(world, path, session, prompt):
    """What the hook logs after the agent wrote a memory."""
    item = {"kind": "use", "action": "wrote", "id": path.stem, "scope": "project", "path": str(path)}
    record = {
        "v": 1,
        "id": ids_hot.new_id(path.stat().st_mtime),
        "time": clock_hot.iso(path.stat().st_mtime),
        "event": "PostToolUse",
    }
    record |= {"session_id": session, "prompt_id": prompt, "items": [item]}
    log = max((Path(world.env["HOME"]) / ".claude" / "memtui" / "log").glob("deliveries-*.jsonl"))
    with log.open("a") as file:
        file.write(json.dumps(record) + "\n")


def versions(memtui, name="prefer-pnpm"):
    return [(v["number"], v["by"], v["deleted"]) for v in memtui.json("history", name)["versions"]]


def test_who_wrote_each_version_is_told_apart(memtui, world):
    path = path_of(memtui, "prefer-pnpm")
    assert versions(memtui) == [(1, "first", False)]
    path.write_text(path.read_text() + "The agent's line.\n")
    os.utime(path, (NOW + 100, NOW + 100))
    logged_write(world, path, "7c1e55a0-3b1f-4f6e-9a58-2f6f0d1c8b11", "p1")
    assert versions(memtui)[-1] == (2, "agent", False)
    memtui("edit", "prefer-pnpm", "--description", "Use pnpm")
    assert versions(memtui)[-1] == (3, "person", False)
    path.write_text(path.read_text() + "An editor's line.\n")
    os.utime(path, (NOW + 5000, NOW + 5000))
    found = memtui.json("history", "prefer-pnpm")["versions"]
    assert [v["by"] for v in found] == ["first", "agent", "person", "other"]
    assert [v["seen"] for v in found] == [True, False, False, False], "one field was changed: the line was not seen"
    assert (found[1]["session"], found[1]["prompt"]) == ("7c1e55a0-3b1f-4f6e-9a58-2f6f0d1c8b11", "p1")
    text = memtui("history", "prefer-pnpm").out
    assert "you, with memtui" in text
    assert "not seen yet" in text


def test_a_version_is_shown_compared_restored_exactly_and_counts_as_seen(memtui):
    path = path_of(memtui, "prefer-pnpm")
    first = path.read_bytes()
    versions(memtui)
    path.write_bytes(first.replace(b"pnpm", b"yarn"))
    assert len(versions(memtui)) == 2
    assert "yarn" in memtui("history", "prefer-pnpm", "--diff", "2").out
    assert memtui.json("history", "prefer-pnpm", "--show", "1")["text"] == first.decode()
    memtui("history", "prefer-pnpm", "--restore", "1")
    assert path.read_bytes() == first
    memtui("undo")
    assert path.read_bytes() == first.replace(b"pnpm", b"yarn")
    for number in ("1", "2"):
        memtui("history", "prefer-pnpm", "--restore", number)
    assert memtui.json("history", "prefer-pnpm")["versions"][-1]["seen"]
    path.unlink()
    number, by, is_deletion = versions(memtui)[-1]
    assert (by, is_deletion) == ("other", True)
    done = memtui("history", "prefer-pnpm", "--restore", str(number), check=False)
    assert done.code == 3
    assert done.err.startswith("memtui: That version is the deletion: there is no text to restore.")
    memtui("history", "prefer-pnpm", "--restore", "1")
    assert path.read_bytes() == first


def test_the_session_and_the_prompt_are_told_where_the_transcript_is_there(memtui, world):
    path = path_of(memtui, "prefer-pnpm")
    versions(memtui)
    session = "7c1e55a0-3b1f-4f6e-9a58-2f6f0d1c8b11"
    home = Path(world.env["HOME"]) / ".claude" / "projects" / "-somewhere"
    home.mkdir()
    rows = [
        {"type": "user", "uuid": "u1", "promptId": "p0", "message": {"content": "Hello"}},
        {"type": "user", "uuid": "u2", "promptId": "p1", "message": {"content": "Remember that we use pnpm"}},
        {"type": "custom-title", "customTitle": "Lock files"},
    ]
    (home / f"{session}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path.write_text(path.read_text() + "The agent's line.\n")
    os.utime(path, (NOW + 100, NOW + 100))
    logged_write(world, path, session, "p1")
    found = memtui.json("history", "prefer-pnpm")["versions"][-1]
    assert (found["title"], found["prompt_text"]) == ("Lock files", "Remember that we use pnpm")
    out = memtui("history", "prefer-pnpm").out
    assert "Claude in “Lock files”" in out
    assert "You said: “Remember that we use pnpm”" in out


def body(memtui, name, number):
    return memtui.json("history", name, "--show", str(number))["text"].rpartition("---\n")[2].strip()


@pytest.mark.slow
def test_history_goes_on_over_a_new_name_and_restores_earlier_versions(memtui):
    def names(name):
        return [each["name"] for each in memtui.json("history", name)["versions"]]

    memtui("new", "zz", "--description", "d", "--body", "one")
    memtui("edit", "zz", "--body", "two")
    memtui("mv", "zz", "yy")
    assert names("yy") == ["zz", "zz", "yy"]
    assert not any(each["deleted"] for each in memtui.json("history", "yy")["versions"])
    assert "called zz" in memtui("history", "yy").out
    assert body(memtui, "yy", 1) == "one"
    memtui("mv", "yy", "--scope", "global")
    assert names("yy") == ["zz", "zz", "yy", "yy"]
    memtui("undo")
    memtui("undo")
    assert names("zz") == ["zz", "zz", "yy", "yy", "yy", "zz"]
    memtui("mv", "zz", "yy")
    memtui("history", "yy", "--restore", "1")
    path = path_of(memtui, "yy")
    assert path.name == "yy.md"
    assert "name: yy\n" in path.read_text()
    assert "one" in path.read_text()
    memtui("rm", "yy")
    memtui("history", "yy", "--restore", "1")
    assert "name: yy\n" in path.read_text()


def test_an_earlier_name_leads_to_the_present_one_and_times_only_grow(memtui):
    memtui("new", "zz", "--description", "d", "--body", "one")
    memtui("mv", "zz", "yy")
    for words in ([], ["--restore", "1"]):
        refused = memtui("history", "zz", *words, check=False)
        assert refused.code == 3
        assert "zz became" in refused.err
        assert "memtui history project:yy" in refused.err
    times = [version["written"] for version in memtui.json("history", "yy")["versions"]]
    assert times == sorted(times)


def test_a_disk_that_can_not_be_written_does_not_hide_what_is_known(memtui, world):
    versions(memtui)
    path = path_of(memtui, "prefer-pnpm")
    path.write_text(path.read_text() + "Somebody's line.\n")
    root = Path(world.env["HOME"]) / ".claude" / "memtui"
    (root / "run" / "versions.lock").unlink()
    (root / "run" / "versions.lock").mkdir()
    done = memtui("history", "prefer-pnpm")
    assert "newest version can't be kept" in done.err
    assert "found on the first run" in done.out
