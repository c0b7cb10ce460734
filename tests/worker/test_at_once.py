"""Two workers at once: each waits where the other one is just about to write, which no lock would let happen."""

import json
import threading

import pytest

from memtui.base import fs, paths
from memtui.client.transcripts.conversation import Turn
from memtui.inbox import format as inbox_format
from memtui.learn import inbox_writer, signals
from waiting import at_once

RULE = "From now on use pnpm instead of npm"
# Seconds for the other one to come to the same place, which it does at once if nothing keeps it out.
PATIENCE = 0.3


@pytest.fixture
def env(tmp_path):
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    return {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "config"), "MEMTUI_HOME": str(tmp_path / "root")}


def meeting(monkeypatch, module, name):
    """Let whoever calls a function wait for another one who calls it."""
    barrier, function = threading.Barrier(2), getattr(module, name)

    def called(*given, **named):
        try:
            barrier.wait(PATIENCE)
        except threading.BrokenBarrierError:
            pass
        return function(*given, **named)

    monkeypatch.setattr(module, name, called)


@pytest.mark.slow
def test_what_two_sessions_say_at_once_is_one_draft_that_was_seen_twice(env, tmp_path, monkeypatch):
    meeting(monkeypatch, inbox_writer.inbox_file, "add_entry")
    shop = str(tmp_path / "shop")

    def put(session):
        turn = Turn(RULE, "prompt", uuid=session, session=session, agent="I ran npm.", time="2026-01-01T00:00:00Z")
        inbox_writer.write_drafts(env, shop, [signals.signal_of(turn)], 0.5)

    at_once(lambda: put("s1"), lambda: put("s2"))
    box = paths.inbox_dir(env["MEMTUI_HOME"], paths.project_key(shop))
    (entry,) = inbox_format.read(f"{box}/pending-updates.md")
    assert entry.fields["seen"] == "2"
    rows = [json.loads(line) for line in fs.read_bytes(f"{box}/extracted.jsonl").splitlines()]
    assert {row["evidence"] for row in rows} == {"s1", "s2"}
