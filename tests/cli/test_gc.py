"""What is kept is said, and what went is shown sensibly."""

import os

import pytest

from memtui.base import clock_hot
from memtui.deliver import log_hot
from memtui.store.versions import trash
from recalls import deliver

from .conftest import NOW

DAY = 86_400.0
NOTE = "01K8ZC5N8W3M1T9Q6V2R4B7XAD"


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
        text = f'<memtui-guidance id="{NOTE}" from="ci">\nNote.\nCI is red.\n</memtui-guidance>'
        item = {"kind": "guidance", "id": NOTE, "scope": "project"}
        made.append(
            deliver(root, seconds, item, event="UserPromptSubmit", session_id="5e551011", text=text, chars=97)["id"]
        )
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
