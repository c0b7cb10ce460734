"""The conversation of a session: the person's words by channel, the agent's words before them, and the todo list.

The person's words are in user records, rejected tools, messages queued in mid-turn, answers to the agent's questions,
and what is added to an approval: only where the record shows that the client wrote them, as a tool may print the same.
What enters the client's queue counts once it is sent, with a record that says who wrote it (speaker.py)."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import starmap
from typing import Any, NamedTuple

from memtui.base import fastjson_hot, fs_hot, ids_hot
from memtui.client.agents import agents_hot
from memtui.client.transcripts import speaker, transcript_hot
from memtui.client.transcripts.speaker import MAX_TEXT, argument, own_words
from memtui.client.transcripts.transcript_hot import text_of

AGENT_TAIL = 2_000
MAX_INJECTED_LINES = 20_000
MIN_INJECTED_LINE = 20
# Of what hooks gave, a later reading knows the hashes of so many lines and sentences, the newest; bytes of a hash.
MAX_INJECTED_KEPT, KEPT_HASH = 2_000, 6
# What a later reading knows a line by.
_hashed = partial(ids_hot.digest, size=KEPT_HASH)
_SENTENCE = re.compile(r"(?<=[.!?:;—])\s+|(?<=[。！？])")
_TASK_TOOLS = ("TaskCreate", "TaskUpdate")
# What is kept of the input of these, until they have a result.
_KEPT = ("subject", "taskId", "status")
# The calls without a result that are remembered: a transcript that never answers them must not fill the memory.
MAX_CALLS = 256
# Characters that are kept of a call.
MAX_CALL = 160
# The attributes that are texts, by their names in the state.
_ATTRIBUTES = ("_request", "_calls_made", "_agent", "_doing", "last_message", "_message_id", "_todos_time")
_TEXTS = {attribute.removeprefix("_"): attribute for attribute in _ATTRIBUTES}


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the person. `channel`: prompt, queued, tool_reject, approval or answer; `agent`: the end of the
    agent's text since their last one, or the call that they decided on; `tools`: used since; `uuid`: the record's;
    `request`: what they had asked for, `calls`: the last made for it; `interrupted`: they had stopped the agent."""

    text: str
    channel: str
    uuid: str = ""
    session: str = ""
    time: str = ""
    agent: str = ""
    tools: tuple[str, ...] = ()
    request: str = ""
    calls: str = ""
    interrupted: bool = False


class Todo(NamedTuple):
    """An entry of the agent's todo or task list. `status`: pending, in_progress, completed or deleted."""

    text: str
    status: str


def normalised(text: str) -> str:
    """Return a text for comparison: in lower case, with single blanks, without punctuation at its ends."""
    return " ".join(text.lower().split()).strip(" .!?,;:-*`\"'")


def cleaned(value: Any, clean: Callable[[str], str]) -> Any:
    """Return what a file will hold, with `clean` applied to each text in it."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list | tuple):
        return [cleaned(part, clean) for part in value]
    return {key: cleaned(part, clean) for key, part in value.items()} if isinstance(value, dict) else value


class Conversation:
    """What a transcript's records add up to, given to `feed` in order. `state` (of `to_state`) continues an earlier
    reading; `clean` is applied to every text before it is cut; `asks` tells whether a prompt asks for something."""

    def __init__(
        self,
        state: dict[str, object] | None = None,
        clean: Callable[[str], str] = str,
        asks: Callable[[Turn], bool] = lambda _: True,
    ) -> None:
        self._clean, self._asks = clean, asks
        self.turns: list[Turn] = []
        self.session = self.last_message = self._message_id = self._request = self._agent = self._todos_time = ""
        self._calls_made = ""  # for the request under way
        self._doing = ""  # the call that the person decided on last, in short
        self._tools: list[str] = []
        self._calls: dict[str, tuple[str, dict[str, Any], str]] = {}  # without a result yet: tool, input, time
        self._todos: list[Todo] = []
        self._tasks: dict[str, tuple[Todo, str]] = {}
        self.todos_changed = False  # since the last prompt
        self._injected: set[str] = set()
        self._injected_hashes: dict[str, None] = {}
        self._interrupted = False
        try:
            self._restore(state or {})
        except (AttributeError, KeyError, TypeError, ValueError):
            pass  # of another version: what was under way is not known

    def to_state(self) -> dict[str, object]:
        """Return what a later reading continues from: the request under way, the todos, hashes of what hooks gave."""
        tasks = {name: [*todo, time] for name, (todo, time) in self._tasks.items()}
        state: dict[str, object] = {key: getattr(self, name)[-MAX_TEXT:] for key, name in _TEXTS.items()}
        state |= {"todos": self._todos, "todos_changed": self.todos_changed, "tasks": tasks}
        state |= {"interrupted": self._interrupted, "calls": self._calls}
        clean_state = {key: cleaned(value, self._clean) for key, value in state.items()}
        return clean_state | {"injected": [*self._injected_hashes][-MAX_INJECTED_KEPT:]}

    def _restore(self, state: dict[str, Any]) -> None:
        for key, name in _TEXTS.items():
            setattr(self, name, text_of(state.get(key)))
        self._interrupted, self.todos_changed = bool(state.get("interrupted")), bool(state.get("todos_changed"))
        self._todos = list(starmap(Todo, state.get("todos", ())))
        self._injected_hashes = dict.fromkeys(state.get("injected", ()))
        self._calls = {name: (tool, fields, time) for name, (tool, fields, time) in state.get("calls", {}).items()}
        tasks = state.get("tasks", {}).items()
        self._tasks = {name: (Todo(text, status), time) for name, (text, status, time) in tasks}

    def feed(self, record: dict[str, object]) -> None:
        """Add one record. Records of unknown kinds and shapes are ignored."""
        if any(record.get(mark) for mark in speaker.ASIDE):
            return
        match record.get("type"):
            case "assistant":
                self._assistant(record)
            case "user":
                self._user(record)
            case "attachment":
                self._attachment(record)

    def todos(self) -> list[Todo]:
        """Return the entries of the todo list and of the task list as they are now."""
        return [*self._todos, *[todo for todo, _ in self._tasks.values()]]

    def was_injected(self, text: str) -> bool:
        """Tell whether a hook gave this line; of earlier readings only whole lines and sentences are known."""
        folded = normalised(text)
        if folded in self._injected or (self._injected_hashes and _hashed(folded) in self._injected_hashes):
            return True
        return len(folded) >= MIN_INJECTED_LINE and any(folded in line for line in self._injected)

    def own(self, turn: Turn) -> Turn:
        """Return a turn without the lines and sentences that a hook had given to the model."""
        if not self._injected and not self._injected_hashes:
            return turn
        lines, left_out = [], False
        for line in turn.text.splitlines():
            parts = _SENTENCE.split(line)
            own_parts = [] if self.was_injected(line) else [part for part in parts if not self.was_injected(part)]
            left_out |= len(own_parts) < len(parts)
            lines += [line] if len(own_parts) == len(parts) else [" ".join(own_parts)] if own_parts else []
        return replace(turn, text="\n".join(lines).strip()) if left_out else turn

    def _text(self, value: object, limit: int = MAX_TEXT) -> str:
        """Return a cleaned text of at most `limit` characters. One over twice as long is first cut between words."""
        text = text_of(value)
        if len(text) > 2 * limit:
            text = text[: text.rfind(" ", limit, 2 * limit) + 1 or limit]
        return self._clean(text)[:limit]

    def _assistant(self, record: dict[str, object]) -> None:
        message = record.get("message")
        if not isinstance(message, dict) or message.get("model") == "<synthetic>" or record.get("isApiErrorMessage"):
            return
        name = text_of(message.get("id"))
        parts = []
        for block in transcript_hot.blocks(record):
            if block.get("type") == "text":
                parts.append(self._text(block.get("text")))
            elif block.get("type") == "tool_use":
                self._tool_use(block, text_of(record.get("timestamp")))
        text = "\n\n".join([part for part in parts if part.strip()])
        if text:
            self._agent = f"{self._agent}\n\n{text}"[-AGENT_TAIL:].lstrip()
            if name and name == self._message_id:
                text = f"{self.last_message}\n\n{text}"[-MAX_TEXT:]
            self.last_message, self._message_id = text, name

    def _tool_use(self, block: dict[str, object], time: str) -> None:
        name, tool_input = text_of(block.get("name")), block.get("input")
        self._tools.append(name)
        fields: dict[str, Any] = {}
        if name in _TASK_TOOLS and isinstance(tool_input, dict):
            fields = {key: tool_input[key] for key in _KEPT if key in tool_input}
        if name == speaker.ASK_TOOL and isinstance(tool_input, dict):
            fields = {"questions": speaker.asked_questions(tool_input.get("questions"))}
        if name == "TodoWrite" and isinstance(tool_input, dict) and time >= self._todos_time:
            fields = {"before": [list(todo) for todo in self._todos], "before_time": self._todos_time}
            entries = [entry for entry in fastjson_hot.rows(tool_input, "todos") if isinstance(entry, dict)]
            self._todos = [Todo(self._text(entry.get("content")), text_of(entry.get("status"))) for entry in entries]
            self._todos_time = time
        fields = {**fields, "doing": self._text(f"{name}: {argument(tool_input)}", MAX_CALL)}
        self._calls_made = f"{self._calls_made}\n{fields['doing']}"[-AGENT_TAIL:]
        self.todos_changed = self.todos_changed or name in {"TodoWrite", *_TASK_TOOLS}
        self._calls[text_of(block.get("id"))] = (name, fields, time)
        if len(self._calls) > MAX_CALLS:
            del self._calls[next(iter(self._calls))]

    def _user(self, record: dict[str, object]) -> None:
        parts, results = [], []
        for block in transcript_hot.blocks(record):
            if block.get("type") == "tool_result":
                self._tool_result(record, block)
                results.append(block)
            elif block.get("type") == "text":
                parts.append(text_of(block.get("text")))
        text = "\n".join(parts)
        if speaker.INTERRUPTED.search(text[:MAX_TEXT]):
            self._interrupted = True
        if not parts or (record.get("isMeta") and "toolUseResult" in record):
            return
        origin = record.get("origin")
        continued = isinstance(origin, dict) and origin.get("kind") == "auto-continuation" and not record.get("isMeta")
        if "toolUseResult" in record:
            if results and speaker.is_approved(record, results[-1]) and speaker.is_human_origin(record):
                self._add_turn(record, text, "approval")
        elif text.startswith(speaker.PLAN_PROMPT) and (continued or speaker.is_person(record)):
            words, plan = speaker.on_plan(record, text)
            self._add_turn(record, words, "approval", agent=self._text(plan)[-AGENT_TAIL:])
        else:
            self._sent(record, text, "prompt")

    def _tool_result(self, record: dict[str, object], block: dict[str, object]) -> None:
        text = transcript_hot.result_text(block)[: 4 * MAX_TEXT]
        name, tool_input, time = self._calls.pop(text_of(block.get("tool_use_id")), ("", {}, ""))
        result, failed = record.get("toolUseResult"), block.get("is_error") is True
        is_answered = any(other.get("type") == "text" for other in transcript_hot.blocks(record))
        if speaker.STOPPED.match(text) if failed else is_answered:
            self._doing = text_of(tool_input.get("doing"))
        if failed:
            if name == "TodoWrite" and self._todos_time == time and "before" in tool_input:
                self._todos = list(starmap(Todo, tool_input["before"]))
                self._todos_time = text_of(tool_input.get("before_time"))
            words = speaker.refusal(record, block, name)
            self._add_turn(record, words, "tool_reject")
        elif name in _TASK_TOOLS:
            self._task(name, tool_input, record, text)
        elif name == speaker.ASK_TOOL or (not name and "questions" in fastjson_hot.table(record, "toolUseResult")):
            for answer, question in speaker.typed_answers(text if name else "", result, tool_input.get("questions")):
                self._add_turn(record, answer, "answer", agent=self._text(question))

    def _task(self, name: str, tool_input: dict[str, object], record: dict[str, object], text: str) -> None:
        time = text_of(record.get("timestamp"))
        result = fastjson_hot.table(record, "toolUseResult")
        if name == "TaskCreate":
            task, number = fastjson_hot.table(result, "task"), re.search(r"#(\w+)", text)
            key = str(task["id"]) if "id" in task else number[1] if number else ""
            if key and key not in self._tasks:
                self._tasks[key] = (Todo(self._text(tool_input.get("subject")), "pending"), time)
            return
        key = str(tool_input.get("taskId", ""))
        todo, changed = self._tasks.get(key, (Todo("", "pending"), ""))
        if time >= changed and result.get("success") is not False:
            subject, status = self._text(tool_input.get("subject")), text_of(tool_input.get("status"))
            self._tasks[key] = (Todo(subject or todo.text, status or todo.status), time)

    def _attachment(self, record: dict[str, object]) -> None:
        attachment = transcript_hot.attachment(record)
        if attachment.get("type") == "queued_command":
            self._sent(record, speaker.queued_text(attachment), "queued")
        elif text_of(attachment.get("type")).startswith("hook_"):
            for text in [*transcript_hot.attachment_texts(attachment), text_of(attachment.get("stdout"))]:
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

    def _sent(self, record: dict[str, object], text: str, channel: str) -> None:
        """Take in a message that was sent to the agent, at once or from the client's queue."""
        if speaker.is_person(record):
            self._add_turn(record, text, channel)

    def _add_turn(self, record: dict[str, object], text: str, channel: str, agent: str = "") -> None:
        """Add a message of the person with what there is before it."""
        self.session = text_of(record.get("sessionId")) or self.session
        on_call = self._interrupted or channel in {"tool_reject", "approval"}
        turn = Turn(
            text=own_words(self._text(text)),
            channel=channel,
            uuid=text_of(record.get("uuid")),
            session=self.session,
            time=text_of(record.get("timestamp")),
            agent=agent or self._agent or (self._doing if on_call else ""),
            tools=tuple(self._tools[-20:]),
            request=self._request,
            calls=self._calls_made,
            interrupted=self._interrupted,
        )
        if not turn.text:
            return
        self.turns.append(turn)
        self._interrupted = False
        if channel == "prompt":
            self._agent = self._doing = ""
            self.todos_changed = False
            if self._asks(turn):
                request = speaker.request_of(self.own(turn).text)
                self._request, self._calls_made = (request, "") if request else (self._request, self._calls_made)
        self._tools.clear()


# How far a transcript was read: an offset, and a mark by which a file that was rewritten since is recognised.
MARK_BYTES = 256


def note_position(path: str, offset: int) -> dict[str, object]:
    """Return what `position` needs to read on from an offset, which is at the end of a line. Raises OSError."""
    return {"offset": offset, "mark": _mark(path, offset)}


def position(noted: dict[str, object], path: str) -> int:
    """Return the offset to read on from; 0 if the file is not the one read before. Raises OSError."""
    offset = noted.get("offset")
    if not isinstance(offset, int) or offset < 0:
        return 0
    return offset if _mark(path, offset) == noted.get("mark") else 0


def _mark(path: str, offset: int) -> str:
    """Return a hash of the bytes before an offset; "" for a shorter file; its id if it has no lines. Raises OSError."""
    agent = agents_hot.of_session(path)
    if agent is not None and not agent.has_lines:
        return agent.session_id(path) if agent.status(path) else ""
    begin = max(0, offset - MARK_BYTES)
    data = fs_hot.read_bytes(path, offset - begin, begin) if offset else b""
    return ids_hot.content_hash(data) if len(data) == offset - begin else ""
