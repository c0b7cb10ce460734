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
from memtui.hooks.install import entries

SECONDS = 20.0  # for a hook; the client gives it 10
NAME = "next"
PROMPT = "write the tests of the basket"


def start(directory: str, project: str, now: float) -> str:
    """Start a session of a project in a sample world, with a first prompt that takes the notes that wait, and
    return its id. `now`: seconds since the epoch. Raises OSError, and subprocess.SubprocessError or ValueError if a
    hook gives no answer that can be read."""
    world = layout(directory, now)
    world = replace(world, sessions={**world.sessions, NAME: str(uuid.uuid4())})
    session = sessions.DemoSession(world, NAME, project, 0.0)
    _hook(session, "SessionStart", source="startup")
    session.says(PROMPT, 1.0)
    _hook(session, "UserPromptSubmit", prompt=PROMPT, prompt_id=session.prompt)
    session.answers("I wrote them with assertions on what the user sees.")
    session.write_transcript()
    return session.id


def _hook(session: sessions.DemoSession, event: str, **more: str) -> None:
    """Run the hook of an event, and add what it answers to the transcript."""
    world, path = session.world, transcript_path(session.world, NAME, session.project)
    payload = {"session_id": session.id, "transcript_path": path, "cwd": session.project, "hook_event_name": event}
    hook = subprocess.run(
        [sys.executable, "-I", "-S", entries.launcher_path(), event],
        input=json.dumps({**payload, **more}).encode(),
        env={**os.environ, **world.env},
        cwd=session.project,
        capture_output=True,
        timeout=SECONDS,
        check=True,
    )
    text = json.loads(hook.stdout or "{}").get("hookSpecificOutput", {}).get("additionalContext", "")
    if text:
        where = {"hookName": event, "hookEvent": event, "toolUseID": event}
        session.record("attachment", 0.0, attachment={**where, "type": "hook_additional_context", "content": [text]})
