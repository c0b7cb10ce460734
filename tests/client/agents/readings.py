"""What a session file reads as, in a file beside the data: MEMTUI_RENEW_SNAPSHOTS=1 writes it anew; read the diff then."""

import json
import os
from dataclasses import asdict
from pathlib import Path

from memtui.client.transcripts.conversation import Conversation
from memtui.rules.tool_calls import DeedReader

READ = Path(__file__).resolve().parents[2] / "data" / "agents" / "read"


def check(name, records):
    """The records of a session, what the person said in it and before what, and what the agent did."""
    conversation, deeds = Conversation(), DeedReader()
    done = [deed for record in records if not conversation.feed(record) for deed in deeds.feed(record)]
    calls = [
        [*deed[:4], deed.call and {name: getattr(deed.call, name) for name in deed.call.__slots__}] for deed in done
    ]
    read = [*records, *map(asdict, conversation.turns), conversation.to_state(), *calls]
    lines = [json.dumps(row, ensure_ascii=False) for row in read]
    path = READ / f"{name}.jsonl"
    if os.environ.get("MEMTUI_RENEW_SNAPSHOTS"):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    assert lines == path.read_text(encoding="utf-8").split("\n")[:-1]
