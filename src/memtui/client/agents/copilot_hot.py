"""Copilot CLI as hooks see it. Hot path. Observed with 1.0.102 (docs/agents.md)."""

from memtui.base import fastjson_hot, fs_hot, paths_hot
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
# Fields of a tool's input, by the agent's names and by Claude Code's.
FIELDS = {"path": "file_path", "file_text": "content", "old_str": "old_string", "new_str": "new_string"}
FILE_TOOLS = {"Write", "Edit", "Read"}
# A run without a person at it, by its arguments.
SCRIPTED = (b"-p", b"--prompt")
EDITOR = b"--acp"  # an editor runs it for a person


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
        from memtui.client import process_hot

        words, is_at_terminal = process_hot.attendance()
        # An editor runs it for a person.
        return EDITOR in words or (is_at_terminal is not False and not any(word in SCRIPTED for word in words))

    def owns(self, path: str) -> bool:
        return path.endswith(EVENTS_FILE) and f"{SESSIONS}/" in path

    def session_id(self, path: str) -> str:
        return path.rsplit("/", 2)[-2]

    def has_known_format(self, path: str) -> bool:
        head = fs_hot.head(path, HEAD_BYTES)
        start = fastjson_hot.table(fastjson_hot.loads_dict(head[: head.find(b"\n")]), "data")
        return start.get("version") == FORMAT and fastjson_hot.text(start, "copilotVersion").startswith(VERSIONS)

    def translator(self) -> "Callable[[Record, int], list[Record]]":
        from memtui.client.agents import copilot_records_hot

        return copilot_records_hot.CopilotReading(claude_input)


AGENT = Copilot()
