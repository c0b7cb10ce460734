"""Records as Claude Code's transcripts have them, made of another agent's: who spoke, which tools ran, what hooks gave.
Hot path.

`origin` has what all records share: `uuid` (the same at each reading), `timestamp` (ISO 8601), `sessionId`, `cwd`; and
`parentUuid` where a text of a hook has only arrived once the model answered below it: BEFORE for a record that follows
the one before it in the file."""

BEFORE = "before"
PREVIEW_MARK = "<persisted-output>"

TYPE_CHECKING = False
if TYPE_CHECKING:
    Record = dict[str, object]


def person(text: str, origin: "Record", prompt_id: str = "") -> "Record":
    """Make the record of a person's prompt."""
    more: Record = {"promptId": prompt_id} if prompt_id else {}
    return {"type": "user", "message": {"role": "user", "content": text}, **origin, **more}


def typed(text: str) -> str:
    """Mark what was piped into a run, which two empty lines part from the prompt; words of that form look the same."""
    piped, _, prompt = text.rpartition("\n\n\n")
    return f"<piped-input>{piped}</piped-input>\n{prompt}" if piped else prompt


def aside(text: str, origin: "Record") -> "Record":
    """Make a record of words in the person's place that no person wrote."""
    return {**person(text, origin), "isMeta": True}


def reply(text: str, origin: "Record") -> "Record":
    """Make the record of the agent's words."""
    return message([{"type": "text", "text": text}], origin)


def answer(origin: "Record") -> "Record":
    """Make the record of an answer of the model whose words and calls other records have."""
    return message([], origin)


def tool_call(name: str, call_id: str, tool_input: "Record", origin: "Record") -> "Record":
    """Make the record of a tool's call; name and input as Claude Code's tools have them where there is one alike."""
    return message([{"type": "tool_use", "id": call_id, "name": name, "input": tool_input}], origin)


def message(blocks: "list[Record]", origin: "Record") -> "Record":
    """Make the record of one message of the model: blocks of text and of calls."""
    content: Record = {"id": origin.get("uuid", ""), "role": "assistant", "content": blocks}
    return {"type": "assistant", "message": content, **origin}


def tool_result(call_id: str, text: str, origin: "Record", is_error: bool = False) -> "Record":
    """Make the record of what a tool answered; `is_error`: it failed, or was refused."""
    block: Record = {"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": is_error}
    return {"type": "user", "message": {"role": "user", "content": [block]}, "toolUseResult": text, **origin}


def injected(texts: "list[str]", event: str, origin: "Record") -> "Record":
    """Make the record of texts that hooks gave the model at an event."""
    attachment: Record = {"type": "hook_additional_context", "hookEvent": event, "content": texts}
    return {"type": "attachment", "attachment": attachment, **origin}


def preview(text: str) -> str:
    """Mark a text of a hook as one that did not reach the model whole."""
    return PREVIEW_MARK + "\n" + text


def failure(event: str, command: str, origin: "Record", is_late: bool = False) -> "Record":
    """Make the record of a hook that failed, or was too late; `command` names memtui if it was ours."""
    kind = "hook_cancelled" if is_late else "hook_non_blocking_error"
    attachment: Record = {"type": kind, "hookEvent": event, "command": command, "timedOut": is_late}
    return {"type": "attachment", "attachment": attachment, **origin}


def blocked(origin: "Record") -> "Record":
    """Make the record of a prompt that a hook blocked."""
    return {"type": "system", "content": "operation blocked by hook", **origin}


def compaction(origin: "Record") -> "Record":
    """Make the record of a compaction: texts above it are in no later request."""
    return {"type": "system", "subtype": "compact_boundary", **origin}
