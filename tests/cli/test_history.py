"""`memtui history`: every version of a memory with who wrote it, what it changed, and the way back."""

import json
import os
from pathlib import Path

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
