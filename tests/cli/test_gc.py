"""What is kept is said, and what went is shown sensibly."""

import os

import pytest

from memtui.base import clock_hot, ids_hot
from memtui.deliver import log_hot
from memtui.store.versions import trash

from .conftest import NOW

DAY = 86_400.0


@pytest.fixture
def old(bare):
    """Changes and deliveries of long ago, and of today."""
    bare.env["MEMTUI_NOW"] = clock_hot.iso(NOW - 300 * DAY)
    bare("new", "long-ago", "--scope", "global", "--type", "user", "--description", "d", "--body", "Long ago.")
    bare("rm", "long-ago")
    bare.env["MEMTUI_NOW"] = clock_hot.iso(NOW)
    bare("new", "today", "--scope", "global", "--type", "user", "--description", "d", "--body", "Today.")
    root = bare.env["HOME"] + "/.claude/memtui"
    made = []
    for seconds in (NOW - 290 * DAY, NOW - 1):
        record = {
            "v": 1,
            "id": ids_hot.new_id(seconds),
            "time": clock_hot.iso(seconds),
            "event": "UserPromptSubmit",
            "session_id": "5e551011",
            "project": "-shop",
            "text": '<memtui-guidance id="01K8ZC5N8W3M1T9Q6V2R4B7XAD" from="ci">\nNote.\nCI is red.\n</memtui-guidance>',
            "chars": 97,
            "items": [{"kind": "guidance", "id": "01K8ZC5N8W3M1T9Q6V2R4B7XAD", "scope": "project"}],
        }
        log_hot.append(root, record, seconds)
        made.append(record["id"])
    os.rename(log_hot.log_path(root, NOW), root + "/now")
    return made


def test_a_delivery_whose_text_went_is_still_told(bare, old):
    trash.fold_records(bare.env["HOME"] + "/.claude/memtui", lambda record: record["id"] == old[0], lambda _: False)
    shown = bare("activity", old[0]).out
    assert "97 characters" in shown
    assert "text removed: its memory was deleted for good" in shown
    assert "1 note" in bare("activity", "--all-projects").out
    assert old[0] in [row["id"] for row in bare.json("activity", "--all-projects")["deliveries"]]
    assert bare.json("status")["last_delivery"]["id"] == old[0]
