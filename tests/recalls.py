"""Lines of the delivery log, for tests."""

import json
from pathlib import Path

from memtui.base import clock_hot, ids_hot
from memtui.deliver import log_hot

SESSION = "5e55101f-recalls"
# The id of the last delivery.
LAST = ids_hot.new_id(0.0)


def deliver(root, seconds, *items, **more):
    """Log a delivery of that time with some items; its record."""
    record = {"v": 1, "id": ids_hot.new_id(seconds), "time": clock_hot.iso(seconds), "items": list(items), **more}
    log_hot.append(root, record, seconds)
    return record


def bring(root, transcripts, path, seconds, numbers, said="I have changed the colour.", sessions=6, **more):
    """Log that prompts brought a memory, each with its turn in the transcript of one of some sessions."""
    for number in numbers:
        session = f"5e55{number % sessions}aaa-1"
        file = Path(transcripts, f"{session}.jsonl")
        size = file.stat().st_size if file.exists() else 0
        rows = [
            {"type": "user", "message": {"content": f"change the button {number}"}},
            {"type": "assistant", "message": {"content": [{"type": "text", "text": said}]}},
        ]
        with file.open("a") as transcript:
            transcript.write("".join(json.dumps(row) + "\n" for row in rows))
        item = {"kind": "recall", "path": str(path), "reason": "fits the prompt"}
        facts = {"event": "UserPromptSubmit", "session_id": session, "transcript": str(file), "transcript_size": size}
        deliver(root, seconds + number, item, **{**facts, **more})


def log(world, path, chars=400):
    """Log that a session recalled a memory twice in the last hour, opened it once, and was corrected once."""
    item = {"id": path.rpartition("/")[2].removesuffix(".md"), "scope": "project", "path": path}
    recall = {**item, "kind": "recall", "reason": "fits the prompt", "probability": 0.82, "chars": chars}
    for ago, delivery, event, found in (
        (600.0, ids_hot.new_id(1.0), "UserPromptSubmit", recall),
        (500.0, ids_hot.new_id(2.0), "PostToolUse", {**item, "kind": "use", "action": "read"}),
        (400.0, ids_hot.new_id(3.0), "Stop", {**item, "kind": "corrected", "reason": "Use pnpm"}),
        (300.0, LAST, "UserPromptSubmit", recall),
    ):
        size = chars if found is recall else 0
        more = {"id": delivery, "event": event, "session_id": SESSION, "chars": size, "text": "x" * size}
        place = {"project": "shop", "project_root": world.shop}
        deliver(world.env["MEMTUI_HOME"], world.now - ago, found, **more, **place)
