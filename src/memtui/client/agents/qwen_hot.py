"""Qwen Code as hooks and readers of sessions see it. Hot path.

Observed with 0.24.4: session files are trees of records, as Claude Code's are. What prompt hooks gave is the last part
of the prompt's own record, `<` and `>` escaped (in 0.15.10 plain); a prompt that a hook blocked leaves no record. The
text of a session's start stands in no file, and what is said before a tool is dropped. After a tool's result the prompt
hook runs once more, without `submitted_prompt`, and its text is in no file either."""

from memtui.base import fastjson_hot, fs_hot
from memtui.client.agents import records_hot
from memtui.client.agents.agent_hot import Agent

# Qwen Code's tools in Claude Code's terms; their arguments have the same names, but for those of ARGUMENTS.
TOOLS = {
    "run_shell_command": "Bash",
    "monitor": "Monitor",
    "agent": "Task",
    "task": "Task",
    "write_file": "Write",
    "edit": "Edit",
    "read_file": "Read",
    "notebook_edit": "NotebookEdit",
    "grep_search": "Grep",
    "glob": "Glob",
    "web_fetch": "WebFetch",
    "todo_write": "TodoWrite",
    "ask_user_question": "AskUserQuestion",
}
ARGUMENTS = {"absolute_path": "file_path"}
# Set for the hooks of a session that other sessions on this machine can write to: one in a terminal or an editor.
PERSONAL = "QWEN_CODE_MESSAGING_SOCKET"
# The newest version whose session files were tested; newer ones, and those that name no speaker (`provenance`), get the
# receipt "unknown" for a text that the file does not show.
TESTED = (0, 24)
HEAD_BYTES = 4096
SPEAKER, VERSION = b'"provenance":"', b'"version":"'
FIRST = b'"parentUuid":null'  # else the file was removed under a session, and has only its end
OPEN, CLOSE = "<qwen:user-prompt-submit-context>", "</qwen:user-prompt-submit-context>"
# What stands behind piped input that has no prompt behind it.
PIPED = "\n\n"
OURS = ("<memtui-", "&lt;memtui-")
# How a call's error begins that a person refused or stopped, and how Claude Code writes that.
CANCELLED, REFUSAL = "[Operation Cancelled]", "The user doesn't want to proceed with this tool use."
# Characters of a tool's output that are kept.
OUTPUT_LENGTH = 20_000

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Record = dict[str, object]


class Qwen(Agent):
    """Qwen Code."""

    name = "qwen"
    title = "Qwen Code"
    silent = ("SessionStart", "PreToolUse")

    def read(self, event: str, payload: "Record", env: "dict[str, str]") -> "Record | None":
        changes: Record = {}
        if event == "UserPromptSubmit":
            prompt = payload.get("submitted_prompt", "" if "prompt_id" in payload else payload.get("prompt"))
            if not prompt or not isinstance(prompt, str):
                return None
            changes["prompt"] = prompt
            # A command's text, which the session file tells from the person's words only beside a hook's.
            changes["rewritten"] = not fastjson_hot.text(payload, "prompt").strip().startswith(prompt.strip())
        call_id = payload.get("tool_call_id")
        if isinstance(call_id, str) and call_id:
            changes["tool_use_id"] = call_id  # the one in the session file
        name = fastjson_hot.text(payload, "tool_name")
        if name in TOOLS:
            changes["tool_name"] = TOOLS[name]
            changes["tool_input"] = _arguments(fastjson_hot.table(payload, "tool_input"))
        return {**payload, **changes}

    def answer(self, event: str, context: str, message: str, refusal: str, decision: str) -> str:
        # What reads like a tag of ours after the program's escapes is none.
        for tag in ("memtui-", "/memtui-"):
            context = context.replace("&lt;" + tag, "&amp;lt;" + tag)
        return super().answer(event, context, message, refusal, decision)

    def is_personal(self, payload: "Record", env: "dict[str, str]") -> bool:
        return bool(env.get(PERSONAL))

    def owns(self, path: str) -> bool:
        parts = path.split("/")
        return path.endswith(".jsonl") and (parts[-2:-1] == ["chats"] or parts[-3:-1] == ["chats", "archive"])

    def places(self, path: str) -> "list[str]":
        directory, _, name = path.rpartition("/")
        top = directory.removesuffix("/archive")
        return [f"{top}/{name}", f"{top}/archive/{name}"]

    def has_known_format(self, path: str) -> bool:
        head = fs_hot.head(path, HEAD_BYTES).partition(b"\n")[0]
        version = head.partition(VERSION)[2].partition(b'"')[0].decode("ascii", "replace").split(".")
        numbers = tuple([int(part) for part in version[:2] if part.isdecimal()])
        return SPEAKER in head and FIRST in head and len(numbers) == 2 and numbers <= TESTED

    def translator(self) -> "Callable[[Record, int], list[Record]]":
        return _QwenReading()


def _arguments(fields: "Record") -> "Record":
    return {ARGUMENTS.get(name, name): value for name, value in fields.items()}


class _QwenReading:
    """One reading of a session: of each line the records that Claude Code would write, of one that no person and no
    agent wrote a bare link between its neighbours."""

    def __init__(self) -> None:
        self._is_command = False  # the next prompt is the text of a command's file
        self._is_agents = False  # the next prompt is that of the session which began this one

    def __call__(self, raw: "Record", end: int) -> "list[Record]":
        kind, subtype = raw.get("type"), raw.get("subtype")
        origin = _origin(raw)
        message = fastjson_hot.table(raw, "message")
        parts = [part for part in fastjson_hot.rows(message, "parts") if isinstance(part, dict)]
        if kind == "user":
            is_command, is_agents = self._is_command, self._is_agents
            self._is_command = self._is_agents = False
            return _prompt(raw, parts, origin, is_command, is_agents)
        if kind == "assistant":
            return [_answer(parts, origin)]
        if kind == "tool_result":
            return _results(raw, parts, origin)
        payload = fastjson_hot.table(raw, "systemPayload")
        if subtype == "chat_compression":
            return [records_hot.compaction(origin)]
        if subtype == "custom_title":
            return [{"type": "ai-title", "aiTitle": payload.get("customTitle"), **origin}]
        if subtype == "parent_session":
            self._is_agents = True
        if subtype == "slash_command" and payload.get("phase") == "invocation":
            self._is_command = payload.get("sentToModel") is True
        return [{"type": "system", "subtype": "", **origin}]


def _origin(raw: "Record") -> "Record":
    origin: Record = {key: fastjson_hot.text(raw, key) for key in ("uuid", "timestamp", "sessionId", "cwd")}
    more = {key: raw[key] for key in ("forkedFrom", "isSidechain", "gitBranch", "version") if raw.get(key)}
    return {**origin, "parentUuid": raw.get("parentUuid"), **more}


def _prompt(raw: "Record", parts: "list[Record]", origin: "Record", is_command: bool, of_agent: bool) -> "list[Record]":
    """Return a message in the person's place, and what hooks gave with it."""
    payload = fastjson_hot.table(raw, "systemPayload")
    texts = [fastjson_hot.text(part, "text") for part in parts if fastjson_hot.text(part, "text")]
    contexts = [text for text in texts[1:][-1:] if text.startswith((OPEN, *OURS))]
    is_person = not of_agent and raw.get("provenance", "real_user") == "real_user"
    is_person = is_person and raw.get("subtype") in (None, "mid_turn_user_message")
    words = payload.get("displayText")
    if not isinstance(words, str):
        # Behind the words stand the files that they name.
        words, is_person = (texts or [""])[0], is_person and not is_command
    make = records_hot.person if is_person and not words.endswith(PIPED) else records_hot.aside
    words = records_hot.typed(words) if is_person else words
    if not contexts:
        return [make(words, origin)]
    above, below = _split(origin)
    context = contexts[0].removeprefix(OPEN + "\n").removesuffix("\n" + CLOSE)
    return [make(words, above), records_hot.injected([_plain(context)], "UserPromptSubmit", below)]


def _plain(text: str) -> str:
    """Return a text as the hook gave it: only these two signs are escaped."""
    return text.replace("&lt;", "<").replace("&gt;", ">")


def _answer(parts: "list[Record]", origin: "Record") -> "Record":
    blocks: list[Record] = []
    for part in parts:
        call = fastjson_hot.table(part, "functionCall")
        if call:
            name, fields = fastjson_hot.text(call, "name"), _arguments(fastjson_hot.table(call, "args"))
            blocks.append({"type": "tool_use", "id": call.get("id"), "name": TOOLS.get(name, name), "input": fields})
        elif part.get("text") and not part.get("thought"):
            blocks.append({"type": "text", "text": part["text"]})
    return records_hot.message(blocks, origin)


def _results(raw: "Record", parts: "list[Record]", origin: "Record") -> "list[Record]":
    """Return what tools answered, and what hooks said behind it: the end of an output, escaped."""
    blocks: list[Record] = []
    contexts: list[str] = []
    for result in [fastjson_hot.table(part, "functionResponse") for part in parts]:
        response = fastjson_hot.table(result, "response")
        error = fastjson_hot.text(response, "error")
        text = error or fastjson_hot.text(response, "output")
        at = text.rfind("\n\n" + OURS[1])
        if at >= 0 and text.endswith("&gt;"):
            contexts.append(_plain(text[at + 2 :]))
            text = text[:at]
        text = REFUSAL if error.startswith(CANCELLED) else text[:OUTPUT_LENGTH]
        call_id = fastjson_hot.text(result, "id")
        block: Record = {"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": bool(error)}
        blocks += [block] if result else []
    above, below = _split(origin) if contexts else (origin, origin)
    content: Record = {"message": {"role": "user", "content": blocks}, "toolUseResult": _answers(raw)}
    results = [{"type": "user", **content, **above}]
    return [*results, records_hot.injected(contexts, "PostToolUse", below)] if contexts else results


def _answers(raw: "Record") -> "Record | str":
    """Return a person's answers to the agent's questions, by question; empty for another tool's result."""
    display = fastjson_hot.table(fastjson_hot.table(raw, "toolCallResult"), "resultDisplay")
    if display.get("type") != "ask_user_question_answers":
        return ""
    pairs = [pair for pair in fastjson_hot.rows(display, "answers") if isinstance(pair, dict)]
    return {"answers": {fastjson_hot.text(pair, "question"): pair.get("answer") for pair in pairs}}


def _split(origin: "Record") -> "tuple[Record, Record]":
    """Return what two records have that stand for one, below which the others go on: the second has its id."""
    above: Record = {**origin, "uuid": f"{origin['uuid']}-above"}
    return above, {**origin, "parentUuid": above["uuid"]}


AGENT = Qwen()
