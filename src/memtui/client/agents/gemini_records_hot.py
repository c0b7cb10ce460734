"""Gemini CLI's session files (0.61.0), as records of Claude Code. Hot path.

A line is a message, which may come again with its tokens and tools under the same id; or `$set`, which may replace all
messages: at a resume with their ids and new times, after a compaction with new ids, and without the last ones if a
request failed or was stopped, so that these are in no later request; or `$rewindTo`. The person's words and the texts
of hooks are parts of one message. `displayContent` has the words alone, of the prompt that began the turn: also beside
what the program asks in the turn by itself. It is missing where a message is nothing but the words, or a copy."""

from memtui.base.fastjson_hot import loads_dict, rows, table, text
from memtui.client.agents import records_hot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.client.agents.records_hot import Record

TOOLS = {
    "run_shell_command": "Bash",
    "write_file": "Write",
    "replace": "Edit",
    "read_file": "Read",
    "write_todos": "TodoWrite",
    "ask_user": "AskUserQuestion",
}
HOOKS, HOOKS_END = "<hook_context>", "</hook_context>"
SNAPSHOT, COPY = "<state_snapshot>", "<session_context>"
# Words in the person's place that the program writes.
PROGRAM = (
    *(HOOKS, SNAPSHOT, COPY, "This is the Gemini CLI.", "I ran the following shell command:\n"),
    *("Here is the user's editor context as a JSON", "Here is a summary of changes in the user's editor"),
    *("- **Workspace Directories:**", "User has manually exited Plan Mode.", "Plan approved.", "Please continue."),
    *("User steering update:", "User hints:", "Background execution update:", "System: Potential loop detected."),
)
# How many of the newest messages are remembered. Characters of a time up to its seconds.
KEPT, SECONDS = 512, len("2026-01-01T00:00:00")
PLANNED = {"cancelled": "deleted", "blocked": "pending"}


def tool_input(name: str, arguments: "Record") -> "Record":
    """Return the arguments of a tool as Claude Code's has them, if there is one alike."""
    if name == "write_todos":
        todos = [
            {"content": text(todo, "description"), "status": PLANNED.get(status := text(todo, "status"), status)}
            for todo in rows(arguments, "todos")
            if isinstance(todo, dict)
        ]
        return {"todos": todos}
    return arguments


def _parts(message: "Record") -> "list[Record]":
    content = message.get("content")
    if isinstance(content, str):
        return [{"text": content}]
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def words(message: "Record", parts: "list[Record]") -> "str | None":
    """Return what a person typed in a message of the user; None if they wrote none of it."""
    first = text(parts[0], "text") if parts else ""
    display = "".join([text(part, "text") for part in rows(message, "displayContent") if isinstance(part, dict)])
    if display:
        # A command of the person stands in the place of its template.
        is_prompt = display.startswith("/") or first.strip().startswith(display.strip())
        return display if is_prompt else None
    if first.startswith(HOOKS):  # what a hook of others gave at the start, in front of the prompt
        first = first.partition(HOOKS_END + "\n\n")[2]
    return None if len(parts) != 1 or not first or first.startswith(PROGRAM) else first


def injected_text(part: "Record") -> str:
    """Return what hooks gave with a prompt or a tool's output, as they gave it; empty if that part has none."""
    content = text(part, "text") or text(table(table(part, "functionResponse"), "response"), "output")
    at = content.rfind(HOOKS)
    if at < 0 or not content.endswith(HOOKS_END) or (at and "functionResponse" not in part):
        return ""
    return content[at + len(HOOKS) : -len(HOOKS_END)].replace("&lt;", "<").replace("&gt;", ">")


class Translator:
    """Makes records of the lines of one session's file; `translate` takes them in order, from any line on."""

    def __init__(self, session: str, cwd: str) -> None:
        self._shared: Record = {"sessionId": session, "cwd": cwd}
        self._tip = ""  # the newest record of the conversation
        self._tips: dict[str, str] = {}  # message -> its newest record
        self._above: dict[str, str] = {}  # message -> the record before it
        self._calls: dict[str, bool] = {}  # the newest tool calls, and whether their results were seen
        self._snapshots: set[str] = set()
        self._is_copying = False  # within lines that write earlier messages anew, up to the next `$set` of messages

    def translate(self, line: "Record", _offset: int) -> "list[Record]":
        """Return the records that a line stands for."""
        changes = line.get("$set")
        if isinstance(changes, dict):
            return self._replace(changes) if isinstance(changes.get("messages"), list) else []
        rewound = text(line, "$rewindTo")
        if rewound:
            return self._go_back("before-" + rewound, self._above.get(rewound, ""), "", "")
        if "projectHash" in line:
            self._is_copying = False
            return []
        kind, parts = text(line, "type"), _parts(line)
        if kind == "user" and text(parts[0] if parts else {}, "text").startswith(COPY):
            self._is_copying = True
        if self._is_copying or not text(line, "id"):
            return []
        return self._user(line, parts) if kind == "user" else self._reply(line, parts) if kind == "gemini" else []

    def _origin(self, line: "Record", uuid: str) -> "Record":
        """Return what a record of a message has in common with others, and let the next one follow it."""
        origin = {"uuid": uuid, "parentUuid": self._tip or None, "timestamp": text(line, "timestamp"), **self._shared}
        name = text(line, "id")
        if name not in self._tips:
            self._above[name] = self._tip
        self._tip = self._tips[name] = uuid
        if len(self._tips) > KEPT:
            oldest = next(iter(self._tips))
            del self._tips[oldest]
            self._above.pop(oldest, None)
        return origin

    def _user(self, line: "Record", parts: "list[Record]") -> "list[Record]":
        name, answers = text(line, "id"), [part for part in parts if "functionResponse" in part]
        records: list[Record] = []
        if not answers:
            prompt = words(line, parts)
            if prompt is None:
                records = [records_hot.aside("".join([text(p, "text") for p in parts[:1]]), self._origin(line, name))]
            else:
                records = [records_hot.person(records_hot.typed(prompt), self._origin(line, name))]
        event = "PostToolUse" if answers else "UserPromptSubmit"
        contexts = [injected for part in answers or parts[-1:] if (injected := injected_text(part))]
        if contexts:
            records.append(records_hot.injected(contexts, event, self._origin(line, name + "-hooks")))
        return records

    def _reply(self, line: "Record", parts: "list[Record]") -> "list[Record]":
        name = text(line, "id")
        records: list[Record] = []
        if name not in self._tips:
            records.append(records_hot.reply("".join([text(part, "text") for part in parts]), self._origin(line, name)))
        for call in rows(line, "toolCalls"):
            if isinstance(call, dict):
                records += self._tool(line, name, call)
        return records

    def _tool(self, line: "Record", name: str, call: "Record") -> "list[Record]":
        call_id, tool, records = text(call, "id"), text(call, "name"), []
        ours = TOOLS.get(tool, tool)
        if call_id not in self._calls:
            own_input = tool_input(tool, table(call, "args"))
            record = records_hot.tool_call(ours, call_id, own_input, self._origin(line, call_id))
            table(record, "message")["id"] = name  # one message, as the program has it
            records.append(record)
        results = [table(part, "functionResponse") for part in rows(call, "result") if isinstance(part, dict)]
        if results and not self._calls.get(call_id):
            response = table(results[0], "response")
            output = (text(response, "output") or text(response, "error")).partition("\n\n" + HOOKS)[0]
            failed = text(call, "status") in {"error", "cancelled"}
            origin = self._origin({**line, "timestamp": call.get("timestamp")}, call_id + "-result")
            record = records_hot.tool_result(call_id, output, origin, failed)
            if ours == "AskUserQuestion" and not failed:
                record["toolUseResult"] = {"answers": _answers(table(call, "args"), output)}
            records.append(record)
        self._calls[call_id] = bool(results)
        if len(self._calls) > KEPT:
            del self._calls[next(iter(self._calls))]
        return records

    def _replace(self, changes: "Record") -> "list[Record]":
        """Take in a line that replaces all messages: a compaction, a step back, or copies of what stands above."""
        messages = [message for message in rows(changes, "messages") if isinstance(message, dict)]
        was_copying, self._is_copying = self._is_copying, False
        time, last = text(changes, "lastUpdated"), text(messages[-1], "id") if messages else ""
        for message in messages:
            name = text(message, "id")
            if name not in self._snapshots and text((_parts(message) or [{}])[0], "text").startswith(SNAPSHOT):
                self._snapshots.add(name)
                if text(message, "timestamp")[:SECONDS] == time[:SECONDS]:
                    record = records_hot.compaction(self._origin(message, name))
                    self._tips[last] = self._tip
                    return [record]
        if was_copying:
            self._tips[last] = self._tip
        if not self._tip or not last or self._tips.get(last) == self._tip:
            return []
        return self._go_back(f"{last}-{time}", self._tips.get(last, last), last, time)

    def _go_back(self, uuid: str, tip: str, message: str, time: str) -> "list[Record]":
        """Go on behind an earlier record: what came after it is in no later request."""
        self._tip = tip
        return [{"type": "system", "subtype": "history", **self._origin({"id": message, "timestamp": time}, uuid)}]


def _answers(arguments: "Record", output: str) -> "Record":
    """Return what a person answered, by question; the program names questions by their number."""
    answers = table(loads_dict(output), "answers")
    questions = [question for question in rows(arguments, "questions") if isinstance(question, dict)]
    return {text(each, "question"): answers[str(at)] for at, each in enumerate(questions) if str(at) in answers}
