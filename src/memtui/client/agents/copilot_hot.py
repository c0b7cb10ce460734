"""Copilot CLI as hooks and readers of sessions see it. Hot path. Observed with 1.0.102 (docs/agents.md).

A session's file, `session-state/ID/events.jsonl`, has an event a line, written before the request that it is in.
`user.message` has the person's words (`content`), and as the model gets them (`transformedContent`), with the text of
the last prompt hook that gave one. Escape before the first answer and `/rewind` take events out of the file again."""

import posix

from memtui.base import fastjson_hot, fs_hot, paths_hot
from memtui.client import process_hot
from memtui.client.agents import records_hot
from memtui.client.agents.agent_hot import Agent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Record = dict[str, object]

# Our own file of hooks in the agent's directory, and what the agent sets for the hooks of such files alone.
HOOKS_FILE, HOOKS_VARIABLE = "/hooks/memtui.json", "COPILOT_HOOK_DIR"
SESSIONS, EVENTS_FILE = "/session-state", "/events.jsonl"
# What starts a session's file in the versions that were tested: the format, and what the version begins with.
FORMAT, VERSIONS, HEAD_BYTES = 1, "1.", 1 << 14
# Tools, and the fields of their input, by the agent's names and by Claude Code's.
TOOLS = {
    "bash": "Bash",
    "create": "Write",
    "edit": "Edit",
    "view": "Read",
    "grep": "Grep",
    "glob": "Glob",
    "task": "Agent",
}
FIELDS = {"path": "file_path", "file_text": "content", "old_str": "old_string", "new_str": "new_string"}
FILE_TOOLS = {"Write", "Edit", "Read"}
EVENTS = {
    "sessionStart": "SessionStart",
    "userPromptSubmitted": "UserPromptSubmit",
    "preToolUse": "PreToolUse",
    "postToolUse": "PostToolUse",
}
PLACES = {"session.start", "session.resume", "session.context_changed"}
MODEL_EVENTS = "model."  # of a compaction; they are linked among themselves
LATE = "HookTimeoutError"
# What the agent puts in front of a prompt, and around a hook's text behind it.
TIME_END, REMINDER = "</current_datetime>", "<system_reminder>"
# The words in which Claude Code reports a refusal.
REFUSED = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n"
INTERRUPTED = "[Request interrupted by user]"
# A run without a person at it, by its arguments.
SCRIPTED = (b"-p", b"--prompt")
TERMINALS = ("/dev/pts/", "/dev/tty")
EDITOR = b"--acp"  # an editor runs it for a person
ARGUMENT_BYTES = 1 << 16


def home(env: "dict[str, str]") -> str:
    """Return the agent's directory."""
    return env.get("COPILOT_HOME") or paths_hot.home(env) + "/.copilot"


def claude_input(tool: str, fields: "Record") -> "Record":
    """Return the input of a tool, named as Claude Code does, in its fields."""
    if tool not in FILE_TOOLS:
        return fields
    named: Record = {FIELDS.get(key, key): value for key, value in fields.items()}
    if "view_range" in named:
        named["offset"] = named.pop("view_range")  # that it is a part is all that counts
    return named


class Copilot(Agent):
    """Copilot CLI."""

    name = "copilot"
    title = "Copilot CLI"
    # A start runs beside the first prompt, and none after a compaction; what is said before a tool is in no file.
    silent = ("SessionStart", "PreToolUse")
    announces_compaction = False

    def read(self, event: str, payload: "Record", env: "dict[str, str]") -> "Record | None":
        """Return the payload that events with Claude Code's names get. None for a start, which runs beside the first
        prompt, for a subagent's prompt and an empty one, and where a project's settings of Claude Code have our hooks
        beside our own file."""
        is_silent = event == "UserPromptSubmit" and (payload.get("agent_id") or not payload.get("prompt"))
        if event == "SessionStart" or is_silent:
            return None
        top = home(env)
        if HOOKS_VARIABLE not in env and paths_hot.exists(top + HOOKS_FILE):
            return None
        session = fastjson_hot.text(payload, "parent_agent_id") or fastjson_hot.text(payload, "session_id")
        transcript = fastjson_hot.text(payload, "transcript_path") or f"{top}{SESSIONS}/{session}{EVENTS_FILE}"
        more: Record = {"session_id": session, "transcript_path": transcript}
        tool = fastjson_hot.text(payload, "tool_name")
        if tool:
            more["tool_input"] = claude_input(tool, fastjson_hot.table(payload, "tool_input"))
            result = fastjson_hot.text(fastjson_hot.table(payload, "tool_result"), "result_type")
            more["tool_response"] = {"outcome": "ok" if result in {"", "success"} else result}
        return {**payload, **more}

    def answer(self, event: str, context: str, message: str, refusal: str, decision: str) -> str:
        """Return what a hook prints: only these keys at the top are taken, and a message to the person is not shown."""
        answer: Record = {"additionalContext": context} if context else {}
        if refusal:
            answer |= {"permissionDecision": decision, "permissionDecisionReason": refusal}
        return fastjson_hot.dumps(answer) if answer else ""

    def is_personal(self, payload: "Record", env: "dict[str, str]") -> bool:
        """Tell by the agent's process whether a person runs the session: at a terminal, and without a prompt among its
        arguments. True where that can't be known."""
        process = f"/proc/{process_hot.client()[0]}"
        try:
            words = fs_hot.read_bytes(process + "/cmdline", ARGUMENT_BYTES).split(b"\0")
            if EDITOR in words:
                return True
            is_scripted = any(word.partition(b"=")[0] in SCRIPTED for word in words)
            return not is_scripted and posix.readlink(process + "/fd/0").startswith(TERMINALS)
        except OSError:
            return True

    def owns(self, path: str) -> bool:
        return path.endswith(EVENTS_FILE) and f"{SESSIONS}/" in path

    def session_id(self, path: str) -> str:
        return path.rsplit("/", 2)[-2]

    def has_known_format(self, path: str) -> bool:
        try:
            head = fs_hot.read_bytes(path, HEAD_BYTES)
        except OSError:
            return False
        start = fastjson_hot.table(fastjson_hot.loads_dict(head[: head.find(b"\n")]), "data")
        return start.get("version") == FORMAT and fastjson_hot.text(start, "copilotVersion").startswith(VERSIONS)

    def translator(self) -> "Callable[[Record, int], list[Record]]":
        return CopilotReading()


class CopilotReading:
    """Records as Claude Code writes them, of the events of one session; those of subagents are left out."""

    __slots__ = ("_cwd", "_is_detached", "_own", "_reasons", "_session")

    def __init__(self) -> None:
        self._session = self._own = self._cwd = ""
        self._is_detached = False  # the agent itself began it, to go on with another session's work
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
        given = fastjson_hot.table(data, "input")
        self._session = fastjson_hot.text(given, "sessionId") or self._session
        self._cwd = fastjson_hot.text(given, "cwd") or self._cwd
        return []

    def end_hook(self, data: "Record", raw: "Record") -> "list[Record]":
        kind = fastjson_hot.text(data, "hookType")
        output, error = fastjson_hot.table(data, "output"), fastjson_hot.table(data, "error")
        is_block = output.get("decision") == "block"
        if kind == "agentStop" and is_block:
            self._reasons.append(fastjson_hot.text(output, "reason"))
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
            name = TOOLS.get(name, name)
            fields = claude_input(name, fields) if isinstance(fields, dict) else {"input": fields}
            records.append(
                records_hot.tool_call(name, fastjson_hot.text(call, "toolCallId"), fields, self._origin(raw))
            )
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

AGENT = Copilot()
