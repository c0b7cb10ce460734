"""`memtui import sessions`: what it says when drafts came, when nothing did, and what it refuses."""

import json
from pathlib import Path

import pytest

from memtui.base import paths_hot

RULES = ("Always run the linter before each commit.", "Never push to main without asking me first.")


@pytest.fixture
def past(memtui, tmp_path):
    """The transcripts of two projects, and nothing else."""
    config = Path(memtui.env["CLAUDE_CONFIG_DIR"])
    for each in config.glob("projects/*/*.jsonl"):
        each.unlink()

    def say(rule, project="", name="one"):
        cwd = project or memtui.cwd
        path = config / "projects" / paths_hot.slug(cwd) / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        common = {"sessionId": name, "cwd": cwd, "timestamp": "2026-11-20T10:00:00Z"}
        row = {"type": "user", "uuid": name, **common, "message": {"role": "user", "content": rule}}
        path.write_text(json.dumps(row) + "\n")
        return path

    return say


def test_what_can_not_be_read_is_named_with_the_reason(memtui, past, monkeypatch):
    from memtui.base import fs_hot

    path, read = past(RULES[0]), fs_hot.read_bytes

    def refuse(name, *more, **named):
        if name == str(path):
            raise PermissionError(13, "Permission denied", name)
        return read(name, *more, **named)

    monkeypatch.setattr(fs_hot, "read_bytes", refuse)
    done = memtui("import", "sessions")
    assert "No transcript could be read in " in done.out
    assert "can't be read: Permission denied" in done.out


def test_on_a_full_disk_nothing_comes_half_and_the_next_run_brings_it(memtui, past, monkeypatch):
    from memtui.base import fs_hot

    past(RULES[0])
    write = fs_hot.write_atomic

    def full(path, *more, **named):
        if path.endswith("run/backfill.json"):
            raise OSError(28, "No space left on device", path)
        return write(path, *more, **named)

    before = memtui("inbox").out
    with monkeypatch.context() as patched:
        patched.setattr(fs_hot, "write_atomic", full)
        done = memtui("import", "sessions", check=False)
    assert done.code == 1
    assert "No space left on device" in done.err
    assert memtui("inbox").out == before
    assert "Added 1 draft" in memtui("import", "sessions").out
