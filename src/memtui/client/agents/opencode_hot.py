"""OpenCode as hooks and readers of sessions see it. Hot path.

All sessions are in one SQLite database, so that a session's path is the database's, `#` and the session's id. An offset
in it is a time in milliseconds: that of the last message read, plus one. Messages are read in the order of their times,
which a fork copies; a reading stops before a message that is still being written, or that was undone."""

from memtui.base import clock_hot, fastjson_hot, ids_hot, native_hot, paths_hot
from memtui.client.agents import records_hot
from memtui.client.agents.agent_hot import Agent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Record = dict[str, object]

# OpenCode's tools in Claude Code's terms: the names, and the arguments that are called otherwise.
TOOLS = {
    "bash": "Bash",
    "write": "Write",
    "edit": "Edit",
    "read": "Read",
    "apply_patch": "apply_patch",
    "task": "Task",
    "todowrite": "TodoWrite",
    "glob": "Glob",
    "grep": "Grep",
    "webfetch": "WebFetch",
}
ARGUMENTS = {
    "edit": {"oldString": "old_string", "newString": "new_string", "replaceAll": "replace_all"},
    "write": {},
    "read": {},
    "apply_patch": {"patchText": "patch"},
}
QUESTION = "question"
# How a tool's error begins if a person refused the call with words, and how Claude Code writes that.
REJECTED = "The user rejected permission to use this specific tool call with the following feedback: "
STOPPED = "The user rejected permission to use this specific tool call."
REFUSAL = "The user doesn't want to proceed with this tool use."
OURS = "<memtui-"
# Versions whose sessions say what became of hooks' texts, as tested; others get the receipt "unknown".
TESTED = ("1.18.",)
# What stands in the place of a person's prompt before the output of a command that they ran themselves.
SHELL = "The following tool was executed by the user"
# Seconds after which a message that nobody writes any more counts as complete: its program was killed.
PROMPT_SECONDS, REPLY_SECONDS = 5.0, 3600.0
# Messages that are listed at once; bytes of a part that is left out: a file's content.
PAGE, LONGEST_PART = 64, 16 << 20
BUSY_SECONDS = 1.0
UNTITLED = "New session - "
# What `opencode run` does not let the agent do: no person is there to answer.
UNATTENDED = '"permission":"question","pattern":"*","action":"deny"'


def database(env: "dict[str, str]") -> str:
    """Return the path of the database, as OpenCode chooses it for a release."""
    home = (env.get("XDG_DATA_HOME") or paths_hot.home(env) + "/.local/share") + "/opencode"
    return paths_hot.join(home, env.get("OPENCODE_DB") or "opencode.db")


class Sessions:
    """The database, open for reading alone. `rows` raises OSError, for whatever keeps it from being read."""

    def __init__(self, path: str) -> None:
        sqlite = native_hot.load("_sqlite3")
        self._error = sqlite.Error
        quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        try:
            self._database = sqlite.connect(f"file:{quoted}?mode=ro", timeout=BUSY_SECONDS, uri=True)
            self._database.text_factory = lambda data: data.decode("utf-8", "replace")
            self._database.execute("PRAGMA trusted_schema = OFF")
        except sqlite.Error as error:
            raise OSError(f"{path}: {error}") from error

    def __del__(self) -> None:
        """Close it: Python 3.13 and newer warn of a database that is dropped open."""
        if hasattr(self, "_database"):
            self._database.close()

    def rows(self, query: str, *words: "object") -> "list[tuple[object, ...]]":
        try:
            return list(self._database.execute(query, words).fetchall())
        except self._error as error:
            raise OSError(str(error)) from error

    def session(self, session_id: str) -> "Record":
        """Return a session's row. Raises FileNotFoundError if there is none."""
        columns = ("id", "parent_id", "title", "version", "directory", "time_created", "revert", "permission")
        sessions = self.rows(f"SELECT {', '.join(columns)} FROM session WHERE id = ?", session_id)  # noqa: S608  our own names
        if not sessions:
            raise FileNotFoundError(session_id)
        return dict(zip(columns, sessions[0], strict=True))

    def origin(self, session: "Record") -> str:
        """Return the session that this one is a fork of, or "": a fork's copies keep their times, before its own."""
        query = "SELECT time_created FROM message WHERE session_id = ? AND time_created < ? ORDER BY time_created"
        copied = {time for (time,) in self.rows(query, session["id"], session["time_created"])}
        if not copied:
            return ""
        first, last = min(map(_number, copied)), max(map(_number, copied))
        query = "SELECT s.id FROM session s WHERE s.id <> ? AND s.time_created <= ? AND s.parent_id IS NULL "
        query += "AND EXISTS (SELECT 1 FROM message m WHERE m.session_id = s.id AND m.time_created = ?) "
        candidates = self.rows(query + "ORDER BY s.time_created DESC", session["id"], session["time_created"], first)
        query = "SELECT time_created FROM message WHERE session_id = ? AND time_created <= ?"
        shared = [
            (max([_number(time) for (time,) in self.rows(query, name, last) if time in copied]), number, str(name))
            for number, (name,) in enumerate(candidates)
        ]
        return max(shared)[2] if shared else ""

    def listing(self, session_id: str, start: int, count: int) -> "list[tuple[str, int]]":
        """List the first messages from the time `start` on: their ids and times."""
        query = "SELECT id, time_created FROM message WHERE session_id = ? AND time_created >= ? "
        rows = self.rows(query + "ORDER BY time_created, id LIMIT ?", session_id, start, count)
        return [(str(name), _number(time)) for name, time in rows]

    def message(self, name: str) -> "Record":
        """Return a message with its `parts`, `bytes`, and the time of its last change, `updated`."""
        query = "SELECT data, time_updated FROM message WHERE id = ? UNION ALL SELECT * FROM "
        query += "(SELECT data, time_updated FROM part WHERE message_id = ? AND length(data) < ? ORDER BY id)"
        rows = [(str(data), _number(time)) for data, time in self.rows(query, name, name, LONGEST_PART)]
        record = fastjson_hot.loads_dict(rows[0][0]) if rows else {}
        parts: list[object] = [fastjson_hot.loads_dict(data) for data, _ in rows[1:]]
        updated = max([time for _, time in rows], default=0)
        return {**record, "id": name, "parts": parts, "bytes": sum([len(data) for data, _ in rows]), "updated": updated}

    def is_complete(self, session_id: str, message: "Record", time: int, is_last: bool) -> bool:
        """Tell whether a message is written to its end. A reply is where the next one begins, whatever became of it."""
        quiet = clock_hot.now() - _number(message["updated"]) / 1000
        if message.get("role") == "user":
            return not is_last or quiet > PROMPT_SECONDS
        if "error" in message or "completed" in fastjson_hot.table(message, "time") or quiet > REPLY_SECONDS:
            return True
        query = "SELECT 1 FROM message WHERE session_id = ? AND time_created > ? AND data LIKE ? LIMIT 1"
        return not is_last and bool(self.rows(query, session_id, time, '%"role":"assistant"%'))


class Opencode(Agent):
    """OpenCode."""

    name = "opencode"
    title = "OpenCode"
    has_lines = can_ask = False

    def read(self, event: str, payload: "Record", env: "dict[str, str]") -> "Record | None":
        """The plugin speaks in Claude Code's terms; it knows no paths, and at a start not how the session began."""
        session_id = fastjson_hot.text(payload, "session_id")
        path = f"{database(env)}#{session_id}"
        payload = {**payload, "transcript_path": path}
        if "tool_name" in payload:
            name, fields = _tool(fastjson_hot.text(payload, "tool_name"), fastjson_hot.table(payload, "tool_input"))
            payload |= {"tool_name": name, "tool_input": fields}
        if event == "SessionStart" and not payload.get("source"):
            payload |= {"source": _source(path), "context_tokens": None}
        if event == "PreCompact":
            payload["trigger"] = _trigger(path)
        return payload

    def is_personal(self, payload: "Record", env: "dict[str, str]") -> bool:
        return payload.get("personal") is True

    def owns(self, path: str) -> bool:
        return "#ses_" in path

    def status(self, path: str) -> "tuple[int, float]":
        name, _, session_id = path.rpartition("#")
        sessions = Sessions(name)
        query = "SELECT id, time_created, time_updated FROM message WHERE session_id = ? "
        for message, time, updated in sessions.rows(query + "ORDER BY time_created DESC LIMIT 1", session_id):
            parts = sessions.rows("SELECT max(time_updated) FROM part WHERE message_id = ?", message)
            return _number(time) + 1, max(_number(updated), _number(parts[0][0])) / 1000
        return 0, _number(sessions.session(session_id)["time_created"]) / 1000

    def has_known_format(self, path: str) -> bool:
        name, _, session_id = path.rpartition("#")
        return str(Sessions(name).session(session_id)["version"]).startswith(TESTED)

    def session_id(self, path: str) -> str:
        return path.rpartition("#")[2]

    def tail(self, path: str, size: int) -> int:
        name, _, session_id = path.rpartition("#")
        query = "SELECT m.time_created, length(m.data) + coalesce((SELECT sum(length(p.data)) FROM part p WHERE "
        query += "p.message_id = m.id), 0) FROM message m WHERE m.session_id = ? ORDER BY m.time_created DESC LIMIT ?"
        start = 0
        for time, length in Sessions(name).rows(query, session_id, max(1, size >> 8)):
            start, size = _number(time), size - _number(length)
            if size <= 0:
                return start
        return 0

    def rows(self, path: str, start: int, limit: "int | None") -> "Iterator[tuple[Record, int]]":
        name, _, session_id = path.rpartition("#")
        sessions = Sessions(name)
        session = sessions.session(session_id)
        session["origin"] = sessions.origin(session)
        yield {"session": session}, start
        undone = fastjson_hot.loads_dict(str(session["revert"] or "")).get("messageID")
        size, offset = 0, start
        while listing := sessions.listing(session_id, offset, PAGE + 1):
            for (message_id, time), following in zip(listing[:PAGE], [*listing[1:], None], strict=False):
                message = sessions.message(message_id)
                is_over = limit is not None and size > limit
                if message_id == undone or (is_over and offset != time):  # never between two with one time
                    return
                if not sessions.is_complete(session_id, message, time, not following):
                    return
                size += _number(message["bytes"])
                # Of two with one time neither is passed over before the other is read.
                offset = time if following and following[1] == time else time + 1
                yield {"session": session, "message": message, "at": time}, offset
            if len(listing) <= PAGE:
                return
            offset = max(offset, listing[0][1] + 1)  # whatever a damaged database says, a reading ends

    def translator(self) -> "Callable[[Record, int], list[Record]]":
        return Translation().records


def _number(value: "object") -> int:
    return value if isinstance(value, int) else 0


def _source(path: str) -> str:
    """Return how a session begins that its program has not seen before: as Claude Code says it."""
    name, _, session_id = path.rpartition("#")
    try:
        sessions = Sessions(name)
        if not sessions.listing(session_id, 0, 1):
            return "startup"
        session = sessions.session(session_id)
        if sessions.origin(session):
            return "fork"
        query = "SELECT max(time_created) FROM message WHERE session_id = ? AND data LIKE ?"
        compacted = sessions.rows(query, session_id, '%"summary":true%')[0][0]
        query = "SELECT 1 FROM part WHERE session_id = ? AND time_created > ? AND data LIKE ? LIMIT 1"
        if compacted is not None and not sessions.rows(query, session_id, compacted, f"%{OURS}%"):
            return "compact"
    except OSError:
        return "startup"
    return "resume"


def _trigger(path: str) -> str:
    """Return who began the compaction that a session is about to have, as Claude Code says it."""
    name, _, session_id = path.rpartition("#")
    query = "SELECT data FROM part WHERE session_id = ? AND data LIKE ? ORDER BY time_created DESC LIMIT 1"
    try:
        rows = Sessions(name).rows(query, session_id, '%"type":"compaction"%')
    except OSError:
        rows = []
    return "manual" if rows and fastjson_hot.loads_dict(str(rows[0][0])).get("auto") is False else "auto"


def _tool(name: str, fields: "Record") -> "tuple[str, Record]":
    """Return a tool and its input as Claude Code calls them."""
    names = {"filePath": "file_path", **ARGUMENTS[name]} if name in ARGUMENTS else {}
    return TOOLS.get(name, name), {names.get(key, key): value for key, value in fields.items()}


def _unquoted(text: str) -> str:
    """Return a prompt of `opencode run` as it was typed: its arguments stand in one line, those with a blank in quotes,
    and what came on standard input below it, which is marked as what a person pasted."""
    words, at = "", 0
    while at < len(text) and text[at] != "\n":
        if text[at] == '"' and text[at - 1 : at] in {"", " "}:
            end = text.find('"', at + 1)
            while end > 0 and text[end - 1] == "\\":
                end = text.find('"', end + 1)
            end = end if end > 0 else len(text)
            words += text[at + 1 : end].replace('\\"', '"')
            at = end + 1
        else:
            words += text[at]
            at += 1
    return f"{words}\n```\n{text[at + 1 :]}\n```" if text[at + 1 :] else words


class Translation:
    """One reading of a session: its rows become records as Claude Code writes them."""

    def __init__(self) -> None:
        self._session: Record = {}
        self._shell = self._prompt = ""  # the newest message that a command of the person's is the answer to; a prompt
        self._prefix = ""
        self._origin: Record = {}
        self._records: list[Record] = []

    def records(self, row: "Record", _: int) -> "list[Record]":
        """Return the records of a row. A message's copies in forks have the same names."""
        if "message" not in row:
            self._session = fastjson_hot.table(row, "session")
            title = str(self._session["title"])
            return [] if title.startswith(UNTITLED) else [{"type": "ai-title", "aiTitle": title}]
        message = fastjson_hot.table(row, "message")
        time = _number(row["at"])
        self._records = []
        place = ids_hot.number_of(str(self._session["directory"]).encode("utf-8", "replace"))
        self._prefix = f"{time}-{place:x}-{str(message.get('role'))[:1]}"
        self._origin = {"parentUuid": records_hot.BEFORE, "timestamp": clock_hot.iso(time / 1000)}
        self._origin |= {"sessionId": self._session["id"], "cwd": self._session["directory"]}
        if self._session["origin"] and time < _number(self._session["time_created"]):
            self._origin["forkedFrom"] = {"sessionId": self._session["origin"]}
        parts = [part for part in fastjson_hot.rows(message, "parts") if isinstance(part, dict)]
        (self._person if message.get("role") == "user" else self._agent)(message, parts)
        return self._records

    def _next(self) -> "Record":
        """Return the origin of the next record of the message."""
        return {"uuid": f"{self._prefix}{len(self._records)}", **self._origin}

    def _add(self, record: "Record") -> None:
        self._records.append(record)

    def _person(self, message: "Record", parts: "list[Record]") -> None:
        if any(part.get("type") == "compaction" for part in parts):
            self._add(records_hot.compaction(self._next()))
            return
        texts = [part for part in parts if part.get("type") == "text" and isinstance(part.get("text"), str)]
        own = [str(part["text"]) for part in texts if not part.get("synthetic") and not part.get("ignored")]
        contexts = [str(part["text"]) for part in texts if part.get("synthetic") and OURS in str(part["text"])]
        # What a command's template says, or another agent.
        is_aside = bool(self._session["parent_id"]) or any("command" in _ours(part) for part in texts)
        name = str(message["id"])
        if own:
            text = "\n".join(own)
            text = _unquoted(text) if UNATTENDED in str(self._session["permission"]) else text
            record = records_hot.person(text, self._next(), name)
            self._add({**record, "isMeta": True} if is_aside else record)
            self._prompt = name
        elif any(part.get("text") == SHELL for part in texts):
            self._shell = name
        for text in contexts:
            self._add(records_hot.injected([text], "UserPromptSubmit", self._next()))

    def _agent(self, message: "Record", parts: "list[Record]") -> None:
        if message.get("parentID") == self._shell != "":
            return
        for part in parts:
            if part.get("type") == "text" and part.get("text") and not part.get("synthetic"):
                record = records_hot.reply(str(part["text"]), self._next())
                record |= {"isCompactSummary": True} if message.get("summary") is True else {}
                self._add_of(message, record)
            elif part.get("type") == "tool":
                self._tool(message, part)
        if fastjson_hot.text(fastjson_hot.table(message, "error"), "name") == "MessageAbortedError":
            self._add(records_hot.person("[Request interrupted by user]", self._next(), self._prompt))

    def _add_of(self, message: "Record", record: "Record") -> None:
        """Add a record of an answer, whose records share its name."""
        fastjson_hot.table(record, "message")["id"] = message["id"]
        self._add(record)

    def _tool(self, message: "Record", part: "Record") -> None:
        name, call = fastjson_hot.text(part, "tool"), fastjson_hot.text(part, "callID")
        state = fastjson_hot.table(part, "state")
        fields, status = fastjson_hot.table(state, "input"), state.get("status")
        if name == QUESTION:
            self._question(message, call, state)
            return
        tool, fields = _tool(name, fields)
        self._add_of(message, records_hot.tool_call(tool, call, fields, self._next()))
        if status == "error":
            self._failure(name, call, fastjson_hot.text(state, "error"))
        elif status == "completed":
            text, mark, context = fastjson_hot.text(state, "output").partition("\n\n" + OURS)
            self._add(records_hot.tool_result(call, text, self._next()))
            if mark:
                record = records_hot.injected([mark.strip() + context], "PreToolUse", self._next())
                fastjson_hot.table(record, "attachment")["toolUseID"] = call
                self._add(record)

    def _failure(self, name: str, call: str, error: str) -> None:
        """Add the error of a call; a person's words on refusing it only for OpenCode's own tools."""
        if name in TOOLS and error.startswith(STOPPED[:-1]):
            words = error.removeprefix(REJECTED) if error.startswith(REJECTED) else ""
            text = f"{REFUSAL} To tell you how to proceed, the user said:\n{words}" if words else REFUSAL
            self._add({**records_hot.tool_result(call, text, self._next(), True), "toolDenialKind": "user-rejected"})
        else:
            record = records_hot.tool_result(call, error, self._next(), True)
            self._add({**record, "toolDenialKind": "error"})

    def _question(self, message: "Record", call: str, state: "Record") -> None:
        """Add the agent's questions and the person's answers, as those of Claude Code's tool."""
        asked = fastjson_hot.rows(fastjson_hot.table(state, "input"), "questions")
        questions = [{**row, "multiSelect": row.get("multiple") is True} for row in asked if isinstance(row, dict)]
        self._add_of(message, records_hot.tool_call("AskUserQuestion", call, {"questions": questions}, self._next()))
        if state.get("status") == "completed":
            rows = fastjson_hot.rows(fastjson_hot.table(state, "metadata"), "answers")
            names = [str(question.get("question")) for question in questions]
            result = {"questions": questions, "answers": dict(zip(names, rows, strict=False))}
            record = records_hot.tool_result(call, fastjson_hot.text(state, "output"), self._next())
            self._add({**record, "toolUseResult": result})


def _ours(part: "Record") -> "Record":
    """Return what memtui's plugin noted in a part."""
    return fastjson_hot.table(fastjson_hot.table(part, "metadata"), "memtui")


AGENT = Opencode()
