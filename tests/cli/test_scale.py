"""What grows with the years takes no more memory, and reads no more than it needs."""

import json
import tracemalloc
from pathlib import Path

import pytest

from memtui.base import clock_hot, ids_hot, paths_hot
from memtui.deliver import log_hot

from .conftest import NOW

pytestmark = pytest.mark.large

MB = 1 << 20


@pytest.fixture
def log(bare):
    """6 MB of deliveries: 60 sessions, the newest last, each told 25 notes."""
    root = bare.env["HOME"] + "/.claude/memtui"
    lines = []
    for number in range(1500):
        seconds = NOW - 3 * 86400 + number
        record = {
            "v": 1,
            "id": ids_hot.new_id(seconds),
            "time": clock_hot.iso(seconds),
            "event": "UserPromptSubmit",
            "session_id": f"{number // 25:08x}-0000",
            "project": "-shop",
            "mode": "full",
            "chars": 4000,
            "text": f"Word{number} " * 400,
            "items": [{"kind": "guidance", "id": f"N{number:07}", "scope": "project"}],
            "ms": 10.0,
        }
        lines.append(json.dumps(record) + "\n")
    path = Path(log_hot.log_path(root, NOW))
    path.parent.mkdir(parents=True)
    path.write_text("".join(lines))
    return root


def peak(run):
    """What a function gives back, and the most memory that it held, in bytes."""
    tracemalloc.start()
    try:
        return run(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "words",
    [
        ("activity", "0000001f-0000"),
        ("activity", "--all-projects", "--text", "nowhere to be found"),
        ("activity", "--all-projects", "--outcome", "failed"),
        ("activity", "0000"),
        ("activity", "--all-projects"),
    ],
)
def test_a_long_log_is_not_held_in_memory(bare, log, words):
    bare(*words, check=False)  # what is imported is no matter
    _, most = peak(lambda: bare(*words, check=False))
    assert most < 3 * MB


def test_what_is_counted_in_a_part_of_the_log_says_so(bare, log, monkeypatch):
    monkeypatch.setattr(log_hot, "WINDOW_BYTES", MB)
    # What a word of the line can find is sought in all of it.
    assert len(bare.json("activity", "--all-projects", "--text", "WORD1007 word1007")["deliveries"]) == 1
    old = bare.json("activity", "00000000-")["deliveries"]
    assert {row["session_id"] for row in old} == {"00000000-0000"}
    assert bare.json("activity", "--all-projects", "--outcome", "arrived") == {
        "deliveries": [],
        "answers": [],
        "runs": [],
        "skipped_lines": 0,
        "whole_log": False,
    }


def test_a_long_inbox_lists_its_first_entries_and_counts_the_others(bare):
    inbox = Path(bare.env["HOME"]) / ".claude" / "memtui" / "projects" / paths_hot.project_key(bare.cwd)
    inbox.mkdir(parents=True)
    (inbox / "pending-items.md").write_text("".join(f"- matter {number}\n" for number in range(250)))
    found = bare("inbox").out
    assert "matter 199" in found
    assert "matter 200" not in found
    assert "50 more: memtui inbox --limit 0" in found
    assert "matter 249" in bare("inbox", "--limit", "0").out
    data = bare.json("inbox", "--limit", "10")
    assert (len(data["entries"]), data["more"]) == (10, 240)
    assert "50 more" in bare("inbox", "--kind", "todos").out
    assert len(bare.json("inbox", "--kind", "todos", "--limit", "0")["entries"]) == 250
