"""Gemini CLI as hooks and readers of sessions see it. Hot path. Observed with 0.61.0:

At a session's start it glues what a hook gives in front of the person's prompt, and drops it after /clear; a text
before a tool is dropped, one after it stands in the tool's output. Tools of subagents run the session's own hooks, in
its name. `<` and `>` of our texts arrive as `&lt;` and `&gt;`."""

import posix

from memtui.base import fastjson_hot, fs_hot, paths_hot
from memtui.client.agents.agent_hot import Agent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Record = dict[str, object]

FOLDER = "/chats/session-"
# The tool that runs a subagent, whose files lie in a directory of the session's name.
SUBAGENT_TOOL = "invoke_agent"
# Bytes searched at a session file's end; how a line begins that says all of the next request; how an index stands.
TAIL_BYTES, MESSAGES, INDEX = 1 << 20, b'{"$set":{"messages":[', b"&lt;memtui-index"
# A file is known by its first record, and by the first words in it.
HEAD_BYTES, HEAD, WORDS = 1 << 16, b'{"sessionId":"', b'"type":"user","content":[{"text":"'
PROC_BYTES = 1 << 16
# Arguments by which no person's session starts.
HEADLESS = (b"-p", b"--prompt")


class Gemini(Agent):
    """Gemini CLI."""

    name = "gemini"
    title = "Gemini CLI"
    silent = ("SessionStart", "PreToolUse")

    def read(self, event: str, payload: "Record", env: "dict[str, str]") -> "Record | None":
        payload = dict(payload)
        path = fastjson_hot.text(payload, "transcript_path")
        name = fastjson_hot.text(payload, "tool_name")
        if name:
            agent_id = "" if name == SUBAGENT_TOOL else _subagent(path, fastjson_hot.text(payload, "session_id"))
            payload |= {"agent_id": agent_id} if agent_id else {}
            from memtui.client.agents import gemini_records_hot

            payload["tool_name"] = gemini_records_hot.TOOLS.get(name, name)
            payload["tool_input"] = gemini_records_hot.tool_input(name, fastjson_hot.table(payload, "tool_input"))
        if event == "UserPromptSubmit" and _lost_index(path):
            payload["lost_index"] = True
        if event == "Stop":
            payload["last_assistant_message"] = fastjson_hot.text(payload, "prompt_response")
        return payload

    def answer(self, event: str, context: str, message: str, refusal: str, decision: str) -> str:
        # What reads like a tag of ours after the program's escapes is none.
        context = context.replace("&lt;memtui-", "&amp;lt;memtui-")
        answer: Record = {}
        if context:
            answer["hookSpecificOutput"] = {"additionalContext": context}
        if refusal:
            # A question that nobody can answer ends the run without a word.
            is_asked = decision == "ask" and self.is_personal({}, {})
            answer |= {"decision": "ask" if is_asked else "deny", "reason": refusal}
            message = message or (refusal if is_asked else "")  # what the dialog shows
        if message:
            answer["systemMessage"] = message
        return fastjson_hot.dumps(answer) if answer else ""

    def is_personal(self, payload: "Record", env: "dict[str, str]") -> bool:
        from memtui.client import process_hot

        words, is_at_terminal = process_hot.attendance()
        return bool(is_at_terminal) and not any(word in HEADLESS for word in words)

    def owns(self, path: str) -> bool:
        return FOLDER in path

    def session_id(self, path: str) -> str:
        first_line = fs_hot.head(path, HEAD_BYTES).partition(b"\n")[0]
        return fastjson_hot.text(fastjson_hot.loads_dict(first_line), "sessionId")

    def has_known_format(self, path: str) -> bool:
        head = fs_hot.read_or_empty(path, HEAD_BYTES)
        return head.startswith(HEAD) and b'"projectHash":"' in head[:400] and WORDS in head

    def translator_of(self, path: str) -> "Callable[[Record, int], list[Record]]":
        from memtui.client.agents import gemini_records_hot

        directory = paths_hot.parent(paths_hot.parent(path))
        cwd = fs_hot.read_or_empty(directory + "/.project_root", PROC_BYTES).decode("utf-8", "replace").strip()
        return gemini_records_hot.Translator(self.session_id(path), cwd).translate


def _subagent(path: str, session_id: str) -> str:
    """Return the id of the subagent whose tool a hook is about: it wrote its file after the session wrote its own."""
    directory = f"{paths_hot.parent(path)}/{session_id}"
    if not session_id or not paths_hot.exists(directory):
        return ""
    try:
        names = [name for name in paths_hot.names_in(directory) if name.endswith(".jsonl")]
        changes = [(posix.stat(f"{directory}/{name}").st_mtime_ns, name) for name in names]
        newest, name = max(changes, default=(0, ""))
        return name.removesuffix(".jsonl") if newest > posix.stat(path).st_mtime_ns else ""
    except OSError:
        return ""


def _lost_index(path: str) -> bool:
    """Tell whether the next request has no index of ours, by the end of the session's file: a compaction dropped it, or
    the request failed or was stopped that brought it."""
    try:
        size = posix.stat(path).st_size
        tail = fs_hot.read_bytes(path, TAIL_BYTES, max(0, size - TAIL_BYTES))
    except OSError:
        return False
    at = tail.rfind(MESSAGES)
    return at >= 0 and INDEX not in tail[at:]


AGENT = Gemini()
