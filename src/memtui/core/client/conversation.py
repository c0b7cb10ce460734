"""The conversation of a session: the person's words by channel, the agent's words before them, the todo list, and what
runs in the background.

The person's words are in five places: user records, rejected tools, messages queued in mid-turn, answers to the
agent's questions, and what is added to the approval of a tool or plan. The rest of a user record is not theirs: tool
results, texts of hooks and of the client, summaries of a compaction, a subagent's conversation. A tool may print the
very sentences with which the client reports a refusal or an answer, so these count only where the record itself shows
that the client wrote them. What enters the client's queue does not say who wrote it: it waits for the record that does
(speaker.py).
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace

from memtui.core.base import ids, session_state
from memtui.core.client import answers, background, request, speaker, transcript

MAX_TEXT = 20_000
AGENT_TAIL = 2_000
MAX_INJECTED_LINES = 20_000
MIN_INJECTED_LINE = 20
# Of what hooks gave, a later reading knows the hashes of so many lines and sentences, the newest; bytes of a hash of
# these and of a queued message.
MAX_INJECTED_KEPT, KEPT_HASH = 2_000, 6
# Messages in the client's queue that wait for the record that says who wrote them, and texts known to be of others.
MAX_QUEUED, MAX_OTHERS = 20, 200
# The `reason` of a `remove`: whoever queued the message took it back, or a hook refused it.
_TAKEN_BACK = ("cancelled", "dropped")

_WRAPPED = re.compile(
    r"<(?P<tag>[a-z]+(?:[-_][a-z0-9]+)+|objective|context|summary|process|command|hook|tool_use_error)\b[^>\n]{0,400}>"
    r"(?:[\s\S]*?</(?P=tag)>|[\s\S]*\Z)",
    re.IGNORECASE,
)
_INTERRUPTED = re.compile(r"^\[Request interrupted by user[^\]]*\]\s*$", re.MULTILINE)
_IMAGE = re.compile(r"\[(?:Image|Pasted text|Image: source)[^\]\n]{0,300}\]")
_NOT_A_PERSON = (
    "Caveat: The messages below",
    "This session is being continued from a previous",
    "Stop hook feedback",
    "[SYSTEM NOTIFICATION",
    "API Error",
    "The user wants to clarify these questions",
    '{"task_id"',
    "Base directory for this skill:",
    # The client writes the whole of such a record: a program may have printed what follows a closing tag.
    "<task-notification",
    "<teammate-message",
    "<channel",
    "<local-command-",
    "<command-",
    "<bash-",
)
_SENTENCE = re.compile(r"(?<=[.!?:;—])\s+|(?<=[。！？])")
_COMMAND = re.compile(r"^/[\w:-]+(?:\s|$)")
_REJECTED = re.compile(
    r"^(?:Error: )?(?:The user doesn['’]t want to (?:proceed|take)|Permission for this tool use was denied)"
    r"[^\n]{0,400}?the user said:\s*(?P<words>[\s\S]+)",
    re.IGNORECASE,
)
_STOPPED = re.compile(
    r"^(?:Error: )?(?:The user doesn['’]t want to (?:proceed|take)|Permission for this tool use was denied"
    r"|\[Request interrupted by user)",
    re.IGNORECASE,
)
_NOTE = re.compile(r"\n+Note: The user['’]s next message may contain[\s\S]*\Z")
_PLAN_PROMPT = "Implement the following plan:"
_PLAN_FEEDBACK = "User feedback on this plan:"
_BACKGROUND_TOOLS = (*background.ASKING, *background.STOPPING)
_TASK_TOOLS = ("TaskCreate", "TaskUpdate")
# What is kept of the input of these, until they have a result.
_KEPT = ("subject", "taskId", "status", *background.NAMES)
# The prefix of tools of other programs, whose errors can be any text.
_FOREIGN_TOOL = "mcp__"
# The calls without a result that are remembered: a transcript that never answers them must not fill the memory.
MAX_CALLS = 256
# Characters that are kept of a call.
MAX_CALL = 160


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the person. `channel`: prompt, queued, tool_reject, approval or answer; `agent`: the end of the
    agent's text since the person's last message, or the call that they refused, approved or stopped, in short;
    `tools`: the tools it used since; `uuid`: the record's, empty if it has none; `request`: what the person had asked
    for before; `interrupted`: whether they had just stopped the agent."""

    text: str
    channel: str
    uuid: str = ""
    session: str = ""
    time: str = ""
    agent: str = ""
    tools: tuple[str, ...] = ()
    request: str = ""
    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class Running:
    """A command or an agent that runs in the background: what it does, and whether it is an agent."""

    text: str
    agent: bool


@dataclass(frozen=True, slots=True)
class Todo:
    """An entry of the agent's todo or task list. `status`: pending, in_progress, completed or deleted."""

    text: str
    status: str


def own_words(text: str) -> str:
    """Return the person's own words in the text of a user record; empty if there are none."""
    text = transcript.text_of(text[:MAX_TEXT]).replace("\r\n", "\n").replace("\r", "\n").strip()
    if text.startswith(_NOT_A_PERSON) or _COMMAND.match(text):
        return ""
    if text.startswith(_PLAN_PROMPT):
        text = text.partition(_PLAN_FEEDBACK)[2]
    if "<" in text:
        text = _WRAPPED.sub("\n", text)
    text = _INTERRUPTED.sub("", text)
    text = _IMAGE.sub("", text)
    return "" if text.strip().startswith(_NOT_A_PERSON) else text.strip()


def normalised(text: str) -> str:
    """Return a text for comparison: in lower case, with single blanks, without punctuation at its ends."""
    return " ".join(text.lower().split()).strip(" .!?,;:-*`\"'")


def _hashed(text: str) -> str:
    """Return what a later reading knows a text by."""
    return ids.digest(text, KEPT_HASH)


def _restored_turn(given: object) -> Turn | None:
    """Read a turn that is kept as its fields; None for anything else."""
    if not isinstance(given, dict):
        return None
    texts = {key: transcript.text_of(given.get(key)) for key in ("text", "uuid", "session", "time", "agent", "request")}
    tools = given.get("tools")
    used = tuple(map(str, tools if isinstance(tools, list) else ()))
    return Turn(**texts, channel="queued", tools=used, interrupted=given.get("interrupted") is True)


def _restored_todos(given: object) -> list[Todo]:
    """Read the entries of a todo list that are kept as [text, status]."""
    return [
        Todo(str(entry[0]), str(entry[1]))
        for entry in (given if isinstance(given, list) else [])
        if isinstance(entry, list) and len(entry) == 2
    ]


def argument(given: object) -> str:
    """Return the first text among a call's arguments, as one line."""
    texts = [value for value in given.values() if isinstance(value, str)] if isinstance(given, dict) else []
    return " ".join(transcript.text_of(texts[0][:MAX_TEXT]).split()) if texts else ""


def on_plan(record: dict[str, object], text: str) -> tuple[str, str]:
    """Return what the person added when they approved a plan for a new conversation, empty if they added nothing, and
    the plan. The client puts both into the prompt that it begins with."""
    plan = transcript.text_of(record.get("planContent"))
    rest = text.removeprefix(_PLAN_PROMPT).lstrip("\n")
    # A plan may have the very words that come before what the person added.
    before, mark, words = rest.removeprefix(plan).rpartition("\n" + _PLAN_FEEDBACK)
    return (words.strip(), plan or before.strip()) if mark else ("", plan or rest)


def _is_beside(record: dict[str, object]) -> bool:
    """Tell whether there is text beside the results of tools in a record."""
    return any(block.get("type") == "text" for block in transcript.blocks(record))


def is_approved(record: dict[str, object], block: dict[str, object]) -> bool:
    """Tell whether the text beside a tool's result is what a person added when they approved it. Client 2.1.197 does
    not write who decided; there a tool that ended without an error is taken for approved."""
    decision = record.get("permissionDecision")
    if isinstance(decision, dict):
        return decision.get("decision") != "reject" and transcript.text_of(decision.get("source")).startswith("user_")
    return block.get("is_error") is not True


def refusal(record: dict[str, object], block: dict[str, object], tool: str) -> str:
    """Return a person's words on refusing a tool; empty for the output of a program, even if it reads the same.

    `tool`: the tool's name, empty if unknown. Client 2.1.330 writes who decided. 2.1.197 does not: there the error of
    another program's tool can look like a refusal, while an error of the client's own tools begins with its words.
    """
    if block.get("is_error") is not True:
        return ""
    kind, decision = record.get("toolDenialKind"), record.get("permissionDecision")
    if kind is not None or isinstance(decision, dict):
        source = decision.get("source") if isinstance(decision, dict) else None
        by_person = kind == "user-rejected" or source == "user_reject"
    else:
        by_person = not tool.startswith(_FOREIGN_TOOL) and "mcpMeta" not in record
    match = _REJECTED.match(transcript.result_text(block)[: 4 * MAX_TEXT]) if by_person else None
    return _NOTE.sub("", match["words"]).strip() if match else ""


class Conversation:
    """The conversation that a transcript's records add up to, given to `feed` in order: `turns`, `todos()`,
    `todos_changed`, `running`, `last_message`, `was_injected`. A queued message is no turn before a record says whose
    it is, or `end_queue` is called.

    `state` (a JSON object from `to_state`) continues an earlier reading. `clean` is applied to every text before it is
    cut, half a secret would not be recognised, and to the state. `asks` tells whether a prompt asks for something: one
    that only says what was wrong goes on with the request before.
    """

    def __init__(
        self,
        state: dict[str, object] | None = None,
        clean: Callable[[str], str] = str,
        asks: Callable[[Turn], bool] = lambda _: True,
    ) -> None:
        self._clean = clean
        self._asks = asks
        self.turns: list[Turn] = []
        self.last_message = ""
        self.session = ""
        self._request = ""
        self._message_id = ""
        self._agent = ""
        self._doing = ""  # the call that the person decided on last, in short
        self._tools: list[str] = []
        self._calls: dict[str, tuple[str, dict[str, object], str]] = {}  # without a result yet: tool, input, time
        self._todos: list[Todo] = []
        self._todos_time = ""
        self._tasks: dict[str, tuple[Todo, str]] = {}
        self.todos_changed = False  # since the last prompt
        self.running: dict[str, Running] = {}  # by the client's id
        self._injected: set[str] = set()
        self._injected_hashes: dict[str, None] = {}
        self._interrupted = False
        self._queued: list[Turn] = []  # `uuid`: the hash of the text as it was before it was cleaned
        self._others: dict[str, None] = {}  # hashes of texts that others wrote and that may be queued
        self._restore(state or {})

    def to_state(self) -> dict[str, object]:
        """Return what a later reading continues from: the agent's last words, the request under way, the todo list,
        messages in the queue, and hashes of what hooks gave and others wrote, not the turns."""
        state: dict[str, object] = {
            "request": self._request,
            "agent": self._agent[-AGENT_TAIL:],
            "doing": self._doing,
            "last_message": self.last_message[-MAX_TEXT:],
            "message_id": self._message_id,
            "todos": [[t.text, t.status] for t in self._todos],
            "todos_time": self._todos_time,
            "todos_changed": self.todos_changed,
            "tasks": {name: [t.text, t.status, time] for name, (t, time) in self._tasks.items()},
            "running": {name: [each.text, each.agent] for name, each in self.running.items()},
            "interrupted": self._interrupted,
            "queued": [asdict(turn) for turn in self._queued],
            "calls": {name: [tool, given, time] for name, (tool, given, time) in self._calls.items()},
        }
        cleaned = {key: self._cleaned(value) for key, value in state.items()}
        return cleaned | {
            "others": [*self._others][-MAX_OTHERS:],
            "injected": [*self._injected_hashes][-MAX_INJECTED_KEPT:],
        }

    def _cleaned(self, value: object) -> object:
        """Return a value of the state cleaned: also the input of tools, and what an older version kept."""
        if isinstance(value, str):
            return self._clean(value)
        if isinstance(value, list):
            return [self._cleaned(part) for part in value]
        return {key: self._cleaned(part) for key, part in value.items()} if isinstance(value, dict) else value

    def _restore(self, state: dict[str, object]) -> None:
        self._agent = transcript.text_of(state.get("agent"))
        self._doing = transcript.text_of(state.get("doing"))
        self._request = transcript.text_of(state.get("request"))
        self.last_message = transcript.text_of(state.get("last_message"))
        self._message_id = transcript.text_of(state.get("message_id"))
        self._todos_time = transcript.text_of(state.get("todos_time"))
        self._interrupted = state.get("interrupted") is True
        self.todos_changed = state.get("todos_changed") is True
        self._todos = _restored_todos(state.get("todos"))
        queued = state.get("queued")
        self._queued = [*filter(None, map(_restored_turn, queued if isinstance(queued, list) else ()))]
        others = state.get("others")
        self._others = dict.fromkeys(map(str, others if isinstance(others, list) else ()))
        hashes = state.get("injected")
        self._injected_hashes = dict.fromkeys(map(str, hashes if isinstance(hashes, list) else ()))
        for name, entry in session_state.table(state, "tasks").items():
            if isinstance(entry, list) and len(entry) == 3:
                self._tasks[name] = (Todo(str(entry[0]), str(entry[1])), str(entry[2]))
        for name, entry in session_state.table(state, "running").items():
            if isinstance(entry, list) and len(entry) == 2:
                self.running[name] = Running(str(entry[0]), entry[1] is True)
        for name, entry in session_state.table(state, "calls").items():
            if isinstance(entry, list) and len(entry) == 3 and isinstance(entry[1], dict):
                self._calls[name] = (str(entry[0]), entry[1], str(entry[2]))

    def feed(self, record: dict[str, object]) -> None:
        """Add one record. Records of unknown kinds and shapes are ignored."""
        kind = record.get("type")
        if any(record.get(mark) for mark in speaker.ASIDE):
            return
        for text in speaker.words_of_others(record):
            self._note_other(text)
        if kind == "assistant":
            self._assistant(record)
        elif kind == "user":
            self._user(record)
        elif kind == "attachment":
            self._attachment(record)
        elif kind == "queue-operation":
            self._queue(record)

    def todos(self) -> list[Todo]:
        """Return the entries of the todo list and of the task list as they are now."""
        return [*self._todos, *[todo for todo, _ in self._tasks.values()]]

    def was_injected(self, text: str) -> bool:
        """Tell whether a hook gave this line, or one that holds it, to the model. Of what an earlier reading heard only
        whole lines and sentences are known."""
        wanted = normalised(text)
        if self._injected_hashes and _hashed(wanted) in self._injected_hashes:
            return True
        return wanted in self._injected or (
            len(wanted) >= MIN_INJECTED_LINE and any(wanted in line for line in self._injected)
        )

    def own(self, turn: Turn) -> Turn:
        """Return a turn without the lines and sentences that a hook had given to the model."""
        if not self._injected and not self._injected_hashes:
            return turn
        lines, left_out = [], False
        for line in turn.text.splitlines():
            parts = _SENTENCE.split(line)
            kept = [] if self.was_injected(line) else [each for each in parts if not self.was_injected(each)]
            left_out |= len(kept) < len(parts)
            lines += [line] if len(kept) == len(parts) else [" ".join(kept)] if kept else []
        return replace(turn, text="\n".join(lines).strip()) if left_out else turn

    def _text(self, value: object, limit: int = MAX_TEXT) -> str:
        """Return a cleaned text of at most `limit` characters. One over twice as long is first cut between words."""
        text = transcript.text_of(value)
        if len(text) > 2 * limit:
            text = text[: text.rfind(" ", limit, 2 * limit) + 1 or limit]
        return self._clean(text)[:limit]

    def _todo_list(self, given: object) -> list[Todo]:
        """Read the entries of a TodoWrite call."""
        return [
            Todo(self._text(entry.get("content")), transcript.text_of(entry.get("status")))
            for entry in (given if isinstance(given, list) else [])
            if isinstance(entry, dict)
        ]

    def _assistant(self, record: dict[str, object]) -> None:
        message = record.get("message")
        if not isinstance(message, dict) or message.get("model") == "<synthetic>" or record.get("isApiErrorMessage"):
            return
        name = transcript.text_of(message.get("id"))
        parts = []
        for block in transcript.blocks(record):
            if block.get("type") == "text":
                parts.append(self._text(block.get("text")))
            elif block.get("type") == "tool_use":
                self._tool_use(block, transcript.text_of(record.get("timestamp")))
        text = "\n\n".join([part for part in parts if part.strip()])
        if not text:
            return
        self._agent = f"{self._agent}\n\n{text}"[-AGENT_TAIL:].lstrip()
        if name and name == self._message_id:
            text = f"{self.last_message}\n\n{text}"[-MAX_TEXT:]
        self.last_message, self._message_id = text, name

    def _tool_use(self, block: dict[str, object], time: str) -> None:
        name, given = transcript.text_of(block.get("name")), block.get("input")
        self._tools.append(name)
        is_kept = name in (*_TASK_TOOLS, *_BACKGROUND_TOOLS)
        kept = {key: given[key] for key in _KEPT if key in given} if is_kept and isinstance(given, dict) else {}
        if name == answers.TOOL and isinstance(given, dict):
            kept = {"questions": answers.asked(given)}
        if name == "TodoWrite" and isinstance(given, dict) and time >= self._todos_time:
            kept = {"before": [[todo.text, todo.status] for todo in self._todos], "before_time": self._todos_time}
            self._todos, self._todos_time = self._todo_list(given.get("todos")), time
        kept = {**kept, "doing": self._text(f"{name}: {argument(given)}", MAX_CALL)}
        if isinstance(given, dict) and not name.startswith(_FOREIGN_TOOL):
            kept["about"] = self._text(given.get("description"), MAX_CALL) or self._text(argument(given), MAX_CALL)
            kept["background"] = given.get("run_in_background") is True
        self.todos_changed = self.todos_changed or name in {"TodoWrite", *_TASK_TOOLS}
        self._calls[transcript.text_of(block.get("id"))] = (name, kept, time)
        if len(self._calls) > MAX_CALLS:
            del self._calls[next(iter(self._calls))]

    def _user(self, record: dict[str, object]) -> None:
        self.session = transcript.text_of(record.get("sessionId")) or self.session
        parts, results = [], []
        for block in transcript.blocks(record):
            if block.get("type") == "tool_result":
                self._tool_result(record, block)
                results.append(block)
            elif block.get("type") == "text":
                parts.append(transcript.text_of(block.get("text")))
        text = "\n".join(parts)
        self.running.pop(background.ended(text), None)
        if _INTERRUPTED.search(text[:MAX_TEXT]):
            self._interrupted = True
        if not parts or (record.get("isMeta") and "toolUseResult" in record):
            return
        origin = record.get("origin")
        continued = isinstance(origin, dict) and origin.get("kind") == "auto-continuation" and not record.get("isMeta")
        if "toolUseResult" in record:
            if results and is_approved(record, results[-1]) and speaker.is_human_origin(record):
                self._add_turn(record, text, "approval")
        elif text.startswith(_PLAN_PROMPT) and (continued or speaker.is_person(record)):
            words, plan = on_plan(record, text)
            self._add_turn(record, words, "approval", agent=self._text(plan)[-AGENT_TAIL:])
        else:
            self._sent(record, text, "prompt")

    def _tool_result(self, record: dict[str, object], block: dict[str, object]) -> None:
        text = transcript.result_text(block)[: 4 * MAX_TEXT]
        name, given, time = self._calls.pop(transcript.text_of(block.get("tool_use_id")), ("", {}, ""))
        if _STOPPED.match(text) if block.get("is_error") else _is_beside(record):
            self._doing = transcript.text_of(given.get("doing"))
        self._take_background(name, given, text, record, failed=block.get("is_error") is True)
        if block.get("is_error"):
            if name == "TodoWrite" and self._todos_time == time and "before" in given:
                self._todos = _restored_todos(given["before"])
                self._todos_time = transcript.text_of(given.get("before_time"))
            words = refusal(record, block, name)
            clarified = answers.clarified(words, given.get("questions")) if name == answers.TOOL else None
            if clarified is not None:
                self._answers(record, clarified)
            else:
                self._add_turn(record, words, "tool_reject")
        elif name in _TASK_TOOLS:
            self._task(name, given, record, text)
        elif name in {"", answers.TOOL} and answers.is_report(text):
            result, asked = record.get("toolUseResult"), given.get("questions")
            self._answers(record, answers.typed(text, result, asked, from_client=name == answers.TOOL))

    def _take_background(
        self, name: str, given: dict[str, object], text: str, record: dict[str, object], *, failed: bool
    ) -> None:
        """Note what a call left running, or that something no longer runs."""
        result = record.get("toolUseResult")
        if name in _BACKGROUND_TOOLS:
            self.running.pop(background.over(name, given, text, result, failed=failed), None)
        elif about := transcript.text_of(given.get("about")):
            task, is_agent = background.started(text, result, wanted=given.get("background") is True)
            if task and len(self.running) < MAX_CALLS:
                self.running[task] = Running(about, is_agent)

    def _task(self, name: str, given: dict[str, object], record: dict[str, object], text: str) -> None:
        time = transcript.text_of(record.get("timestamp"))
        result = record.get("toolUseResult")
        task = result.get("task") if isinstance(result, dict) else None
        if name == "TaskCreate":
            number = re.search(r"#(\w+)", text)
            key = str(task["id"]) if isinstance(task, dict) and "id" in task else number[1] if number else ""
            if key and key not in self._tasks:
                self._tasks[key] = (Todo(self._text(given.get("subject")), "pending"), time)
            return
        key = str(given.get("taskId", ""))
        todo, changed = self._tasks.get(key, (Todo("", "pending"), ""))
        if time >= changed and not (isinstance(result, dict) and result.get("success") is False):
            todo = replace(
                todo,
                text=self._text(given.get("subject")) or todo.text,
                status=transcript.text_of(given.get("status")) or todo.status,
            )
            self._tasks[key] = (todo, time)

    def _answers(self, record: dict[str, object], found: Iterable[answers.TypedAnswer]) -> None:
        for words, question in found:
            self._add_turn(record, words, "answer", agent=self._text(question))

    def _attachment(self, record: dict[str, object]) -> None:
        found = transcript.attachment(record)
        if found.get("type") == "queued_command":
            text = speaker.queued_text(found)
            self.running.pop(background.ended(text), None)
            self._sent(record, text, "queued")
        elif transcript.text_of(found.get("type")).startswith("hook_"):
            for text in [*transcript.attachment_texts(found), transcript.text_of(found.get("stdout"))]:
                for line in self._text(text, 10 * MAX_TEXT).splitlines():
                    if len(line) >= MIN_INJECTED_LINE and len(self._injected) < MAX_INJECTED_LINES:
                        self._inject(line)

    def _inject(self, line: str) -> None:
        """Note a line that a hook gave, and its sentences for later readings."""
        whole = normalised(line)
        if whole in self._injected:
            return
        self._injected.add(whole)
        for part in (whole, normalised(whole.lstrip("+ ")), *map(normalised, _SENTENCE.split(whole))):
            if len(part) >= MIN_INJECTED_LINE:
                self._injected_hashes[_hashed(part)] = None

    def _queue(self, record: dict[str, object]) -> None:
        """Add a message to the queue, or drop those that were taken back (`popAll`: to edit them)."""
        text = transcript.text_of(record.get("content"))
        self.running.pop(background.ended(text), None)
        operation = record.get("operation")
        taken_back = operation == "remove" and transcript.text_of(record.get("reason")).startswith(_TAKEN_BACK)
        if operation == "popAll" or taken_back:
            self._leave_queue(text)
        elif operation == "enqueue" and speaker.is_person(record):
            turn = self._turn(record, text, "queued")
            if turn.text:
                self._queued = [*self._queued, replace(turn, uuid=_hashed(own_words(text)))][-MAX_QUEUED:]

    def end_queue(self) -> None:
        """Take what is still queued for the person's: the session is over, and no record shows that it is not."""
        for turn in self._queued:
            if turn.uuid not in self._others:
                self.turns.append(replace(turn, uuid=""))
        self._queued.clear()

    def _sent(self, record: dict[str, object], text: str, channel: str) -> None:
        """Take in a message that was sent to the agent: it was typed then, or left the queue."""
        queued = self._leave_queue(text)
        if speaker.is_person(record):
            self._add_turn(record, text, channel, queued)
        else:
            self._note_other(text)

    def _leave_queue(self, text: str) -> Turn | None:
        """Remove the messages of a text from the queue, and return the first one that is all of it."""
        if not self._queued:
            return None
        words = own_words(text)
        digest = _hashed(words)
        for at, turn in enumerate(self._queued):
            if turn.uuid == digest:
                return self._queued.pop(at)
        # The client can join several.
        lines = f"\n{self._text(words)}\n"
        self._queued = [turn for turn in self._queued if f"\n{turn.text}\n" not in lines]
        return None

    def _note_other(self, text: str) -> None:
        """Note words that are not the person's, whoever repeats them in the queue."""
        words = own_words(text)
        if words:
            self._others[_hashed(words)] = None

    def _turn(self, record: dict[str, object], text: str, channel: str, agent: str = "") -> Turn:
        """Return a message of the person with what there is before it."""
        self.session = transcript.text_of(record.get("sessionId")) or self.session
        on_call = self._interrupted or channel in {"tool_reject", "approval"}
        return Turn(
            text=own_words(self._text(text)),
            channel=channel,
            uuid=transcript.text_of(record.get("uuid")),
            session=self.session,
            time=transcript.text_of(record.get("timestamp")),
            agent=agent or self._agent or (self._doing if on_call else ""),
            tools=tuple(self._tools[-20:]),
            request=self._request,
            interrupted=self._interrupted,
        )

    def _add_turn(
        self, record: dict[str, object], text: str, channel: str, queued: Turn | None = None, agent: str = ""
    ) -> None:
        """Add a message of the person. `queued`: as it was queued, with what there was before it then."""
        turn = self._turn(record, text, channel, agent)
        if not turn.text:
            return
        if queued:
            turn = replace(queued, text=turn.text, uuid=turn.uuid, channel=channel, session=turn.session)
        self.turns.append(turn)
        self._interrupted = False
        if channel == "prompt":
            self._agent = self._doing = ""
            self.todos_changed = False
            if self._asks(turn):
                self._request = request.of_prompt(self.own(turn).text) or self._request
        self._tools.clear()
