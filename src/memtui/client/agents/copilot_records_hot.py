"""The events of a session of Copilot CLI as Claude Code's records. Hot path. Observed with 1.0.102 (docs/agents.md).

A session's file, `session-state/ID/events.jsonl`, has an event a line, written before the request that it is in.
`user.message` has the person's words (`content`), and as the model gets them (`transformedContent`), with the text of
the last prompt hook that gave one. Escape before the first answer and `/rewind` take events out of the file again."""

from memtui.base import fastjson_hot
from memtui.client.agents import records_hot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Record = dict[str, object]

# Tools by the agent's names and by Claude Code's.
TOOLS = {
    "bash": "Bash",
    "create": "Write",
    "edit": "Edit",
    "view": "Read",
    "grep": "Grep",
    "glob": "Glob",
    "task": "Agent",
}
EVENTS = {
    "sessionStart": "SessionStart",
    "userPromptSubmitted": "UserPromptSubmit",
    "preToolUse": "PreToolUse",
    "postToolUse": "PostToolUse",
}
PLACES = {"session.start", "session.resume", "session.context_changed"}
BEGINNINGS = {"session.start", "session.resume", "assistant.turn_start"}
MODEL_EVENTS = "model."  # of a compaction; they are linked among themselves
STOP, LATE = "agentStop", "HookTimeoutError"
# What the agent puts in front of a prompt, and around a hook's text behind it.
TIME_END, REMINDER = "</current_datetime>", "<system_reminder>"
# The words in which Claude Code reports a refusal.
REFUSED = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n"
INTERRUPTED = "[Request interrupted by user]"


class CopilotReading:
    """Records as Claude Code writes them, of the events of one session; those of subagents are left out."""

    __slots__ = ("_claude_input", "_cwd", "_is_detached", "_is_sure", "_own", "_reasons", "_session")

    def __init__(self, claude_input: "Callable[[str, Record], Record]") -> None:
        self._claude_input = claude_input  # of a tool by Claude Code's name, with the agent's fields
        self._session = self._own = self._cwd = ""
        self._is_detached = False  # the agent itself began it, to go on with another session's work
        # Whether the end of the last turn's hooks was read, or no such hook can have spoken.
        self._is_sure = False
        # What hooks that kept the agent from stopping said: it comes back as if a person had typed it.
        self._reasons: list[str] = []

    def __call__(self, raw: "Record", _: int) -> "list[Record]":
        data = fastjson_hot.table(raw, "data")
        kind = fastjson_hot.text(raw, "type")
        if kind.startswith(MODEL_EVENTS):
            return []
        is_aside = bool(raw.get("agentId") or data.get("parentToolCallId"))
        if kind in PLACES and not is_aside:
            self._note_place(data)
        self._is_sure |= kind in BEGINNINGS
        make = None if is_aside else MAKERS.get(kind)
        # An event without a record of its own still links those before and behind it.
        records = (make(self, data, raw) if make is not None else None) or [{"type": "system", "cwd": self._cwd}]
        name, above = fastjson_hot.text(raw, "id"), raw.get("parentId")
        for number, record in enumerate(records, 1):
            own = name if number == len(records) else f"{name}-{number}"
            record.update({"uuid": own, "parentUuid": above})
            if record["type"] == "assistant":
                record["message"] = {**fastjson_hot.table(record, "message"), "id": name}
            above = own
        return records

    def _note_place(self, data: "Record") -> None:
        self._own = fastjson_hot.text(data, "sessionId") or self._own
        self._is_detached |= bool(data.get("detachedFromSpawningParentSessionId"))
        self._session = self._own or self._session
        place = data.get("context")
        self._cwd = fastjson_hot.text(place if isinstance(place, dict) else data, "cwd") or self._cwd

    def _origin(self, raw: "Record") -> "Record":
        origin: Record = {"timestamp": raw.get("timestamp"), "sessionId": self._own or self._session, "cwd": self._cwd}
        if self._own and self._session != self._own:  # a fork has its parent's events under their ids
            origin["forkedFrom"] = {"sessionId": self._session, "messageUuid": raw.get("id")}
        return origin

    def begin_hook(self, data: "Record", raw: "Record") -> "list[Record]":
        """Take the session and its directory from the input of a hook: a reading may begin behind the session's start,
        and events that a fork copied name their own session."""
        hook_input = fastjson_hot.table(data, "input")
        self._session = fastjson_hot.text(hook_input, "sessionId") or self._session
        self._is_sure &= data.get("hookType") != STOP
        self._cwd = fastjson_hot.text(hook_input, "cwd") or self._cwd
        return []

    def end_hook(self, data: "Record", raw: "Record") -> "list[Record]":
        kind = fastjson_hot.text(data, "hookType")
        output, error = fastjson_hot.table(data, "output"), fastjson_hot.table(data, "error")
        is_block = output.get("decision") == "block"
        if kind == STOP:
            self._is_sure = True
            self._reasons += [fastjson_hot.text(output, "reason")] if is_block else []
        event, origin = EVENTS.get(kind, ""), self._origin(raw)
        if not event:
            return []
        text = fastjson_hot.text(output, "additionalContext")
        records = [records_hot.blocked(origin)] if kind == "userPromptSubmitted" and is_block else []
        # What came with a prompt stands in the message that follows.
        if text and kind != "userPromptSubmitted":
            records.append(records_hot.injected([text], event, origin))
        source = fastjson_hot.text(error, "source")
        if "memtui" in source:
            is_late = fastjson_hot.text(error, "message").startswith(LATE)
            records.append(records_hot.failure(event, source, origin, is_late))
        return records

    def message(self, data: "Record", raw: "Record") -> "list[Record]":
        text, sent = fastjson_hot.text(data, "content"), fastjson_hot.text(data, "transformedContent")
        is_person = not (self._is_detached or data.get("source") or data.get("isAutopilotContinuation"))
        # What is piped into a run without a person keeps its last line's end; what is typed does not.
        is_person &= not text.endswith("\n") and (self._is_sure or data.get("delivery") != "queued")
        if text in self._reasons:
            self._reasons.remove(text)
            is_person = False
        origin = self._origin(raw)
        records = [(records_hot.person if is_person else records_hot.aside)(text, origin)]
        added = sent[sent.find(text, max(sent.find(TIME_END), 0)) + len(text) :] if text in sent else ""
        if REMINDER in added:
            records.append(records_hot.injected([added], "UserPromptSubmit", self._origin(raw)))
        return records

    def reply(self, data: "Record", raw: "Record") -> "list[Record]":
        text = fastjson_hot.text(data, "content")
        records = [records_hot.reply(text, self._origin(raw))] if text else []
        for call in fastjson_hot.rows(data, "toolRequests"):
            if not isinstance(call, dict):
                continue
            name, fields = fastjson_hot.text(call, "name"), call.get("arguments")
            name, call_id = TOOLS.get(name, name), fastjson_hot.text(call, "toolCallId")
            fields = self._claude_input(name, fields) if isinstance(fields, dict) else {"input": fields}
            records.append(records_hot.tool_call(name, call_id, fields, self._origin(raw)))
        return records

    def result(self, data: "Record", raw: "Record") -> "list[Record]":
        result, error = fastjson_hot.table(data, "result"), fastjson_hot.table(data, "error")
        text = fastjson_hot.text(result, "detailedContent") or fastjson_hot.text(result, "content")
        is_error = data.get("success") is not True or bool(fastjson_hot.table(data, "shellExecution").get("exitCode"))
        name = fastjson_hot.text(data, "toolCallId")
        text = text or fastjson_hot.text(error, "message")
        return [records_hot.tool_result(name, text, self._origin(raw), is_error)]

    def permission(self, data: "Record", raw: "Record") -> "list[Record]":
        """Make what a person said on refusing a tool: the agent writes beside it who decided."""
        result = fastjson_hot.table(data, "result")
        words = fastjson_hot.text(result, "feedback")
        if not words or data.get("decisionSource") != "human_response":
            return []
        name = fastjson_hot.text(data, "toolCallId")
        record = records_hot.tool_result(name, REFUSED + words, self._origin(raw), is_error=True)
        return [{**record, "toolDenialKind": "user-rejected"}]

    def compaction(self, data: "Record", raw: "Record") -> "list[Record]":
        return [records_hot.compaction(self._origin(raw))] if data.get("success") is not False else []

    def interruption(self, data: "Record", raw: "Record") -> "list[Record]":
        return [records_hot.aside(INTERRUPTED, self._origin(raw))]


MAKERS: "dict[str, Callable[[CopilotReading, Record, Record], list[Record]]]" = {
    "hook.start": CopilotReading.begin_hook,
    "hook.end": CopilotReading.end_hook,
    "user.message": CopilotReading.message,
    "assistant.message": CopilotReading.reply,
    "tool.execution_complete": CopilotReading.result,
    "permission.completed": CopilotReading.permission,
    "session.compaction_complete": CopilotReading.compaction,
    "session.context_cleared": CopilotReading.compaction,
    "abort": CopilotReading.interruption,
}
