"""The next session of the sample world: it starts through the real hook, and has the transcript that the client would
write."""

import json
import os
import subprocess
import sys
import uuid
from dataclasses import replace

from memtui.demo import sessions
from memtui.demo.layout import layout, transcript_path
from memtui.hooks.installer import entries

SECONDS = 20.0  # for the hook; the client gives it 10
NAME = "next"


def start(directory: str, now: float) -> str:
    """Start a session of the project shop in a sample world, and return its id. `now`: seconds since the epoch. Raises
    OSError, and subprocess.SubprocessError or ValueError if the hook gives no answer."""
    world = layout(directory, now)
    world = replace(world, sessions={**world.sessions, NAME: str(uuid.uuid4())})
    path = transcript_path(world, NAME, world.shop)
    event = {
        "session_id": world.sessions[NAME],
        "transcript_path": path,
        "cwd": world.shop,
        "hook_event_name": "SessionStart",
        "source": "startup",
    }
    hook = subprocess.run(
        [sys.executable, "-I", "-S", entries.launcher_path(), "SessionStart"],
        input=json.dumps(event).encode(),
        env={**os.environ, **world.env},
        cwd=world.shop,
        capture_output=True,
        timeout=SECONDS,
        check=True,
    )
    text = json.loads(hook.stdout)["hookSpecificOutput"]["additionalContext"]
    session = sessions.DemoSession(world, NAME, world.shop, 0.0)
    where = {"hookName": "SessionStart:startup", "hookEvent": "SessionStart", "toolUseID": "SessionStart"}
    session.record("attachment", 0.0, attachment={**where, "type": "hook_additional_context", "content": [text]})
    session.record("user", 1.0, message={"role": "user", "content": "write the tests of the basket"})
    session.answers("I wrote them with assertions on what the user sees.")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(session.lines) + "\n")
    return session.id
