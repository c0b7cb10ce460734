"""Codex as hooks and readers of sessions see it. Hot path.

Observed with 0.171.0: a session ("rollout") has a line for each item that its turns completed, under ids that stay.
What hooks gave stands beside them as developer messages, which are part of every later request up to a compaction, also
if another hook blocked the prompt. A fork's file names the session and place that it goes on from, no copy."""

from memtui.base import clock_hot, fastjson_hot, fs_hot, paths_hot
from memtui.client.agents import records_hot
from memtui.client.agents.agent_hot import Agent

# Versions whose session files say what became of hooks' texts, as tested; others get the receipt "unknown".
TESTED = (b'"cli_version":"0.171.',)
# Bytes at a session's beginning that say who runs it.
HEAD_BYTES = 4096
# Bytes that hold its first line, with the instructions of the model in it.
FIRST_LINE = 1 << 19
# How a text begins that was longer than the entry of the hook allows: its middle is missing.
CUT = "Warning: truncated output ("
BLOCKED, BLOCKED_COMMAND = "Command blocked by PreToolUse hook: ", ". Command: "
PATCH = "*** Begin Patch"
# Characters of a command's output that are kept.
OUTPUT_LENGTH = 20_000

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Record = dict[str, object]


class Codex(Agent):
    """Codex."""

    name = "codex"
    title = "Codex"
    can_ask = False  # an answer with a decision that it does not know is dropped as a whole

    def read(self, event: str, payload: "Record", env: "dict[str, str]") -> "Record | None":
        if fastjson_hot.text(payload, "cwd") == home(env) + "/memories":
            return None  # the hidden agent that writes Codex' own memories
        turn = fastjson_hot.text(payload, "turn_id")
        changes: Record = {"prompt_id": turn} if turn else {}
        if event == "SessionStart":
            changes["context_tokens"] = 0  # a resume has all that hooks gave, before tools, too
            if b'"forked_from_id":"' in _head(fastjson_hot.text(payload, "transcript_path")):
                # Versions up to 0.150 call it a startup.
                changes["source"] = payload["source"] if payload.get("source") in ("resume", "compact") else "fork"
        tool_input = fastjson_hot.table(payload, "tool_input")
        command = fastjson_hot.text(tool_input, "command")
        name = fastjson_hot.text(payload, "tool_name")
        if name == "apply_patch" or (name == "Bash" and command.startswith("apply_patch") and PATCH in command):
            changes["tool_name"], changes["tool_input"] = _of_patch(command)
        return {**payload, **changes}

    def is_personal(self, payload: "Record", env: "dict[str, str]") -> bool:
        return b'"source":"exec"' not in _head(fastjson_hot.text(payload, "transcript_path"))

    def owns(self, path: str) -> bool:
        return path[path.rfind("/") + 1 :].startswith("rollout-") and path.endswith(".jsonl")

    def places(self, path: str) -> "list[str]":
        top, _, rest = path.rpartition("/archived_sessions/")
        if top:
            day = rest[len("rollout-") :][:10].replace("-", "/")
            return [path, f"{top}/sessions/{day}/{rest}"]
        top, _, rest = path.rpartition("/sessions/")
        return [path, f"{top}/archived_sessions/{rest[rest.rfind('/') + 1 :]}"]

    def cut_off(self, path: str, records: "list[Record]") -> "set[str]":
        begin = _begin(path)
        base = fastjson_hot.table(fastjson_hot.table(begin, "payload"), "history_base")
        end = fastjson_hot.number(base, "end_ordinal_exclusive")
        if not end:
            return set()
        names = {fastjson_hot.text(record, "transcript") for record in records} - {path, ""}
        starts = {name: fastjson_hot.number(_begin(name), "ordinal") for name in names}
        # The file that the new one goes on from; later ones are left out as a whole.
        last = max([start for start in starts.values() if start < end], default=-1)
        offset = fastjson_hot.number(base, "end_byte_offset")
        return {
            fastjson_hot.text(record, "id")
            for record in records
            if (start := starts.get(fastjson_hot.text(record, "transcript"), -1)) >= end
            or (start == last and fastjson_hot.number(record, "transcript_size") >= offset)
        }

    def has_known_format(self, path: str) -> bool:
        head = _head(path)
        return any(version in head for version in TESTED)

    def translator(self) -> "Callable[[Record, int], list[Record]]":
        return _Translator()


def home(env: "dict[str, str]") -> str:
    """Return the directory of Codex' settings and sessions."""
    return paths_hot.normal(env.get("CODEX_HOME") or paths_hot.home(env) + "/.codex")


def is_subagents(path: str) -> bool:
    """Tell whether a session is a subagent's, or one that nobody talks to."""
    head = _head(path)
    return (b'"thread_source":"' in head and b'"thread_source":"user"' not in head) or b'"source":{"subagent"' in head


def _head(path: str) -> bytes:
    """Return the beginning of a session's file; empty if it can't be read."""
    return fs_hot.head(path, HEAD_BYTES).partition(b'"base_instructions"')[0]


def _begin(path: str) -> "Record":
    """Return the first record of a session's file; empty if it can't be read."""
    return fastjson_hot.loads_dict(fs_hot.head(path, FIRST_LINE).partition(b"\n")[0])


def _of_patch(command: str) -> "tuple[str, Record]":
    """Return name and input of the tool that Claude Code would use for a patch: a file of Markdown alone, or a memory
    among other files, is written or edited there."""
    patch = command[command.find(PATCH) :] if PATCH in command else command
    files = _files(patch)
    is_alone = len(files) == 1
    for action, path, lines in files:
        if not path.endswith(".md") or not (is_alone or "/memory/" in "/" + path):
            continue
        if action == "Add File":
            content = "".join([line[1:] + "\n" for line in lines if line.startswith("+")])
            return "Write", {"file_path": path, "content": content}
        if action == "Update File":
            hunks = [hunk.split("\n")[1:] for hunk in "\n".join(["@@", *lines]).split("\n@@")]
            edits: list[Record] = [
                {
                    "old_string": "\n".join([line[1:] for line in hunk if line[:1] in {" ", "-"}]),
                    "new_string": "\n".join([line[1:] for line in hunk if line[:1] in {" ", "+"}]),
                }
                for hunk in hunks
                if any(line[:1] in {"-", "+"} for line in hunk)
            ]
            return "MultiEdit", {"file_path": path, "edits": edits}
    return "apply_patch", {"patch": patch, **({"file_path": files[0][1]} if files else {})}


def _files(patch: str) -> "list[tuple[str, str, list[str]]]":
    """List what a patch does: action, path, and the lines of it; a file that is moved has the action `Move`."""
    files: list[tuple[str, str, list[str]]] = []
    for line in patch.split("\n"):
        action, _, path = line[4:].partition(": ") if line.startswith("*** ") else ("", "", "")
        if action in ("Add File", "Update File", "Delete File"):
            files.append((action, path.strip(), []))
        elif action == "Move to" and files:
            files[-1] = ("Move", *files[-1][1:])
        elif files and not line.startswith("*** "):
            files[-1][2].append(line)
    return files


class _Translator:
    """One reading of a session: of each line the records that Claude Code would write."""

    def __init__(self) -> None:
        self._session = self._cwd = ""
        self._turn = ""  # the one that runs, if its beginning was read
        self._has_prompt = True
        self._is_aside = False  # no person talks in this turn
        self._is_subagents = False
        self._begun = 0.0  # the session's beginning, in seconds since the epoch
        self._is_copy = False  # what older versions write once more at the beginning of a fork

    def __call__(self, raw: "Record", end: int) -> "list[Record]":
        kind, payload = raw.get("type"), fastjson_hot.table(raw, "payload")
        if kind == "session_meta":
            return self._begin(raw, payload)
        if kind == "turn_context":
            self._cwd = fastjson_hot.text(payload, "cwd") or self._cwd
        elif kind == "event_msg":
            return self._event(raw, payload) or self._old_message(raw, payload, end)
        elif kind == "response_item":
            return self._item(raw, payload)
        elif kind == "compacted":
            return [records_hot.compaction(self._origin(raw, f"compaction-{raw.get('timestamp')}"))]
        return []

    def _origin(self, raw: "Record", uuid: object) -> "Record":
        place = {"timestamp": fastjson_hot.text(raw, "timestamp"), "sessionId": self._session, "cwd": self._cwd}
        return {"uuid": str(uuid), "parentUuid": records_hot.BEFORE, **place}

    def _begin(self, raw: "Record", payload: "Record") -> "list[Record]":
        if self._session:
            self._is_copy = True
            return []
        self._begun = clock_hot.parse(payload.get("timestamp")) or 0.0
        self._session, self._cwd = fastjson_hot.text(payload, "id"), fastjson_hot.text(payload, "cwd")
        if not self._session:
            return []
        source = payload.get("source")
        self._is_subagents = isinstance(source, dict) or payload.get("thread_source") not in (None, "user")
        origin = self._origin(raw, "session-" + self._session)
        parent = fastjson_hot.text(payload, "forked_from_id")
        record: Record = {"type": "system", "subtype": "session", **origin}
        return [{**record, "forkedFrom": {"sessionId": parent}} if parent else record]

    def _event(self, raw: "Record", payload: "Record") -> "list[Record]":
        kind = payload.get("type")
        if kind == "task_started":
            self._turn, self._has_prompt = fastjson_hot.text(payload, "turn_id"), False
            self._is_copy &= fastjson_hot.number(payload, "started_at") < int(self._begun)
            attribution = fastjson_hot.table(payload, "turn_attribution")
            self._is_aside = self._is_subagents or bool(attribution.get("parent_turn_id"))
        elif kind in ("task_complete", "turn_aborted"):
            if not self._has_prompt and payload.get("turn_id") == self._turn:
                self._has_prompt = True
                return [records_hot.blocked(self._origin(raw, "end-" + self._turn))]
        elif kind == "item_completed":
            self._session = fastjson_hot.text(payload, "thread_id") or self._session
            return self._completed(raw, payload, fastjson_hot.table(payload, "item"))
        return []

    def _old_message(self, raw: "Record", payload: "Record", end: int) -> "list[Record]":
        """Return a message as versions before 0.150 wrote it, without an id."""
        kind, text = payload.get("type"), fastjson_hot.text(payload, "message")
        if "ordinal" in raw or self._is_copy or kind not in ("user_message", "agent_message"):
            return []
        origin = self._origin(raw, f"{self._session}-{end}")
        if kind == "agent_message":
            return [records_hot.reply(text, origin)]
        is_persons = payload.get("kind") in (None, "plain") and not self._is_subagents
        return [(records_hot.person if is_persons else records_hot.aside)(_without_input(text), origin)]

    def _completed(self, raw: "Record", payload: "Record", item: "Record") -> "list[Record]":
        kind, name = item.get("type"), fastjson_hot.text(item, "id")
        if kind == "UserMessage":
            self._has_prompt = True
            text = _without_input(_texts(item))
            origin = self._origin(raw, name)
            if self._is_aside or self._is_subagents:
                return [records_hot.aside(text, origin)]
            return [records_hot.person(text, origin, fastjson_hot.text(payload, "turn_id"))]
        if kind == "AgentMessage":
            return [records_hot.reply(_texts(item), self._origin(raw, name))]
        if kind == "CommandExecution" and item.get("source") != "user_shell":
            words = [word for word in fastjson_hot.rows(item, "command") if isinstance(word, str)]
            is_error = item.get("status") != "completed"
            output = fastjson_hot.text(item, "aggregated_output")
            return self._call(raw, name, "Bash", {"command": words[-1] if words else ""}, output, is_error)
        if kind == "FileChange":
            is_error = item.get("status") != "completed"
            patch = _patch(fastjson_hot.table(item, "changes"))
            return self._call(raw, name, "apply_patch", {"patch": patch}, fastjson_hot.text(item, "stdout"), is_error)
        return []

    def _call(self, raw: "Record", name: str, tool: str, fields: "Record", text: str, is_error: bool) -> "list[Record]":
        """Return a call with its result. They follow nothing: the model has not read yet what hooks gave in between."""
        origin = self._origin(raw, name)
        del origin["parentUuid"]
        result = {**origin, "uuid": name + "-result"}
        return [
            records_hot.tool_call(tool, name, fields, origin),
            records_hot.tool_result(name, text[:OUTPUT_LENGTH], result, is_error),
        ]

    def _item(self, raw: "Record", payload: "Record") -> "list[Record]":
        kind, name = fastjson_hot.text(payload, "type"), fastjson_hot.text(payload, "id")
        if kind == "message" and payload.get("role") == "developer":
            passed = fastjson_hot.table(payload, "internal_chat_message_metadata_passthrough")
            if "hooks.additional_context" not in fastjson_hot.rows(passed, "content_item_kinds"):
                return []
            event = "UserPromptSubmit" if self._has_prompt else "SessionStart"
            return [records_hot.injected(_contexts(payload), event, self._origin(raw, name))]
        if kind.endswith("_call"):
            return [records_hot.answer(self._origin(raw, name))]
        output = payload.get("output")
        if kind.endswith("_call_output") and isinstance(output, str) and output.startswith(BLOCKED):
            reason, _, command = output[len(BLOCKED) :].rpartition(BLOCKED_COMMAND)
            call_id = fastjson_hot.text(payload, "call_id")
            return self._call(raw, call_id, "Bash", {"command": command}, reason, is_error=True)
        return []


def _texts(item: "Record") -> str:
    parts = [part for part in fastjson_hot.rows(item, "content") if isinstance(part, dict)]
    return "\n".join([text for part in parts if (text := fastjson_hot.text(part, "text"))])


def _contexts(payload: "Record") -> "list[str]":
    """Return the texts that hooks gave; one whose middle was cut is marked as Claude Code marks a preview."""
    parts = [part for part in fastjson_hot.rows(payload, "content") if isinstance(part, dict)]
    texts = [fastjson_hot.text(part, "text") for part in parts]
    return [records_hot.preview(text) if text.startswith(CUT) else text for text in texts]


def _without_input(text: str) -> str:
    """Return a prompt with what was piped into `codex exec` in tags that mark it as nobody's words."""
    before, mark, after = text.rpartition("\n\n<stdin>\n")
    if not mark or not text.endswith("\n</stdin>"):
        return text
    return f"{before}\n\n<piped-input>\n{after.removesuffix('</stdin>')}</piped-input>"


def _patch(changes: "Record") -> str:
    """Return changes of files as one patch, in the form that the tool takes."""
    lines = [PATCH]
    for path in changes:
        change = fastjson_hot.table(changes, path)
        kind = fastjson_hot.text(change, "type")
        lines.append(f"*** {kind.capitalize()} File: {path}")
        if moved := fastjson_hot.text(change, "move_path"):
            lines.append("*** Move to: " + moved)
        if kind == "update":
            diff = fastjson_hot.text(change, "unified_diff").split("\n")
            lines += [line for line in diff if not line.startswith(("--- ", "+++ ", "*** "))]
        elif kind == "add":
            lines += ["+" + line for line in fastjson_hot.text(change, "content").split("\n")]
    return "\n".join([*lines, "*** End Patch"])


AGENT = Codex()
