"""Receipts: what became of a delivery, by the evidence of the session's transcript.

The client writes there what its hooks gave the model: `hook_additional_context` holds the text itself with our delivery
id, or a `<persisted-output>` preview of a text that was too large. A hook that timed out leaves `hook_cancelled`, one
that died `hook_non_blocking_error`; these carry no id of ours and are matched by event, command and place.

Records form a tree by their `parentUuid`. Escape before the first output and `/rewind` go on from an earlier record:
texts on the branch that was left are in no later request. So a text has arrived once the model answered below it. If
the session ended on its branch before, it is broken off: nobody may ever read it, but a resume goes on from there
(`leafUuid` of `last-prompt`), and brings it again.

What the log says of a delivery stays where a transcript is cut: that it arrived is final, that it did not holds until a
transcript shows the opposite.

Events are in the order of their places in the file (`transcript_size` of a delivery), for a clock can be put back.

Observed with client 2.1.197: contexts that a hook printed before it exited with 1 do arrive; what a hook gave inside a
subagent reaches the subagent's model, but no transcript records it. With 2.1.330: text typed in mid-turn fires
UserPromptSubmit at once, and its context waits with it in the client's queue; each move is in the transcript."""

from memtui.base import clock_hot, fastjson_hot, paths_hot
from memtui.client import process_hot
from memtui.client.agents import agents_hot, records_hot
from memtui.client.transcripts import transcript_hot
from memtui.client.transcripts.transcript_hot import text_of

# Previewed: too large, only a preview arrived. Failed: the hook died, or the turn went on without the text. Dropped:
# the client left that branch, or ended, before the model answered. Broken off: it ended between text and answer.
ARRIVED, PREVIEWED, TIMED_OUT, FAILED, DROPPED = "arrived", "previewed", "timed out", "failed", "dropped"
BROKEN_OFF = "broken off"
# Unknown: no transcript, or one that records no hooks, or was cut. Waiting: the turn goes on. Nothing: it has no text.
UNKNOWN, WAITING, NOTHING = "unknown", "waiting", "nothing"
OPEN = {UNKNOWN, WAITING, NOTHING}
LOST, GOT = (FAILED, TIMED_OUT, DROPPED, BROKEN_OFF), (ARRIVED, PREVIEWED)
SETTLED = (*GOT, *LOST)
GLYPHS = dict(zip((*GOT, TIMED_OUT, FAILED, DROPPED, BROKEN_OFF, UNKNOWN, WAITING, NOTHING), "✓◐✗✗✗✗·…-", strict=True))
# The message that used a tool is in the transcript within so many bytes before what was given with the tool.
TOOL_BYTES = 1 << 16
# This long after the last sign of life nothing more will be written about a delivery.
QUIET_SECONDS = 3600.0
# A record this long is a file's content, not a turn's beginning or our text.
LONG_LINE = 1 << 20
# How many of a session's newest messages and steps are remembered, and records, among which a tool has its siblings.
KEPT_MESSAGES, KEPT_STEPS, KEPT_RECORDS = 64, 4096, 512
# The place at which a prompt leaves the client's queue that is still in it.
NEVER = float("inf")
BLOCKED_MARK = "operation blocked by hook"
# A message that the client wrote itself: an error of the API, or a filler at a resume.
SYNTHETIC = "<synthetic>"
LINKS = (b"assistant", b"user", b"attachment", b"queue-operation", b'"system"', b"last-prompt")
# Requests as the client keeps them beside the conversation (2.1.330): copies of its records.
COPIES = b'{"type":"api-request'
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def delivery_ids(text: str) -> "list[str]":
    """Return the ids that our own tags name: `<memtui-… delivery="ID"`. Content can't open one (blocks_hot.py)."""
    heads = [part[: part.find(">")] for part in text.split("<memtui-")[1:]]
    values = [head.partition(' delivery="')[2] for head in heads]
    return [value[: value.find('"')] for value in values if '"' in value]


class Steps:
    """The places of a session's prompts and of the model's messages in its transcript, in bytes; -1 for none."""

    def __init__(self) -> None:
        self.call = -1  # the model's newest message
        self.prompt = -1  # the newest prompt
        self.called = -1  # the prompt that the model's newest message answers
        self.blocked = -1  # the newest prompt that a hook blocked
        self.prompt_id = ""
        self.prompts: list[tuple[int, str]] = []
        self.queue: list[list[float]] = []  # prompts in the client's queue: from, until, the newest prompt before
        self._times: list[tuple[int, object]] = []

    @property
    def answered(self) -> bool:
        """Whether the model has answered the newest prompt, and no prompt came out of the client's queue since."""
        return self.called == self.prompt >= 0 and all(message[1] < self.call for message in self.queue)

    def note(self, place: int, time: "object") -> None:
        """Remember the time of the step at a place, as the transcript writes times."""
        self._times.append((place, time))
        if len(self._times) > 2 * KEPT_STEPS:
            del self._times[:KEPT_STEPS]

    def at(self, seconds: float) -> int:
        """Return the place of the last step before a time, for a claim that does not name its place; -1 for none."""
        return max((place for place, time in self._times if (clock_hot.parse(time) or 0.0) <= seconds), default=-1)

    def note_prompt(self, record: "dict[str, object]", place: int) -> None:
        """Take in a user record, which may be a prompt; a turn has only one."""
        if record.get("isMeta") or not any(b.get("type") == "text" for b in transcript_hot.blocks(record)):
            return
        name = text_of(record.get("promptId"))
        if name and name == self.prompt_id:
            return  # the client added it to the turn, for example that it was interrupted
        self.prompt, self.prompt_id = place, name
        self.prompts.append((place, name))
        if len(self.prompts) > 2 * KEPT_MESSAGES:
            del self.prompts[:KEPT_MESSAGES]
        self.note(place, record.get("timestamp"))

    def note_queue(self, operation: "object", place: int, time: "object") -> None:
        """Take in a move of the client's queue: `enqueue`, `popAll` (all are taken back), else the oldest leaves it."""
        self.note(place, time)
        if operation == "enqueue":
            self.queue = [*self.queue[-KEPT_MESSAGES:], [place, NEVER, self.prompt]]
            return
        waiting = [message for message in self.queue if message[1] == NEVER]
        for message in waiting if operation == "popAll" else waiting[:1]:
            message[1] = place

    def passed(self, record: "dict[str, object]", tool_call: "int | None") -> bool:
        """Tell as `TranscriptView.passed`; `tool_call`: the place of the message that used the tool it came with."""
        at = size_of(record)
        event = record.get("event")
        if event == "SessionStart" and not record.get("tool_use_id"):
            return self.call > at
        if tool_call is not None:
            return self.call > tool_call or self.prompt > tool_call
        if event != "UserPromptSubmit":
            is_of_tool = record.get("tool_use_id")
            return self.prompt > at or self.blocked > at or (self.call > at and not is_of_tool)
        # The move of the client's queue, for a prompt that was typed in mid-turn.
        queued = next((move for move in self.queue if move[2] <= at < move[0]), None)
        if queued:
            return max(self.call, self.blocked) > queued[1]
        own = record.get("prompt_id")
        after = [name for place, name in self.prompts if place > at]
        if not own:  # a client that gives prompts no ids runs no hooks for those typed in mid-turn
            return self.call > at or len(after) > 1 or self.blocked > at
        return self.called > at or any(name != own for name in after) or self.blocked > at


def size_of(record: "dict[str, object]") -> int:
    """Return how many bytes the transcript had when the delivery was logged."""
    return fastjson_hot.number(record, "transcript_size")


def start_of(record: "dict[str, object]") -> int:
    """Return the place in the transcript behind which a delivery may stand."""
    return max(0, size_of(record) - (TOOL_BYTES if record.get("tool_use_id") else 0))


class TranscriptView:
    """What a transcript says about deliveries, from the byte `start` on; memory grows with hooks, not with bytes.
    `subagent`: whether it is a subagent's own, whose records are all marked as side chain."""

    def __init__(self, path: str, start: int = 0, subagent: bool = False) -> None:
        self.path = path
        self.exists = False
        self.whole = True  # whether the last refresh came to the end of the file
        self.size = 0
        self.changed = 0.0  # the file's time of last change, in seconds since the epoch
        self.records_attachments = False
        self.outcomes: dict[str, str] = {}  # delivery id -> arrived, previewed or dropped
        self.pending: dict[str, str] = {}  # delivery id -> its outcome once the model answers on its branch
        self.events: dict[str, str] = {}  # delivery id -> the event at which its text came first
        # Runs of our hook that failed: event, tool use, prompt, place, that of the newest message then, outcome.
        self._failed: list[tuple[str, str, str, int, int, str]] = []
        self.steps = Steps()
        self.text = self.event = self.prompt_id = ""  # of the wanted delivery
        self._wanted = ""
        self._subagent = subagent
        self._offset = start
        self._messages: dict[str, list[str]] = {}  # the newest messages of the model and their records
        self._tools: dict[str, tuple[str, int]] = {}  # tool use -> its message, and that message's place
        self._recent: list[tuple[str, str]] = []  # the newest records and their parents
        self._below: dict[str, set[str]] = {}  # record -> the pending deliveries on whose branch it is
        self._beside: dict[str, str] = {}  # delivery given with a tool -> that tool's message
        self._late: set[str] = set()  # pending deliveries that were written behind their prompt's answer
        self._leaf = ""
        self._tip = ""

    def refresh(self, limit: "int | None" = None, until: str = "") -> "TranscriptView":
        """Read what was appended since, `limit` bytes at most; an unreadable file leaves `exists` False. `until`: the
        only delivery of interest, whose text is kept; reading ends once its outcome is known."""
        self._wanted = until
        try:
            self.size, self.changed = agents_hot.status(self.path)
            if self.size < self._offset:
                self._offset = 0  # replaced by another file: the outcomes of the old one stay true
            reader = transcript_hot.Reader(self.path, self._offset, keep=self._keep, limit=limit)
            for record in reader:
                self._note(record, reader.offset)
                if self._wanted and self.outcomes.get(self._wanted, DROPPED) != DROPPED:
                    break
            self._offset = reader.offset
            self.whole = reader.whole
            self.exists = True
            agent = agents_hot.of_session(self.path)
            if agent is not None:
                self.records_attachments = agent.has_known_format(self.path)
        except OSError:
            self.exists = False
        return self

    def _keep(self, line: bytes) -> bool:
        if line.startswith(COPIES):
            return False
        if b"hook_" in line and b"memtui" in line:
            return True
        if len(line) >= LONG_LINE:
            return bool(self.pending)  # it may be a link between a context and its answer
        return any(word in line for word in LINKS)

    def _note(self, record: "dict[str, object]", place: int) -> None:
        kind = record.get("type")
        time = record.get("timestamp")
        if kind == "queue-operation":
            self.steps.note_queue(record.get("operation"), place, time)
            return
        if kind == "last-prompt":
            self._leaf = text_of(record.get("leafUuid"))
            return
        main = bool(record.get("isSidechain")) == self._subagent
        uuid = text_of(record.get("uuid")) if main and "parentUuid" in record else ""
        parent = text_of(record.get("parentUuid")) or text_of(record.get("logicalParentUuid"))
        parent = self._tip if parent == records_hot.BEFORE else parent
        if uuid:
            self._link(uuid, parent)
        if kind == "attachment":
            self.records_attachments = True
            self._note_attachment(transcript_hot.attachment(record), place, uuid, parent)
        elif kind == "system" and main:
            if record.get("subtype") == "compact_boundary":
                self._sum_up(parent)
            elif BLOCKED_MARK in text_of(record.get("content"))[:200]:
                self.steps.blocked = place
                self.steps.note(place, time)
        elif kind == "user" and main:
            self.steps.note_prompt(record, place)
        elif kind == "assistant" and main:
            self._note_message(record, place, uuid)

    def _link(self, uuid: str, parent: str) -> None:
        self._tip = uuid
        above = self._below.get(parent)
        alive = {name for name in above if name in self.pending} if above else None
        if alive:
            self._below[uuid] = alive
            for name in alive & self._late:
                self._decide(name)
        self._recent.append((uuid, parent))
        if len(self._recent) > 2 * KEPT_RECORDS:
            del self._recent[:KEPT_RECORDS]

    def _note_message(self, record: "dict[str, object]", place: int, uuid: str) -> None:
        message = record.get("message")
        if not isinstance(message, dict) or message.get("model") == SYNTHETIC:
            return
        name = text_of(message.get("id"))
        # One message is split over several records, written while its first tools already run.
        if not name or name not in self._messages:
            self.steps.call, self.steps.called = place, self.steps.prompt
            self.steps.note(place, record.get("timestamp"))
            self._messages[name] = []
            if len(self._messages) > KEPT_MESSAGES:
                del self._messages[next(iter(self._messages))]
        self._messages[name].append(uuid)
        for block in transcript_hot.blocks(record):
            if block.get("type") == "tool_use":
                self._tools[text_of(block.get("id"))] = (name, self.steps.call)
                if len(self._tools) > KEPT_RECORDS:
                    del self._tools[next(iter(self._tools))]
        if uuid and self.pending:
            below = self._below.get(uuid, ())
            for delivery in list(self.pending):
                if name and self._beside.get(delivery) == name:
                    continue
                if delivery in below:
                    self._decide(delivery)
                else:
                    self.outcomes[delivery] = DROPPED  # as long as nothing goes on from its branch after all

    def _sum_up(self, above: str) -> None:
        """Take in a compaction: the request for the summary held all that stood on the branch of the record `above`."""
        is_recent = any(above == child for child, _ in self._recent)
        for name in list(self.pending):
            beside = any(above == parent and name in self._below.get(child, ()) for child, parent in self._recent)
            if name in self._below.get(above, ()) or (name not in self.outcomes and (beside or not is_recent)):
                self._decide(name)
            else:
                self.outcomes[name] = DROPPED

    def _decide(self, name: str) -> None:
        self.outcomes[name] = self.pending.pop(name)
        self._beside.pop(name, None)
        if not self.pending:
            self._below.clear()

    def _note_attachment(self, attachment: "dict[str, object]", place: int, uuid: str, parent: str) -> None:
        kind, event, tool = (text_of(attachment.get(key)) for key in ("type", "hookEvent", "toolUseID"))
        if kind == "hook_additional_context":
            for text in transcript_hot.attachment_texts(attachment):
                outcome = PREVIEWED if text.lstrip().startswith(records_hot.PREVIEW_MARK) else ARRIVED
                for name in delivery_ids(text):
                    self.events.setdefault(name, event)
                    if name == self._wanted:
                        self.text, self.event, self.prompt_id = text, event, self.steps.prompt_id
                    self._given(name, outcome, uuid, parent, tool, event)
        elif (
            kind.startswith("hook_")
            and kind not in {"hook_success", "hook_system_message"}
            and "memtui" in text_of(attachment.get("command"))
        ):
            outcome = TIMED_OUT if kind == "hook_cancelled" and attachment.get("timedOut") else FAILED
            self._failed.append((event, tool, self.steps.prompt_id, place, self.steps.call, outcome))

    def _given(self, name: str, outcome: str, uuid: str, parent: str, tool: str, event: str) -> None:
        """Note a delivery whose text is there: it arrives once the model answers on its branch, or its tool's."""
        if self.outcomes.get(name) == ARRIVED:
            return
        if not uuid:  # a client that records no branches
            self.outcomes[name] = outcome
            return
        self.outcomes.pop(name, None)
        self.pending[name] = outcome
        branch = {uuid}
        if tool in self._tools:
            self._beside[name] = self._tools[tool][0]
            branch.update(self._messages.get(self._beside[name], ()))
        elif tool.startswith("toolu_"):
            branch.add(parent)
        for child, above in self._recent:
            if above in branch:
                branch.add(child)
        for record in branch:
            self._below[record] = {*self._below.get(record, ()), name}
        beside = self._beside.get(name)
        if any(record in branch for message, uuids in self._messages.items() if message != beside for record in uuids):
            self._decide(name)  # its answer was written before it
        elif event == "UserPromptSubmit" and self.steps.answered:
            self._late.add(name)  # any later record below it proves it

    def at_end(self, name: str) -> str:
        """Return the outcome of a pending delivery if the session has ended: a resume goes on from its last record."""
        if name not in self._below.get(self._leaf or self._tip, ()):
            return DROPPED
        return BROKEN_OFF if self.pending[name] == ARRIVED else self.pending[name]

    def passed(self, record: "dict[str, object]") -> bool:
        """Whether the turn has gone on after a delivery, so that the transcript would show it if it had arrived."""
        message = self._tools.get(text_of(record.get("tool_use_id")))
        return self.steps.passed(record, message[1] if message else None)

    def failure_of(self, record: "dict[str, object]") -> "str | None":
        """Return the outcome of the failed run that matches a delivery in event, tool use and place, if any."""
        size, tool, prompt = size_of(record), record.get("tool_use_id"), record.get("prompt_id")
        for event, used, asked, place, call, outcome in self._failed:
            if event != record.get("event") or (tool and used != tool):
                continue
            by_prompt = event == "UserPromptSubmit" and prompt and asked
            if tool or (place > size and (asked == prompt if by_prompt else size >= call)):
                return outcome
        return None


def outcome(record: "dict[str, object]", view: TranscriptView, now: "float | None" = None, ended: bool = False) -> str:
    """Return the outcome of a record of the log by a refreshed view of its transcript. `ended`: the session is over."""
    if not record.get("text") and not record.get("chars"):
        return NOTHING
    noted = record.get("outcome")
    if noted in GOT:
        return str(noted)
    receipt = _shown(record, view, now, ended)
    dropped = view.outcomes.get(str(record.get("id"))) == DROPPED
    return receipt if noted not in LOST or receipt in GOT or dropped else str(noted)


def _shown(record: "dict[str, object]", view: TranscriptView, now: "float | None", ended: bool) -> str:
    is_of_tool = view.events.get(fastjson_hot.text(record, "id")) == "PostToolUse"  # else a tool printed its like
    name = "" if is_of_tool and record.get("event") == "UserPromptSubmit" else fastjson_hot.text(record, "id")
    if name in view.outcomes:
        return view.outcomes[name]
    if name not in view.pending and record.get("recovered"):
        return ARRIVED
    now = clock_hot.now() if now is None else now
    logged = clock_hot.parse(record.get("time")) or 0.0
    if not view.exists:
        # A session that has only begun has no transcript yet.
        young = record.get("event") == "SessionStart" and now - logged < QUIET_SECONDS
        return WAITING if young else UNKNOWN
    if size_of(record) > view.size and name not in view.pending:
        return UNKNOWN  # it was cut since, as some clients do after a compaction
    quiet = now - max(logged, view.changed) > QUIET_SECONDS
    if name in view.pending:
        return view.at_end(name) if ended or quiet or process_hot.gone(record.get("client")) else WAITING
    failure = view.failure_of(record)
    if failure:
        return failure
    passed = view.passed(record)
    if not (passed or quiet or ended or process_hot.gone(record.get("client"))):
        return WAITING
    if record.get("agent_id") or not view.records_attachments:
        return UNKNOWN
    return FAILED if passed or quiet else DROPPED


def view_from(path: str, start: int, limit: "int | None" = None, until: str = "") -> "TranscriptView | None":
    """Return a refreshed view of a transcript from the first line behind byte `start`; None if `limit` is too small."""
    try:
        start = transcript_hot.line_start(path, start)
    except OSError:
        start = 0
    view = TranscriptView(path, start).refresh(limit, until)
    if start and view.exists and not view.records_attachments:  # a part without attachments proves nothing
        view.records_attachments = transcript_hot.holds(path, b'"attachment"', start, limit)
        if not view.records_attachments and limit is not None and start > limit:
            return None
    return view


def outcomes(
    records: "Iterable[dict[str, object]]",
    env: "dict[str, str]",
    now: "float | None" = None,
    views: "dict[str, TranscriptView] | None" = None,
    finder: "transcript_hot.Finder | None" = None,
) -> "dict[str, str]":
    """Return delivery id -> outcome, for records of the delivery log. Each transcript is read once. A caller that asks
    again keeps the `views` (path -> view), so that only what is new is read; within one run also the `finder`."""
    config = paths_hot.config_dir(env)
    finder = finder or transcript_hot.Finder(config)
    views = {} if views is None else views
    paths_read: set[str] = set()
    located: dict[tuple[object, object, object], str | None] = {}
    outcomes_by_id: dict[str, str] = {}
    for record in records:
        name = record.get("id")
        if not isinstance(name, str):
            continue
        if record.get("outcome") in GOT:
            outcomes_by_id[name] = str(record["outcome"])
            continue
        key = (record.get("transcript"), record.get("session_id"), record.get("agent_id"))
        if key not in located:
            located[key] = transcript_hot.path_of(record, config, finder)
        path = located[key] or ""
        if path not in views:
            views[path] = TranscriptView(path, subagent=path[path.rfind("/") + 1 :].startswith("agent-"))
        if path and path not in paths_read:
            views[path].refresh()
            paths_read.add(path)
        outcomes_by_id[name] = outcome(record, views[path], now)
    return outcomes_by_id
