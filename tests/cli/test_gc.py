"""`memtui doctor --clean` says what would go, removes it for good, and everything else shows sensibly what went."""

import os

import pytest

from memtui.base import clock, ids
from memtui.deliver import log as delivery_log
from memtui.store.versions import trash

from .conftest import NOW

DAY = 86_400.0


@pytest.fixture
def old(bare):
    """Changes and deliveries of long ago, and of today."""
    bare.env["MEMTUI_NOW"] = clock.iso(NOW - 300 * DAY)
    bare("new", "long-ago", "--scope", "global", "--type", "user", "--description", "d", "--body", "Long ago.")
    bare("rm", "long-ago")
    bare.env["MEMTUI_NOW"] = clock.iso(NOW)
    bare("new", "today", "--scope", "global", "--type", "user", "--description", "d", "--body", "Today.")
    root = bare.env["HOME"] + "/.claude/memtui"
    made = []
    for seconds in (NOW - 290 * DAY, NOW - 1):
        record = {
            "v": 1,
            "id": ids.new_id(seconds),
            "time": clock.iso(seconds),
            "event": "UserPromptSubmit",
            "session_id": "5e551011",
            "project": "-shop",
            "text": '<memtui-guidance id="01K8ZC5N8W3M1T9Q6V2R4B7XAD" from="ci">\nNote.\nCI is red.\n</memtui-guidance>',
            "chars": 97,
            "items": [{"kind": "guidance", "id": "01K8ZC5N8W3M1T9Q6V2R4B7XAD", "scope": "project"}],
        }
        delivery_log.append(root, record, seconds)
        made.append(record["id"])
    os.rename(delivery_log.log_path(root, NOW), root + "/now")
    return made


def test_a_dry_run_says_what_would_go_and_changes_nothing(bare, old):
    said = bare("doctor", "--clean", "--dry-run").out
    assert "2 changes older than 180 days or beyond the newest 2,000" in said
    assert "1 removed memory can't be restored then: global:long-ago" in " ".join(said.split())
    assert "deliveries-2026-02.jsonl" in said
    assert "this can't be undone" in " ".join(said.split())
    assert max(map(len, said.splitlines())) <= 80
    data = bare.json("doctor", "--clean", "--dry-run")
    assert data["dry_run"]
    assert data["deleted"] == ["global:long-ago"]
    assert data["kept"] == {"days": 180, "mb": 100, "changes": 2000}
    assert len(bare.json("undo", "--list")["history"]) == 3
    assert "CI is red." in bare("activity", old[0]).out


def test_what_is_due_goes_for_good(bare, old):
    said = " ".join(bare("doctor", "--clean").out.split())
    assert "can no longer be undone" in said
    assert "Deleted for good" in said
    assert [row["summary"] for row in bare.json("undo", "--list")["history"]] == ["create global:today"]
    assert bare.json("history")["trash"] == []
    assert bare("doctor", "--clean").out.startswith("Nothing is old enough to be deleted.")
    assert "The oldest change kept was made just now" in bare("doctor", "--clean", "--dry-run").out
    bare("undo")
    assert bare("show", "today", check=False).code == 3
    assert bare("activity", old[0], check=False).code == 3


def test_a_delivery_whose_text_went_is_still_told(bare, old):
    trash.fold_records(bare.env["HOME"] + "/.claude/memtui", lambda record: record["id"] == old[0], lambda _: False)
    shown = bare("activity", old[0]).out
    assert "97 characters" in shown
    assert "text removed: its memory was deleted for good" in shown
    assert "1 note" in bare("activity", "--all-projects").out
    assert old[0] in [row["id"] for row in bare.json("activity", "--all-projects")["deliveries"]]
    assert bare.json("status")["last_delivery"]["id"] == old[0]
