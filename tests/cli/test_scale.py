"""What grows with the years takes no more memory, and reads no more than it needs."""

import json
import tracemalloc

import pytest

from memtui.core import clock, delivery, ids, told

from .conftest import NOW

MB = 1 << 20


@pytest.fixture
def log(bare):
    """12 MB of deliveries: 60 sessions, the newest last, each told a note of its own 50 times."""
    root = bare.env["HOME"] + "/.claude/memtui"
    lines = []
    for number in range(3000):
        seconds = NOW - 3 * 86400 + number
        record = {
            "v": 1,
            "id": ids.new_id(seconds),
            "time": clock.iso(seconds),
            "event": "UserPromptSubmit",
            "session_id": f"{number // 50:08x}-0000",
            "project": "-shop",
            "mode": "full",
            "chars": 4000,
            "text": f"Word{number} " * 400,
            "items": [{"kind": "guidance", "id": f"N{number:07}", "scope": "project"}],
            "ms": 10.0,
        }
        lines.append(json.dumps(record) + "\n")
    path = delivery.log_path(root, NOW)
    bare("config", "set", "mode", "full")
    with open(_made(path), "w") as file:
        file.writelines(lines)
    return root


def _made(path):
    import os

    os.makedirs(os.path.dirname(path), exist_ok=True)
    return path


def peak(run):
    """What a function gives back, and the most memory that it held, in bytes."""
    tracemalloc.start()
    try:
        found = run()
        return found, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "words",
    [
        ("sessions",),
        ("sessions", "show", "0000001f-0000"),
        ("deliveries", "--stats"),
        ("deliveries", "--text", "nowhere to be found"),
        ("deliveries", "--outcome", "failed"),
        ("deliveries", "show", "0000"),
        ("receipts",),
    ],
)
def test_a_long_log_is_not_held_in_memory(bare, log, words):
    bare(*words, check=False)  # what is imported is no matter
    _, most = peak(lambda: bare(*words, check=False))
    assert most < 4 * MB


def test_a_session_is_counted_whole_and_shows_its_newest(bare, log):
    found = bare.json("sessions", "show", "0000001F", "--rows", "10")
    assert found["deliveries"] == 50
    assert found["sums"]["characters"] == 200_000
    assert (len(found["records"]), found["more"]) == (10, 40)
    assert "and 40 older" in bare("sessions", "show", "0000001f", "--rows", "10").out
    assert len(bare.json("sessions", "show", "0000001f-0000", "--rows", "0")["records"]) == 50
    assert bare("sessions", "show", "0000", check=False).code == 4, "it can mean several"


def test_what_is_counted_in_a_part_of_the_log_says_so(bare, log, monkeypatch):
    assert bare.json("sessions")["whole_log"]
    assert bare.json("deliveries", "--stats")["counted_since"] is None
    assert "--all" not in bare("sessions").out + bare("deliveries", "--stats").out
    monkeypatch.setattr(delivery, "WINDOW_BYTES", MB)
    found = bare.json("sessions")
    assert not found["whole_log"]
    assert len(found["sessions"]) < 10
    assert "memtui sessions --all" in bare("sessions").out
    assert len(bare.json("sessions", "--all", "--limit", "0")["sessions"]) == 60
    stats = bare.json("deliveries", "--stats")
    assert sum(day["deliveries"] for day in stats["days"]) < 300
    assert clock.parse(stats["counted_since"]) > NOW - 3 * 86400
    assert "deliveries --stats --days 14 --all" in bare("deliveries", "--stats").out
    whole = bare.json("deliveries", "--stats", "--all")
    assert sum(day["deliveries"] for day in whole["days"]) == 3000
    assert whole["counted_since"] is None
    # What a word of the line can find is sought in all of it.
    assert len(bare.json("deliveries", "--text", "WORD7 word7")["deliveries"]) == 1
    old = bare.json("deliveries", "--session", "00000000-")["deliveries"]
    assert {row["session_id"] for row in old} == {"00000000-0000"}
    assert bare.json("deliveries", "--outcome", "arrived") == {
        "deliveries": [],
        "skipped_lines": 0,
        "whole_log": False,
    }


def test_lines_without_the_word_are_not_read_as_json(bare, log, monkeypatch):
    parsed = []
    monkeypatch.setattr(
        delivery.fastjson,
        "loads_dict",
        lambda line, real=delivery.fastjson.loads_dict: parsed.append(line) or real(line),
    )
    bare("deliveries", "--session", "00000000-")
    bare("deliveries", "--text", "word2999")
    bare("sessions", "show", "00000001-0000")
    assert told.find(log, "N0000001").id == "N0000001"
    assert len(parsed) < 300
