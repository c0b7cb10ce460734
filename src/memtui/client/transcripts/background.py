"""Work that goes on in the background: commands and agents that the agent started, until the client says that they
ended.

The client names each by an id: in the result of the call that started it, in the notification of its end, and in what
the tools report that ask for its output or stop it."""

import re

from memtui.client.transcripts import transcript

# The tools that ask for the output of what runs, and those that stop it, in all versions of the client.
ASKING = ("TaskOutput", "BashOutput", "AgentOutputTool")
STOPPING = ("TaskStop", "KillShell", "KillBash")
# The fields of their input that name what runs.
NAMES = ("task_id", "shell_id", "bash_id", "agentId")
NOTIFICATION = "<task-notification>"

_ID = re.compile(r"<task-id>\s*([\w-]{1,80})\s*</task-id>")
_ENDED = re.compile(r"<status>\s*(?:completed|failed|killed|stopped)\s*</status>")
_RUNNING = ("running", "pending")
_IN_BACKGROUND = re.compile(r"^Command running in background with ID: ([\w-]{1,80})", re.MULTILINE)
_GONE = re.compile(r"No (?:task|shell) found with ID")
_UNSURE = "may still be running"


def started(text: str, result: object, *, is_asked: bool) -> tuple[str, bool]:
    """Return the id of what a call left running (`is_asked` for), empty if nothing, and whether it is an agent."""
    if isinstance(result, dict):
        if result.get("status") == "async_launched":
            return transcript.text_of(result.get("agentId")), True
        return transcript.text_of(result.get("backgroundTaskId")), False
    match = _IN_BACKGROUND.search(text) if is_asked else None
    return (match[1] if match else ""), False


def ended(notification: str) -> str:
    """Return the id of what has ended, by a message of the client; empty if it tells of nothing that has."""
    match = _ID.search(notification) if notification.lstrip().startswith(NOTIFICATION) else None
    return match[1] if match and _ENDED.search(notification) else ""


def over(tool: str, tool_input: dict[str, object], text: str, result: object, *, failed: bool) -> str:
    """Return the id of what has ended, by a tool that asked for it or stopped it, or `failed` to; else empty."""
    name = next((text_value for key in NAMES if (text_value := transcript.text_of(tool_input.get(key)))), "")
    if failed or tool in STOPPING:
        match = _GONE.search(text) if failed else _UNSURE not in text
        return name if match else ""
    data = result if isinstance(result, dict) else {}
    task = data.get("task")
    status = transcript.text_of((task if isinstance(task, dict) else data).get("status"))
    return name if (status and status not in _RUNNING) or _ENDED.search(text[:400]) else ""
