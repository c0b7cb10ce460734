"""`memtui approve` writes the rules that a draft's words say, as its sessions kept and broke them, others, or none."""

import json
import os

from memtui.base import clock_hot, paths_hot
from memtui.inbox import file_hot

from .conftest import NOW

RULE = "never npm *, instead pnpm *"


def call(number, command):
    """The records of a command that the agent ran in a session, an hour ago."""
    session = {"sessionId": "s1", "version": "2.1.197", "timestamp": clock_hot.iso(NOW - 3600 + number)}
    use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
    outcome = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "done"}
    for kind, block in (("assistant", use), ("user", outcome)):
        yield {"type": kind, "uuid": f"{kind}{number}", "message": {"role": kind, "content": [block]}, **session}


def test_a_draft_is_approved_with_its_rules_with_others_or_with_none(bare):
    env = bare.env
    commands = ["npm install", "pnpm test", "npm ci"]
    records = [record for number, command in enumerate(commands) for record in call(number, command)]
    path = f"{paths_hot.config_dir(env)}/projects/-somewhere/s1.jsonl"
    os.makedirs(os.path.dirname(path))
    with open(path, "w") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
    os.utime(path, (NOW, NOW))
    for words in ("Use pnpm, not npm", "Use pnpm, not npm, says Ann", "Use pnpm, not npm, says Bob"):
        file_hot.add_entry(paths_hot.inbox_dir(paths_hot.root(env), None), "updates", {"scope": "global"}, words)
    ids = [entry["id"] for entry in bare.json("inbox")["entries"]]
    broken = f"rules  {RULE}   broken 2 of 3 times in the last 30 days"
    assert broken in bare("inbox", ids[0]).out
    assert bare.json("inbox", ids[0])["checks"] == [{"rule": RULE, "opportunities": 3, "broken": 2}]
    assert broken in bare("approve", ids[0]).out
    assert "rules:" not in bare("approve", ids[1], "--no-rules").out
    other = bare.json("approve", ids[2], "--rule", 'never: {path: "gen/**"}')["approved"][0]["text"]
    assert 'rules:\n  - never: {path: "gen/**"}\n---' in other
    bare("undo")
    name = next(row["name"] for row in bare.json("list")["memories"] if row["rules"])
    for line in ("", RULE):
        assert f"{'+' if line else '-'}rules:" in bare("edit", name, "--rule", line).out
    refused = bare("approve", ids[2], "--rule", "no npm", check=False)
    assert (refused.code, "This is no rule: no npm" in refused.err) == (2, True)
    assert bare("approve", "--all", "--rule", "never: {path: x}", "--no-rules", check=False).code == 2
